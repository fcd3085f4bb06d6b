// Package poll reads many sockets in one goroutine, for clients whose own cost must
// not stand in what they measure: a loop over epoll, and what HTTP asks of a client
// that is handed its bytes instead of reading them.
package poll

import (
	"errors"

	"github.com/tickgauge/tickgauge/feed"
)

// Handler takes what comes on one socket. Its calls come from the goroutine of
// Loop.Run, one at a time, and hold up every other socket of that loop.
type Handler interface {
	// Data takes what one read brought, which is valid until it returns. AtNS is when
	// that read returned, kernelNS when the kernel took in the last segment of it, or
	// 0 where the kernel did not say; both are CLOCK_MONOTONIC.
	Data(b []byte, atNS, kernelNS int64)
	// Ended is the last call: nil where Socket.Close brought it about, io.EOF where
	// the peer ended the connection, ErrStopped where the loop ended, else what broke.
	Ended(err error)
}

// Options are the choices of New; the zero value works.
type Options struct {
	// MaxPending bounds the bytes of one socket that wait for the kernel to take
	// them; 0: 1 MiB.
	MaxPending int
}

const (
	defaultMaxPending = 1 << 20
	// readBytes is the buffer of a loop, which all of its sockets share.
	readBytes = 256 << 10
	// mostReads is how often one socket is read in a row while others may wait.
	mostReads = 4
	// offsetEvery is how old the offset of the two clocks may be, in ns.
	offsetEvery = int64(100e6)
)

var (
	// ErrStopped is the end of a loop whose context was done.
	ErrStopped = errors.New("the reading loop has ended")
	// ErrFull is returned by a Write that would let more wait than Options.MaxPending.
	ErrFull = errors.New("the peer does not read: too much waits to be written")
	// ErrUnsupported is wrapped by New where there is no epoll.
	ErrUnsupported = errors.New("the lean reader needs Linux")
)

// clocks turns kernel stamps, which are of the wall clock, into CLOCK_MONOTONIC. The
// wall clock is slewed and set, so that the offset is read anew now and then.
type clocks struct {
	offset int64 // wall minus monotonic
	readNS int64 // when it was read; 0: never
	wallNS func() int64
	nowNS  func() int64
}

// refresh reads the offset where it is old. Of three readings that whose two looks at
// the one clock stand closest counts: between the others the thread was held up.
func (c *clocks) refresh(nowNS int64) {
	if c.readNS != 0 && nowNS-c.readNS < offsetEvery {
		return
	}
	c.readNS = nowNS
	best := int64(-1)
	for range 3 {
		before := c.nowNS()
		wall := c.wallNS()
		took := c.nowNS() - before
		if best < 0 || took < best {
			best, c.offset = took, wall-before-took/2
		}
	}
}

// monotonic is a kernel stamp on the clock of all others; 0 stays 0.
func (c *clocks) monotonic(wallNS int64) int64 {
	if wallNS == 0 {
		return 0
	}
	return wallNS - c.offset
}

// now is the clock of all stamps.
func now() int64 { return feed.Now() }
