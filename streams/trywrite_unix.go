//go:build unix

package streams

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/streams/fanout"
)

func nonBlocking(c net.Conn, traffic *Traffic) (fanout.TryWriter, bool) {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil, false
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return nil, false
	}
	w := &tryWriter{raw: raw, traffic: traffic}
	w.try = w.write
	return w, true
}

// tryWriter writes to a socket that Go's runtime has made non-blocking.
type tryWriter struct {
	raw     syscall.RawConn
	traffic *Traffic
	try     func(fd uintptr) bool // write; kept, since a method value allocates

	// Of a call of TryWrite:
	buf []byte
	n   int
	err error
}

// TryWrite is fanout.TryWriter's.
func (w *tryWriter) TryWrite(b []byte) (int, error) {
	w.buf, w.n, w.err = b, 0, nil
	err := w.raw.Write(w.try) // fails where the socket is closed or its deadline over
	w.buf = nil
	if err == nil {
		err = w.err
	}
	if w.traffic != nil {
		w.traffic.written.Add(int64(w.n))
	}
	if err != nil {
		return w.n, fmt.Errorf("write: %w", err)
	}
	return w.n, nil
}

func (w *tryWriter) write(fd uintptr) bool {
	for w.n < len(w.buf) {
		n, err := syscall.Write(int(fd), w.buf[w.n:])
		switch err {
		case nil:
			w.n += n
		case syscall.EINTR:
		case syscall.EAGAIN:
			return true
		default:
			w.err = err
			return true
		}
	}
	return true
}

// WaitWritable is fanout.TryWriter's. The kernel is asked first: the runtime is told
// of a change alone, which may have come since the last write.
func (w *tryWriter) WaitWritable() error {
	return w.raw.Write(func(fd uintptr) bool {
		fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(fds, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
}
