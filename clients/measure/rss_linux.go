package measure

import (
	"bytes"
	"os"
	"strconv"
)

// rssBytes returns the resident memory of this process, 0 where it is not known.
func rssBytes() int64 {
	b, err := os.ReadFile("/proc/self/statm") // proc_pid_statm(5): size, resident, … in pages
	if err != nil {
		return 0
	}
	fields := bytes.Fields(b)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
