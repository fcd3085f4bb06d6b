package grpcclient

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

var _ clients.OrderDialer = (*Orders)(nil)

func TestNewOrders(t *testing.T) {
	_, err := NewOrders("nowhere", OrderOptions{})
	wantText(t, err, `gRPC target "nowhere": want host:port`)
	_, err = NewOrders("localhost:1", OrderOptions{Encoding: 7})
	wantText(t, err, "no such encoding: encoding(7)")
}

// A unary call is padded as its first order needs, and an ack stays as it was.
func TestExecuteUnary(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		f := &floor{}
		target, _ := trading(t, f)
		e := openOrders(t, dialOrders(t, target, OrderOptions{Encoding: enc, PayloadBytes: 1024}))
		acks := make(map[string]clients.Ack)
		for _, id := range []string{"a", "b", "a longer id"} {
			req, before := limit(id, "A"), feed.Now()
			ack, err := e.Execute(within(t, patience), req)
			if err != nil {
				t.Fatal(err)
			}
			if ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
				t.Errorf("order %s: acked at %d, sent at %d", id, ack.ReceivedNS, before)
			}
			if f.got[len(f.got)-1] != *req {
				t.Errorf("the order arrived as %+v, want %+v", f.got[len(f.got)-1], *req)
			}
			acks[id] = ack
		}
		for id, ack := range acks {
			if ack.Execution != filled(limit(id, "A")) {
				t.Errorf("the answer to %s is %+v", id, ack.Execution)
			}
		}
		wantBytes(t, f, 1024, 1024, 1024+len("a longer id")-1)
	})
}

// A refusal is an answer and a problem an error, of this call alone.
func TestUnaryRefused(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		f := &floor{}
		target, _ := trading(t, f)
		e := openOrders(t, dialOrders(t, target, OrderOptions{Encoding: enc}))
		before := feed.Now()
		ack, err := e.Execute(within(t, patience), limit("a", "REJECT"))
		if err != nil || ack.Execution != rejected(limit("a", "REJECT"), order.RejectOffGrid) || ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
			t.Errorf("refused with %+v, %v", ack, err)
		}
		_, err = e.Execute(within(t, patience), limit("b", "PROBLEM"))
		var p *feed.Problem
		if !errors.As(err, &p) || p.Code != feed.CodeUnsupported || p.Fatal {
			t.Errorf("%v, want %s, not fatal", err, feed.CodeUnsupported)
		}
		_, err = e.Execute(within(t, patience), &order.Request{ClOrdID: "c"})
		wantText(t, err, "gRPC ExecuteOrder "+target+": ")
		if len(f.got) != 2 {
			t.Errorf("%d orders arrived, the last without an action", len(f.got))
		}
		if ack, err := e.Execute(within(t, patience), limit("d", "A")); err != nil || ack.Execution != filled(limit("d", "A")) {
			t.Errorf("after the refusals: %+v, %v", ack, err)
		}
	})
}

// Entries share the connection: none waits for another.
func TestUnaryEntries(t *testing.T) {
	f := &floor{}
	target, _ := trading(t, f)
	c := dialOrders(t, target, OrderOptions{})
	waiter := openOrders(t, c)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	given := make(chan error, 1)
	go func() {
		_, err := waiter.Execute(ctx, limit("w", "WAIT"))
		given <- err
	}()
	<-f.waiting
	var traders sync.WaitGroup
	for _, id := range []string{"a", "b", "c"} {
		e := openOrders(t, c)
		traders.Go(func() {
			for range 20 {
				if ack, err := e.Execute(within(t, patience), limit(id, "A")); err != nil || ack.Execution.ClOrdID != id {
					t.Errorf("%+v, %v, want the answer to %s", ack, err, id)
				}
			}
		})
	}
	traders.Wait()
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of its context", err)
	}
	if _, err := waiter.Execute(within(t, patience), limit("x", "A")); err != nil {
		t.Errorf("after an order that was given up: %v", err)
	}
}

// wantBytes looks at the messages that a floor got, to which a stream adds a little.
func wantBytes(t *testing.T, f *floor, want ...int) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if !slices.EqualFunc(f.bytes, want, func(got, want int) bool { return got >= want && got <= want+16 }) {
		t.Errorf("orders of %d bytes, want %d", f.bytes, want)
	}
}

