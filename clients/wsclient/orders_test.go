package wsclient

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

var _ clients.OrderDialer = (*Orders)(nil)

func TestNewOrders(t *testing.T) {
	for _, target := range []string{"", "localhost", "ws://localhost:1/x"} {
		if _, err := NewOrders(target, OrderOptions{}); err == nil {
			t.Errorf("target %q: no error", target)
		}
	}
	if _, err := NewOrders("localhost:1", OrderOptions{Encoding: 9}); err == nil {
		t.Error("encoding 9: no error")
	}
	d, err := NewOrders("venue.invalid:1", OrderOptions{DialContext: func(_ context.Context, conn int) (net.Conn, error) {
		if conn != 17 {
			t.Errorf("a socket of connection %d, want 17", conn)
		}
		return nil, net.ErrClosed
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.DialOrders(context.Background(), 17); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial: %v, want %v", err, net.ErrClosed)
	}
}

// Each order has its own answer, whatever else the exchange says, and an ack stays
// as it was.
func TestExecute(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		_, e := trading(t, floor(func(p peer, req *order.Request) {
			p.say(feed.Message{Heartbeat: &feed.Heartbeat{SentNS: 1}})
			p.execution(filled(limit("of another", "A")))
			switch req.Symbol {
			case "REJECT":
				p.execution(rejected(req))
			case "PROBLEM":
				p.say(feed.Message{Problem: &feed.Problem{Code: feed.CodeUnsupported, Message: "no desk"}})
				p.execution(filled(req)) // comes too late
			default:
				p.execution(filled(req))
			}
			p.say(feed.Message{Heartbeat: &feed.Heartbeat{SentNS: 2}}) // between orders
		}), OrderOptions{Encoding: enc})
		acks := make(map[string]clients.Ack)
		for _, req := range []*order.Request{limit("a", "A"), limit("b", "REJECT"), limit("c", "PROBLEM"), limit("d", "A")} {
			before := feed.Now()
			ack, err := e.Execute(within(t, patience), req)
			if req.Symbol == "PROBLEM" {
				var p *feed.Problem
				if !errors.As(err, &p) || p.Code != feed.CodeUnsupported || p.Fatal {
					t.Errorf("%v, want %s", err, feed.CodeUnsupported)
				}
				continue
			}
			if err != nil || ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
				t.Errorf("%s: %+v, %v, sent at %d", req.ClOrdID, ack, err, before)
			}
			acks[req.ClOrdID] = ack
		}
		for id, want := range map[string]order.Execution{
			"a": filled(limit("a", "A")), "b": rejected(limit("b", "REJECT")), "d": filled(limit("d", "A")),
		} {
			if acks[id].Execution != want {
				t.Errorf("the answer to %s is %+v, want %+v", id, acks[id].Execution, want)
			}
		}
		if _, err := e.Execute(within(t, patience), &order.Request{ClOrdID: "e"}); err == nil {
			t.Error("an order without an action: no error")
		}
		if _, err := e.Execute(within(t, patience), limit("f", "A")); err != nil {
			t.Errorf("after one that could not be sent: %v", err)
		}
	})
}

// All orders of an entry have the padding of the first, which makes it as large as
// was asked for, but for what the stream wraps around it.
func TestPayload(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		const payload = 1024
		sizes := make(chan int, 3)
		_, e := trading(t, func(p peer) {
			for {
				req, size, ok := p.ordered()
				if !ok {
					return
				}
				sizes <- size
				p.execution(filled(&req))
			}
		}, OrderOptions{Encoding: enc, PayloadBytes: payload})
		for _, id := range []string{"a", "b", "longer"} {
			if _, err := e.Execute(within(t, patience), limit(id, "A")); err != nil {
				t.Fatal(err)
			}
		}
		first, second, third := <-sizes, <-sizes, <-sizes
		if first < payload || first > payload+16 || second != first || third != first+len("longer")-1 {
			t.Errorf("orders of %d, %d and %d bytes, want %d", first, second, third, payload)
		}
	})
}

func TestOneEntryAConnection(t *testing.T) {
	c, e := trading(t, floor(func(p peer, req *order.Request) { p.execution(filled(req)) }), OrderOptions{})
	if _, err := c.OpenOrders(context.Background()); !errors.Is(err, errOpened) {
		t.Errorf("a second entry: %v, want %v", err, errOpened)
	}
	if _, err := e.Execute(within(t, patience), limit("a", "A")); err != nil {
		t.Errorf("the first entry: %v", err)
	}
	if err := e.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := e.Execute(within(t, patience), limit("b", "A")); !errors.Is(err, errClosed) {
		t.Errorf("an order after Close: %v, want %v", err, errClosed)
	}
	if _, err := c.OpenOrders(context.Background()); !errors.Is(err, errClosed) {
		t.Errorf("an entry after Close: %v, want %v", err, errClosed)
	}
	if err := c.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// BenchmarkExecute is an order and its answer over loopback, the fake exchange's
// part included.
func BenchmarkExecute(b *testing.B) {
	for _, enc := range wire.Encodings() {
		b.Run(enc.String(), func(b *testing.B) {
			_, e := trading(b, floor(func(p peer, req *order.Request) { p.execution(filled(req)) }), OrderOptions{Encoding: enc})
			req, ctx := limit("a", "A"), b.Context()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Execute(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
