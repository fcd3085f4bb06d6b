package grpcclient

import (
	"context"
	"errors"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// waits is a floor whose orders wait for their end, on a stream as well.
func waits() *floor {
	f := &floor{}
	f.stream = answering(func(p peer, _ *order.Request) error {
		f.waiting <- struct{}{}
		return p.wait()
	})
	return f
}

// What ends an order that waits, and what the entry is good for then.
func TestExecuteIsGivenUp(t *testing.T) {
	for name, test := range map[string]struct {
		stop   func(cancel func(), c clients.OrderConn, e clients.OrderEntry, server *grpc.Server)
		want   error
		says   string
		unary  bool // it ends unary orders too
		reopen bool // and the connection is good for more
	}{
		"by its context": {stop: func(cancel func(), _ clients.OrderConn, _ clients.OrderEntry, _ *grpc.Server) { cancel() },
			want: context.Canceled, unary: true, reopen: true},
		"by closing the entry": {stop: func(_ func(), _ clients.OrderConn, e clients.OrderEntry, _ *grpc.Server) { _ = e.Close() },
			want: errClosed, reopen: true},
		"by closing the connection": {stop: func(_ func(), c clients.OrderConn, _ clients.OrderEntry, _ *grpc.Server) { _ = c.Close() },
			want: errClosed, unary: true},
		"by the exchange's death": {stop: func(_ func(), _ clients.OrderConn, _ clients.OrderEntry, s *grpc.Server) { s.Stop() },
			says: "the connection broke", unary: true},
	} {
		for _, stream := range []bool{true, false} {
			if !stream && !test.unary {
				continue
			}
			t.Run(name+map[bool]string{true: ", stream", false: ", unary"}[stream], func(t *testing.T) {
				f := waits()
				target, server := trading(t, f)
				c := dialOrders(t, target, OrderOptions{Stream: stream})
				e := openOrders(t, c)
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				given := make(chan error, 1)
				go func() {
					ack, err := e.Execute(ctx, limit("a", "WAIT"))
					if ack != (clients.Ack{}) {
						t.Errorf("%+v beside an error", ack)
					}
					given <- err
				}()
				<-f.waiting
				test.stop(cancel, c, e, server)
				err := <-given
				wantText(t, err, target+": "+test.says)
				if test.want != nil && !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
				if _, err := e.Execute(within(t, patience), limit("b", "A")); (err == nil) != (!stream && test.reopen) {
					t.Errorf("the next order: %v", err)
				}
				// One of unary calls asks the exchange nothing.
				if _, err := c.OpenOrders(within(t, patience)); (err == nil) != test.reopen && (stream || errors.Is(test.want, errClosed)) {
					t.Errorf("another entry: %v", err)
				}
			})
		}
	}
}

// A stream that ends says why, to an order that waits and to one that comes later.
func TestStreamEnded(t *testing.T) {
	bye := &feed.Problem{Code: feed.CodeShuttingDown, Message: "bye", Fatal: true}
	for name, test := range map[string]struct {
		end  error
		code feed.ProblemCode
		says string
	}{
		"a problem":    {end: wire.GRPCStatus(bye), code: feed.CodeShuttingDown},
		"well":         {says: "the exchange ended the stream"},
		"other status": {end: status.Error(codes.DataLoss, "oh"), says: "the stream ended with DataLoss: oh"},
	} {
		t.Run(name, func(t *testing.T) {
			early := make(chan struct{})
			for when, play := range map[string]func(peer) error{
				"while it waits": func(p peer) error {
					if err := p.SendHeader(nil); err != nil {
						return err
					}
					_ = p.RecvMsg(new(wire.AskedOrder))
					return test.end
				},
				"before": func(p peer) error {
					err := p.SendHeader(nil)
					close(early)
					if err != nil {
						return err
					}
					return test.end
				},
			} {
				target, _ := trading(t, &floor{stream: play})
				e := openOrders(t, dialOrders(t, target, OrderOptions{Stream: true}))
				if when == "before" {
					<-early
				}
				_, err := e.Execute(within(t, patience), limit("a", "A"))
				wantText(t, err, "gRPC StreamOrders "+target+": "+test.says)
				var p *feed.Problem
				if errors.As(err, &p) != (test.code != "") || p != nil && (p.Code != test.code || !p.Fatal) {
					t.Errorf("%s: %v, want %s", when, err, test.code)
				}
			}
		})
	}
}

// What an execution cannot be read from ends the entry.
func TestUnreadableExecution(t *testing.T) {
	target, _ := trading(t, &floor{stream: answering(func(p peer, _ *order.Request) error {
		p.say(wire.Ready{[]byte("\xff{")})
		return nil
	})})
	e := openOrders(t, dialOrders(t, target, OrderOptions{Stream: true}))
	for range 2 {
		if ack, err := e.Execute(within(t, patience), limit("a", "A")); err == nil {
			t.Errorf("%+v, want an error", ack)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	for _, stream := range []bool{false, true} {
		for _, enc := range wire.Encodings() {
			b.Run(map[bool]string{false: "unary/", true: "stream/"}[stream]+enc.String(), func(b *testing.B) {
				target, _ := trading(b, &floor{stream: answering(func(p peer, req *order.Request) error {
					x := filled(req)
					return p.SendMsg(&x)
				})})
				e := openOrders(b, dialOrders(b, target, OrderOptions{Encoding: enc, Stream: stream}))
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
}
