package clients

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// listener is a sink that writes down what it hears.
type listener struct {
	heard []string
	end   error
}

func (l *listener) Deliver(d *Delivery) {
	m, kind := &d.Message, "nothing"
	switch {
	case m.Hello != nil:
		kind = "hello"
	case m.Subscribed != nil:
		kind = "subscribed"
	case m.Heartbeat != nil:
		kind = "heartbeat"
	case m.Problem != nil:
		kind = "problem"
	case len(m.Ticks) > 0:
		kind = fmt.Sprintf("tick %d", m.Ticks[0].Seq)
	}
	l.heard = append(l.heard, fmt.Sprintf("%d: %s at %d, %d", d.Stream, kind, d.ReceivedNS, d.DecodedNS))
}

func (l *listener) Ended(stream int, err error) {
	l.heard = append(l.heard, fmt.Sprintf("%d: ended", stream))
	l.end = err
}

func TestPump(t *testing.T) {
	var (
		errCut     = errors.New("connection reset by peer")
		closed     = errors.New("use of closed connection") // what ended takes for a Close
		hello      = feed.Message{Hello: &feed.Hello{}}
		subscribed = feed.Message{Subscribed: &feed.Subscribed{}}
		heartbeat  = feed.Message{Heartbeat: &feed.Heartbeat{}}
		one        = feed.Message{Ticks: []feed.Tick{{Seq: 1}}}
		two        = feed.Message{Ticks: []feed.Tick{{Seq: 2}}}
		refused    = &feed.Problem{Code: feed.CodeUnknownSymbol, Message: "no such symbol"}
		slow       = &feed.Problem{Code: feed.CodeSlowConsumer, Fatal: true}
		hurried    = &feed.Problem{Code: feed.CodeRateLimited}
	)
	problem := func(p *feed.Problem) feed.Message { return feed.Message{Problem: p} }
	for _, c := range []struct {
		name     string
		messages []feed.Message
		last     error // what recv fails with in the end
		heard    string
		opened   error // what it wraps; nil: the stream opened
		end      error
	}{
		{"delivers until the end", []feed.Message{hello, subscribed, one, two}, errCut, "hello, subscribed, tick 1, tick 2, ended", nil, errCut},
		{"closed", []feed.Message{hello, subscribed, one}, closed, "hello, subscribed, tick 1, ended", nil, nil},
		{"a heartbeat before the answer", []feed.Message{hello, heartbeat, subscribed}, closed, "hello, heartbeat, subscribed, ended", nil, nil},

		{"cut before the hello", nil, errCut, "", errCut, nil},
		{"closed before the hello", nil, closed, "", net.ErrClosed, nil},
		{"no hello", []feed.Message{one, hello, subscribed}, errCut, "", ErrNoExchange, nil},
		{"a second message is no hello either", []feed.Message{heartbeat, hello, subscribed}, errCut, "", ErrNoExchange, nil},
		{"refused before the hello", []feed.Message{problem(slow), hello, subscribed}, errCut, "", slow, nil},
		{"refused after the hello", []feed.Message{hello, problem(refused), subscribed}, errCut, "hello", refused, nil},
		{"cut before the answer", []feed.Message{hello}, errCut, "hello", errCut, nil},
		{"closed before the answer", []feed.Message{hello}, closed, "hello", net.ErrClosed, nil},

		{"told why it ends", []feed.Message{hello, subscribed, one, problem(slow)}, errCut, "hello, subscribed, tick 1, problem, ended", nil, slow},
		{"told why, and closed", []feed.Message{hello, subscribed, problem(slow)}, closed, "hello, subscribed, problem, ended", nil, nil},
		{"a problem that is not the end", []feed.Message{hello, subscribed, problem(hurried), one}, errCut, "hello, subscribed, problem, tick 1, ended", nil, errCut},
		{"the last that is fatal counts", []feed.Message{hello, subscribed, problem(slow), problem(hurried)}, errCut, "hello, subscribed, problem, problem, ended", nil, slow},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := 0
			recv := func(d *Delivery) error {
				if n == len(c.messages) {
					return c.last
				}
				d.ReceivedNS, d.DecodedNS, d.Message = int64(10+n), int64(20+n), c.messages[n]
				n++
				return nil
			}
			ended := func(err error) error {
				if errors.Is(err, closed) {
					return nil
				}
				return fmt.Errorf("read: %w", err)
			}
			sink := &listener{}
			opened := make(chan error, 2)
			Pump(7, sink, recv, opened, ended)
			if len(opened) != 1 {
				t.Fatalf("opened was told %d times, want once", len(opened))
			}
			if err := <-opened; !errors.Is(err, c.opened) || (err == nil) != (c.opened == nil) {
				t.Errorf("opened with %v, want %v", err, c.opened)
			}
			if !errors.Is(sink.end, c.end) || (sink.end == nil) != (c.end == nil) {
				t.Errorf("ended with %v, want %v", sink.end, c.end)
			}
			if want := stamped(c.heard); !slices.Equal(sink.heard, want) {
				t.Errorf("heard %q, want %q", sink.heard, want)
			}
		})
	}
}

// stamped adds stream and stamps to words of stream 7.
func stamped(words string) (heard []string) {
	if words == "" {
		return nil
	}
	for n, word := range strings.Split(words, ", ") {
		if word != "ended" {
			word = fmt.Sprintf("%s at %d, %d", word, 10+n, 20+n)
		}
		heard = append(heard, "7: "+word)
	}
	return heard
}
