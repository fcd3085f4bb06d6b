package restclient

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
)

// TestQueued: over HTTP/1.1 an entry that gives up waiting for the connection
// leaves the order that has it alone, and one that waits on gets its turn.
func TestQueued(t *testing.T) {
	f := newFloor(t)
	c := dialOrders(t, serve(t, f), OrderOptions{})
	results := make(chan error, 2)
	holds, waits, quits := openOrders(t, c), openOrders(t, c), openOrders(t, c)
	go func() { _, err := holds.Execute(t.Context(), limit("a", "HOLD")); results <- err }()
	within(t, "the order", f.arrived)
	go func() { _, err := waits.Execute(t.Context(), limit("b", "AAA")); results <- err }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := quits.Execute(ctx, limit("c", "AAA")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("given up: %v", err)
	}
	close(f.release)
	for range 2 {
		if err := within(t, "an answer", results); err != nil {
			t.Error(err)
		}
	}
	if len(f.got) != 2 {
		t.Errorf("%d orders arrived, want 2", len(f.got))
	}
}

// TestGivenUp: an order whose wait ends is an error; over HTTP/2 the connection
// goes on, over HTTP/1.1 it is gone, and a new one takes orders.
func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, opts OrderOptions) {
		f := newFloor(t)
		target := serve(t, f)
		c := dialOrders(t, target, opts)
		e := openOrders(t, c)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { <-f.arrived; cancel() }()
		if _, err := e.Execute(ctx, limit("a", "HOLD")); !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		if opts.HTTPVersion == "1.1" {
			if _, err := e.Execute(t.Context(), limit("b", "AAA")); !errors.Is(err, clients.ErrNotSent) {
				t.Errorf("an order on a connection that was given up: %v", err)
			}
			if _, err := c.OpenOrders(t.Context()); err == nil {
				t.Error("an entry opened on it")
			}
			e = openOrders(t, dialOrders(t, target, opts))
		}
		if ack, err := e.Execute(t.Context(), limit("b", "AAA")); err != nil || ack.Execution.ClOrdID != "b" {
			t.Errorf("the next order: %+v, %v", ack, err)
		}
	})
}

// TestConnectionLost: a connection whose socket is gone is an error for orders in
// flight and later ones, and gives no more entries.
func TestConnectionLost(t *testing.T) {
	for _, idle := range []bool{true, false} {
		each(t, func(t *testing.T, opts OrderOptions) {
			f := newFloor(t)
			target := serve(t, f)
			var socket net.Conn
			opts.DialContext = func(ctx context.Context, _ int) (_ net.Conn, err error) {
				socket, err = new(net.Dialer).DialContext(ctx, "tcp", target)
				return socket, err
			}
			c := dialOrders(t, target, opts)
			e := openOrders(t, c)
			if idle {
				_ = socket.Close()
			} else {
				go func() { <-f.arrived; _ = socket.Close() }()
			}
			if _, err := e.Execute(t.Context(), limit("a", "HOLD")); err == nil {
				t.Error("an order went through a dead connection")
			}
			for deadline := time.Now().Add(patience); ; runtime.Gosched() {
				if _, err := c.OpenOrders(t.Context()); err != nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatal("entries still open on a dead connection")
				}
			}
			if _, err := openOrders(t, dialOrders(t, target, opts)).Execute(t.Context(), limit("b", "AAA")); err != nil {
				t.Errorf("on a new connection: %v", err)
			}
		})
	}
}

// Close ends what waits on the connection.
func TestCloseOrders(t *testing.T) {
	each(t, func(t *testing.T, opts OrderOptions) {
		f := newFloor(t)
		c := dialOrders(t, serve(t, f), opts)
		ended := make(chan error, 2)
		first, second := openOrders(t, c), openOrders(t, c)
		go func() { _, err := first.Execute(t.Context(), limit("a", "HOLD")); ended <- err }()
		within(t, "the order", f.arrived)
		go func() { _, err := second.Execute(t.Context(), limit("b", "HOLD")); ended <- err }()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for range 2 {
			if err := within(t, "the end of an order", ended); err == nil {
				t.Error("an order was answered after Close")
			}
		}
		if _, err := c.OpenOrders(t.Context()); err == nil {
			t.Error("an entry opened after Close")
		}
	})
}