func TestExecuteStream(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		stray := limit("of another", "A")
		f := &floor{stream: answering(func(p peer, req *order.Request) error {
			x := filled(stray)
			p.say(&x)
			switch req.Symbol {
			case "REJECT":
				x = rejected(req, order.RejectOffGrid)
			case "UNREADABLE": // no id in its answer
				x = rejected(&order.Request{}, order.RejectBadRequest)
			default:
				x = filled(req)
			}
			p.say(&x)
			return nil
		})}
		target, _ := trading(t, f)
		c := dialOrders(t, target, OrderOptions{Encoding: enc, Stream: true, PayloadBytes: 512})
		one, other := openOrders(t, c), openOrders(t, c)
		for _, test := range []struct {
			entry clients.OrderEntry
			req   *order.Request
			want  order.Execution
		}{
			{one, limit("a", "A"), filled(limit("a", "A"))},
			{other, limit("b", "REJECT"), rejected(limit("b", "REJECT"), order.RejectOffGrid)},
			{one, limit("c", "UNREADABLE"), rejected(&order.Request{}, order.RejectBadRequest)},
			{other, limit("d", "A"), filled(limit("d", "A"))},
			{one, limit("e", "A"), filled(limit("e", "A"))},
		} {
			before := feed.Now()
			ack, err := test.entry.Execute(within(t, patience), test.req)
			if err != nil || ack.Execution != test.want || ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
				t.Errorf("%s: %+v, %v, want %+v", test.req.ClOrdID, ack, err, test.want)
			}
		}
		wantBytes(t, f, 512, 512, 512+len("UNREADABLE")-len("A"), 512-len("REJECT")+len("A"), 512)
	})
}

// What a stream that was not taken says is the error of opening it: grpc-go gives
// neither headers nor an error.
func TestOpenOrdersRefused(t *testing.T) {
	refusal := &feed.Problem{Code: feed.CodeTooManyStreams, Message: "the limit is 2"}
	target, _ := trading(t, &floor{stream: func(peer) error { return wire.GRPCStatus(refusal) }})
	_, err := dialOrders(t, target, OrderOptions{Stream: true}).OpenOrders(within(t, patience))
	wantText(t, err, "gRPC orders "+target+": ")
	var p *feed.Problem
	if !errors.As(err, &p) || p.Code != refusal.Code {
		t.Errorf("open: %v, want %s", err, refusal.Code)
	}
	empty, _ := exchange(t, peer.wait) // has no OrderEntry
	_, err = dialOrders(t, empty, OrderOptions{Stream: true}).OpenOrders(within(t, patience))
	if !errors.Is(err, clients.ErrNoExchange) {
		t.Errorf("open: %v, want %v", err, clients.ErrNoExchange)
	}
	target, _ = trading(t, &floor{stream: func(peer) error { return nil }})
	_, err = dialOrders(t, target, OrderOptions{Stream: true}).OpenOrders(within(t, patience))
	wantText(t, err, "the exchange ended the stream")
}

// Opening ends with its context or the connection, where the exchange says nothing
// and where there is no place for the stream.
func TestOpenOrdersIsGivenUp(t *testing.T) {
	asked := make(chan struct{}, 2)
	target, _ := trading(t, &floor{stream: func(p peer) error { asked <- struct{}{}; return p.wait() }}, grpc.MaxConcurrentStreams(1))
	c := dialOrders(t, target, OrderOptions{Stream: true})
	ctx, cancel := context.WithCancel(context.Background())
	opened := make(chan error, 1)
	go func() {
		_, err := c.OpenOrders(ctx)
		opened <- err
	}()
	<-asked
	cancel()
	if err := <-opened; !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v, want the end of its context", err)
	}
	for range 2 {
		go func() {
			_, err := c.OpenOrders(context.Background())
			opened <- err
		}()
	}
	<-asked
	_ = c.Close()
	for range 2 {
		if err := <-opened; !errors.Is(err, errClosed) {
			t.Errorf("open: %v, want %v", err, errClosed)
		}
	}
}
