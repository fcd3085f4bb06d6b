// Package clients is the subscriber's side of every stream: the seam that each
// transport's client implements, mirror of package streams.
package clients

import (
	"context"
	"errors"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// Delivery is one message of a stream with its stamps, CLOCK_MONOTONIC.
type Delivery struct {
	Stream     int
	ReceivedNS int64 // at the earliest point that the library gives; the client names it
	DecodedNS  int64 // after decoding
	Message    feed.Message
	Execution  *order.Execution // where not nil, in place of Message: of the account that the stream watches
}

// Sink takes what streams deliver. Calls for one stream come one at a time, in
// order; different streams call concurrently.
type Sink interface {
	// Deliver takes a message, which is valid until it returns.
	Deliver(d *Delivery)
	// Ended is the last call for a stream: nil where the Conn was closed, a
	// *feed.Problem where the exchange said why, else what broke.
	Ended(stream int, err error)
}

// Dialer opens the connections of one transport. Any goroutine may call it.
type Dialer interface {
	// Dial opens connection number conn, counted from 0, whose streams deliver to
	// sink. ctx bounds the dialling alone.
	Dial(ctx context.Context, conn int, sink Sink) (Conn, error)
}

// Conn is one connection. Any goroutine may call it.
type Conn interface {
	// Open opens a stream and subscribes, to symbols, an account's executions or both. It returns once the exchange's answer to
	// that has been delivered, or with the error, a *feed.Problem where the
	// exchange refused; then the sink hears nothing more of the stream. ctx bounds
	// the opening alone.
	Open(ctx context.Context, stream int, req feed.Subscribe) error
	// Close ends the streams, waits until the sink has heard the end of each, and
	// closes the connection.
	Close() error
}

// ErrNoExchange is wrapped by errors that mean the target speaks, but is not a
// tickgauge exchange.
var ErrNoExchange = errors.New("the target is not a tickgauge exchange")

// Pump reads one stream until recv fails, which fills in all of a Delivery but
// Stream. It sends on opened exactly once: nil after the exchange's answer to the
// subscribe was delivered, or what came in its place, a *feed.Problem where the
// exchange refused. Only in the first case it tells sink of the end, as what
// ended returns for recv's error. Message memory is used again.
func Pump(stream int, sink Sink, recv func(*Delivery) error, opened chan<- error, ended func(error) error) {
	in := NewIntake(stream, sink, opened)
	for {
		if err := recv(&in.Delivery); err != nil {
			in.End(ended(err))
			return
		}
		if !in.Take() {
			return
		}
	}
}
