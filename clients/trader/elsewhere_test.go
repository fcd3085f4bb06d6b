package trader

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// fakeStream is the dialer and the connection of a stream of acks.
type fakeStream struct {
	mu     sync.Mutex
	last   *fakeStreamConn
	asked  []feed.Subscribe
	closed int
}

func (s *fakeStream) Dial(_ context.Context, _ int, sink clients.Sink) (clients.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = &fakeStreamConn{fakeStream: s, sink: sink}
	return s.last, nil
}

type fakeStreamConn struct {
	*fakeStream
	sink   clients.Sink
	broken bool
	once   sync.Once
}

func (c *fakeStreamConn) Open(_ context.Context, _ int, req feed.Subscribe) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = append(c.asked, req)
	return nil
}

func (c *fakeStreamConn) Close() error {
	c.once.Do(func() {
		c.mu.Lock()
		c.closed++
		broken := c.broken
		c.mu.Unlock()
		if !broken {
			c.sink.Ended(0, nil)
		}
	})
	return nil
}

func (s *fakeStream) tell(id string, at int64) {
	s.mu.Lock()
	sink := s.last.sink
	s.mu.Unlock()
	sink.Deliver(&clients.Delivery{ReceivedNS: at, Execution: &order.Execution{ClOrdID: id}})
}

func (s *fakeStream) cut() {
	s.mu.Lock()
	s.last.broken = true
	sink := s.last.sink
	s.mu.Unlock()
	sink.Ended(0, errGone)
}

func TestAckedElsewhere(t *testing.T) {
	stream := &fakeStream{}
	var tell func(id string)
	v := newFakeVenue(func(_ context.Context, _ int64, req *order.Request) (order.Execution, error) {
		tell(req.ClOrdID)
		x := filled(req)
		if req.Symbol == "unknown" {
			x.ReportSeq = 0
		}
		return x, nil
	})
	d := AckedElsewhere(v, stream, "acct-3")
	conns := make([]clients.OrderConn, 2)
	for i := range conns {
		var err error
		if conns[i], err = d.DialOrders(t.Context(), i); err != nil {
			t.Fatal(err)
		}
	}
	if len(stream.asked) != 1 || stream.asked[0].Account != "acct-3" || len(stream.asked[0].Symbols) != 0 {
		t.Errorf("subscribed %+v", stream.asked)
	}
	e, err := conns[1].OpenOrders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exec := func(ctx context.Context, id, symbol string) (clients.Ack, error) {
		return e.Execute(ctx, &order.Request{ClOrdID: id, Symbol: symbol})
	}
	// Before the answer: the first counts.
	tell = func(id string) { stream.tell("other", 1); stream.tell(id, 7); stream.tell(id, 9) }
	if ack, err := exec(t.Context(), "a", "A"); err != nil || ack.ReceivedNS != 7 || ack.Execution.OrdStatus != order.Filled {
		t.Errorf("%+v, %v", ack, err)
	}
	// After it.
	tell = func(id string) { go stream.tell(id, 11) }
	if ack, err := exec(t.Context(), "b", "A"); err != nil || ack.ReceivedNS != 11 {
		t.Errorf("%+v, %v", ack, err)
	}
	// Of no account: the answer is the ack.
	tell = func(string) {}
	if ack, err := exec(t.Context(), "c", "unknown"); err != nil || ack.ReceivedNS <= 11 {
		t.Errorf("%+v, %v", ack, err)
	}
	// Given up, and told too late: the next order does not take it for its own.
	ctx, cancel := context.WithCancel(t.Context())
	tell = func(string) { cancel() }
	if _, err := exec(ctx, "d", "A"); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	stream.tell("d", 13)
	tell = func(id string) { go stream.tell(id, 17) }
	if ack, err := exec(t.Context(), "e", "A"); err != nil || ack.ReceivedNS != 17 {
		t.Errorf("%+v, %v", ack, err)
	}
	// The stream ends while an order waits.
	tell = func(string) { go stream.cut() }
	if _, err := exec(t.Context(), "f", "A"); !errors.Is(err, errGone) || !strings.Contains(err.Error(), "stream of acks") {
		t.Errorf("a lost stream: %v", err)
	}
	if _, err := conns[1].OpenOrders(t.Context()); !errors.Is(err, errGone) {
		t.Errorf("an entry on a lost stream: %v", err)
	}
	// A new connection opens another stream.
	again, err := d.DialOrders(t.Context(), 1)
	if err != nil || len(stream.asked) != 2 {
		t.Errorf("%v, %d streams", err, len(stream.asked))
	}
	for _, c := range append(conns, again) {
		_ = c.Close()
	}
	if stream.closed != 2 || v.open.Load() != 0 {
		t.Errorf("%d streams are closed, %d connections open", stream.closed, v.open.Load())
	}
}
