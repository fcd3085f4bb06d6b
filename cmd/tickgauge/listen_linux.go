package main

import (
	"math"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// vanishAfter returns a control for listening sockets whose connections end when
// what was sent stays unacknowledged for so long (TCP_USER_TIMEOUT, RFC 5482).
// Without it a peer that vanished in the midst of a stream is held for the quarter
// of an hour that TCP retransmits.
func vanishAfter(d time.Duration) func(network, address string, c syscall.RawConn) error {
	return func(_, _ string, c syscall.RawConn) error {
		var set error
		if err := c.Control(func(fd uintptr) {
			set = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(min(d.Milliseconds(), math.MaxInt32)))
		}); err != nil {
			return err
		}
		return set
	}
}
