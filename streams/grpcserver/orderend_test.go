package grpcserver

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// stalled returns a trader whose session's SendMsg blocks: what answers its first
// order is more than its client takes, so that the second finds no room.
func (v *venue) stalled(t *testing.T, d *desk, cc *grpc.ClientConn, enc wire.Encoding) *trader {
	t.Helper()
	s, before := v.orders(t, cc, enc), d.count()
	for i := range 10 {
		s.send(execute(fmt.Sprint("big", i)))
	}
	eventually(t, "the second order has reached the desk", func() bool { return d.count() == before+2 })
	return s
}

// A trader that takes no answers is ended by the write timeout, in the middle of
// SendMsg; nobody else waits for it, and it finds the reason when it reads.
func TestStalledTraderIsEnded(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{WriteTimeout: 20 * time.Millisecond})
		cc := v.connect(t)
		s := v.stalled(t, d, cc, enc)
		healthy := v.orders(t, cc, enc)
		healthy.send(execute("a"))
		healthy.next()
		v.sweep(t)
		eventually(t, "the stalled session has been cut, goroutine and all", func() bool {
			got := v.exchange.Stats()
			return got.TimedOut == 1 && got.Open == 1
		})
		if n := d.count(); n != 3 {
			t.Errorf("the desk was asked %d times, want 3: orders wait while answers do", n)
		}
		wantStatus(t, s.end(), codes.ResourceExhausted, "SLOW_CONSUMER: ")
		healthy.send(execute("b"))
		healthy.next()
	})
}

// A shutdown answers what is in flight and takes nothing after.
func TestShutdownOfOrders(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		v, d := orderVenue(t, streams.Options{})
		cc := v.connect(t)
		s, idle := v.orders(t, cc, enc), v.orders(t, cc, enc)
		s.send(execute("slow"))
		s.send(execute("late"))
		<-d.arrived
		shut := make(chan struct{})
		go func() {
			defer close(shut)
			v.exchange.Shutdown(context.Background())
		}()
		<-v.exchange.Closing()
		wantStatus(t, idle.end(), codes.Unavailable, "SHUTTING_DOWN: ")
		close(d.release)
		if e := s.next(); e.ClOrdID != "slow" || e.Reject != "" {
			t.Errorf("the order in flight got %+v", e)
		}
		var e order.Execution
		wantStatus(t, s.stream.RecvMsg(&e), codes.Unavailable, "SHUTTING_DOWN: ")
		<-shut
		if n := d.count(); n != 1 {
			t.Errorf("the desk was asked %d times, want once", n)
		}
		wantStatus(t, v.orders(t, cc, enc).end(), codes.Unavailable, "SHUTTING_DOWN: ")
	})
}

// A shutdown waits for a trader that takes no answers as long as any write may
// take, and its patience is the other bound.
func TestShutdownOfAStalledTrader(t *testing.T) {
	t.Run("write timeout", func(t *testing.T) {
		v, d := orderVenue(t, streams.Options{WriteTimeout: 20 * time.Millisecond})
		s := v.stalled(t, d, v.connect(t), wire.Protobuf)
		v.sweep(t)
		v.exchange.Shutdown(t.Context())
		v.noSessions(t)
		wantStatus(t, s.end(), codes.ResourceExhausted, "SLOW_CONSUMER: ")
	})
	t.Run("patience", func(t *testing.T) {
		v, d := orderVenue(t, streams.Options{})
		s := v.stalled(t, d, v.connect(t), wire.Protobuf)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		v.exchange.Shutdown(ctx)
		v.noSessions(t) // while the server serves still
		wantStatus(t, s.end(), codes.Unavailable, "SHUTTING_DOWN: ")
	})
}
