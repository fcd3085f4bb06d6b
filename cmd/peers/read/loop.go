package read

import "errors"

// handler takes what comes on one connection. The goroutine of loop.run alone calls
// it. data gets what one read brought, only lent, and when that read returned,
// CLOCK_MONOTONIC; ended is the last call.
type handler interface {
	data(b []byte, atNS int64)
	ended(err error)
}

// socket is what a handler writes to.
type socket interface {
	// write sends b or keeps what the kernel does not take, and never waits. It is
	// for the goroutine of the loop.
	write(b []byte)
	// close ends the connection with a reset, so that no port stays taken.
	close()
}

var (
	errStopped = errors.New("the reader has stopped")
	errClosed  = errors.New("the other side closed the connection")
)
