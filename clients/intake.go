package clients

import (
	"fmt"
	"net"

	"github.com/tickgauge/tickgauge/feed"
)

// Intake is the way of one stream's messages to its sink, for clients that are handed
// what comes; Pump is the same for those that read it. One goroutine may use it.
type Intake struct {
	// Delivery is filled in, all of it but Stream, before each Take. Message memory is
	// used again.
	Delivery Delivery

	sink   Sink
	opened chan<- error // nil once it was told
	greets bool         // the hello has come
	over   bool
	told   *feed.Problem
}

// NewIntake returns the intake of a stream that is being opened. It sends on opened,
// which must have room, exactly once: nil after the exchange's answer to the subscribe
// was delivered, or what came in its place.
func NewIntake(stream int, sink Sink, opened chan<- error) *Intake {
	return &Intake{Delivery: Delivery{Stream: stream}, sink: sink, opened: opened}
}

// Take hands on what Delivery has. It is false once the stream is over, since the
// exchange refused, or is none; nothing more must come then, End included.
func (in *Intake) Take() bool {
	m := &in.Delivery.Message
	switch p := m.Problem; {
	case in.over:
		return false
	case in.opened == nil:
		if p != nil && p.Fatal {
			in.told = p
		}
	case p != nil:
		return in.refuse(p)
	case !in.greets && m.Hello == nil:
		return in.refuse(fmt.Errorf("%w: its first message is no hello", ErrNoExchange))
	}
	in.greets = true
	in.sink.Deliver(&in.Delivery)
	if in.opened != nil && m.Subscribed != nil {
		in.opened <- nil
		in.opened = nil
	}
	return true
}

func (in *Intake) refuse(err error) bool {
	in.over = true
	in.opened <- err
	in.opened = nil
	return false
}

// End tells of the end of the stream, in the caller's terms: nil where the connection
// was closed. What the exchange said before of the reason goes before err. A second
// call does nothing.
func (in *Intake) End(err error) {
	switch {
	case in.over:
	case in.opened != nil:
		if err == nil {
			err = net.ErrClosed
		}
		in.refuse(err)
	default:
		in.over = true
		if err != nil && in.told != nil {
			err = in.told
		}
		in.sink.Ended(in.Delivery.Stream, err)
	}
}

// Opening reports whether the answer to the subscribe has not come yet.
func (in *Intake) Opening() bool { return in.opened != nil && !in.over }
