//go:build !linux

package measure

import "golang.org/x/sys/unix"

// rssBytes returns the largest resident memory that this process has had: other
// systems tell the present one only to cgo.
func rssBytes() int64 {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return 0
	}
	return ru.Maxrss
}
