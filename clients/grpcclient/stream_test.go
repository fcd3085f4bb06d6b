package grpcclient

import (
	"context"
	"errors"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestSubscribe(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		hub := newHub(t)
		began := feed.Now()
		target, _ := exchange(t, played(hub))
		c, sink := open(t, target, enc, feed.Subscribe{Symbols: []string{"B"}})
		if d := sink.next(t); d.Message.Snapshot == nil || d.Message.Snapshot.Tick.Seq != 1 {
			t.Fatalf("%+v, want the snapshot at 1", d.Message)
		}
		for range 20 {
			publish(hub, 1)
		}
		for want := uint64(2); want <= 21; {
			d := sink.next(t)
			if d.Stream != 5 || d.ReceivedNS < began || d.DecodedNS < d.ReceivedNS || len(d.Message.Ticks) == 0 {
				t.Fatalf("delivery %+v, want ticks of stream 5 with stamps in order", d)
			}
			for _, tick := range d.Message.Ticks {
				if tick.Symbol != "B" || tick.Seq != want {
					t.Fatalf("tick %+v, want B at %d", tick, want)
				}
				want++
			}
		}
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if len(sink.ended) != 1 {
			t.Fatal("Close returned before the sink heard the end")
		}
		if err := sink.end(t); err != nil {
			t.Errorf("ended with %v after Close, want nil", err)
		}
		if err := c.Open(context.Background(), 7, feed.Subscribe{Symbols: []string{"A"}}); !errors.Is(err, errClosed) {
			t.Errorf("a stream after Close: %v", err)
		}
		if err := c.Close(); err != nil || len(sink.ended) != 0 {
			t.Errorf("second close: %v, and the sink heard %d ends more", err, len(sink.ended))
		}
	})
}

func TestManyStreamsOfOneConnection(t *testing.T) {
	const many = 300
	hub := newHub(t)
	target, _ := exchange(t, played(hub))
	sink := newEars()
	c := dial(t, target, wire.Protobuf, sink)
	for i := range many {
		if err := c.Open(within(t, patience), i, feed.Subscribe{Symbols: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
	}
	publish(hub, 0)
	got := make(map[int]bool)
	for len(got) < many {
		d := sink.next(t)
		for _, tick := range d.Message.Ticks {
			if tick.Seq != 2 || got[d.Stream] {
				t.Fatalf("stream %d: tick %+v", d.Stream, tick)
			}
			got[d.Stream] = true
		}
	}
	if err := c.Close(); err != nil || len(sink.ended) != many {
		t.Errorf("close: %v, and %d streams ended, want %d", err, len(sink.ended), many)
	}
}

// However the exchange refuses, in a message or in a status, it is a problem, and
// the connection goes on.
func TestRefusedSubscribe(t *testing.T) {
	refusal := &feed.Problem{Code: feed.CodeTooManyStreams, Message: "the limit is 2"}
	for name, test := range map[string]struct {
		play func(peer) error
		code feed.ProblemCode
	}{
		"message": {played(newHub(t)), feed.CodeUnknownSymbol},
		"status":  {func(peer) error { return wire.GRPCStatus(refusal) }, refusal.Code},
	} {
		t.Run(name, func(t *testing.T) {
			eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
				sink := newEars()
				target, _ := exchange(t, test.play)
				c := dial(t, target, enc, sink)
				for range 2 {
					err := c.Open(within(t, patience), 0, feed.Subscribe{Symbols: []string{"nobody"}})
					var p *feed.Problem
					if !errors.As(err, &p) || p.Code != test.code {
						t.Errorf("open: %v, want %s", err, test.code)
					}
				}
				_ = c.Close()
				if len(sink.ended) != 0 {
					t.Error("the sink heard the end of a stream that never was")
				}
			})
		})
	}
}

func TestEnded(t *testing.T) {
	problem := &feed.Problem{Code: feed.CodeShuttingDown, Message: "bye", Fatal: true}
	for name, test := range map[string]struct {
		then func(peer) error
		code feed.ProblemCode
		says string
	}{
		"told": {then: func(p peer) error {
			p.say(&feed.Message{Problem: problem})
			return wire.GRPCStatus(problem)
		}, code: feed.CodeShuttingDown},
		"status alone": {then: func(peer) error { return wire.GRPCStatus(problem) }, code: feed.CodeShuttingDown},
		"told, then cut": {then: func(p peer) error {
			p.say(&feed.Message{Problem: problem})
			return status.Error(codes.Unavailable, "cut")
		}, code: feed.CodeShuttingDown},
		"told of no end": {then: func(p peer) error {
			p.say(&feed.Message{Problem: &feed.Problem{Code: feed.CodeBadRequest, Message: "no"}})
			return nil
		}, says: "the exchange ended the stream"},
		"ended well":    {then: func(peer) error { return nil }, says: "the exchange ended the stream"},
		"other status":  {then: func(peer) error { return status.Error(codes.DataLoss, "oh: no") }, says: "the stream ended with DataLoss: oh: no"},
		"no problem":    {then: func(peer) error { return status.Error(codes.NotFound, "SHUTTING_DOWN: bye") }, says: "the stream ended with NotFound"},
		"unreadable":    {then: func(p peer) error { p.say(wire.Ready{[]byte("\xff{")}); return p.wait() }, says: "the stream ended with Internal: failed to unmarshal"},
		"large message": {then: func(p peer) error { p.say(wire.Ready{make([]byte, maxMessageBytes+1)}); return p.wait() }, says: "larger than max"},
	} {
		t.Run(name, func(t *testing.T) {
			eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
				target, _ := exchange(t, func(p peer) error {
					if !p.greet() {
						return nil
					}
					return test.then(p)
				}, grpc.MaxSendMsgSize(2*maxMessageBytes))
				_, sink := open(t, target, enc, feed.Subscribe{Symbols: []string{"A"}})
				err := sink.end(t)
				var p *feed.Problem
				if errors.As(err, &p) != (test.code != "") || p != nil && p.Code != test.code {
					t.Errorf("ended with %v, want %s", err, test.code)
				}
				wantText(t, err, test.says)
			})
		})
	}
}

func TestServerDies(t *testing.T) {
	target, server := exchange(t, func(p peer) error { p.greet(); return p.wait() })
	c, sink := open(t, target, wire.Protobuf, feed.Subscribe{Symbols: []string{"A"}})
	server.Stop()
	wantText(t, sink.end(t), "the connection broke: ")
	err := c.Open(within(t, patience), 6, feed.Subscribe{Symbols: []string{"A"}})
	wantText(t, err, "gRPC subscribe "+target+": the connection broke: ")
	wantText(t, err, "connection refused")
}

func TestOpenTimesOut(t *testing.T) {
	greeted := make(chan struct{}, 1)
	for name, test := range map[string]struct {
		play func(peer) error
		busy bool
	}{
		"no hello": {play: peer.wait},
		"no answer": {play: func(p peer) error {
			p.say(&feed.Message{Hello: &feed.Hello{}})
			return p.wait()
		}},
		"no place among the streams": {play: func(p peer) error { p.greet(); greeted <- struct{}{}; return p.wait() }, busy: true},
	} {
		t.Run(name, func(t *testing.T) {
			target, _ := exchange(t, test.play, grpc.MaxConcurrentStreams(1))
			sink := newEars()
			c := dial(t, target, wire.Protobuf, sink)
			if test.busy {
				if err := c.Open(within(t, patience), 0, feed.Subscribe{Symbols: []string{"A"}}); err != nil {
					t.Fatal(err)
				}
				<-greeted
			}
			err := c.Open(within(t, 20*time.Millisecond), 1, feed.Subscribe{Symbols: []string{"A"}})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("open: %v, want the end of its context", err)
			}
			if len(sink.ended) != 0 {
				t.Error("the sink heard the end of a stream that never was")
			}
		})
	}
}

// Close frees an Open that waits.
func TestCloseWhileOpening(t *testing.T) {
	asked := make(chan struct{}, 1)
	target, _ := exchange(t, func(p peer) error { asked <- struct{}{}; return p.wait() }, grpc.MaxConcurrentStreams(1))
	c := dial(t, target, wire.Protobuf, newEars())
	opened := make(chan error)
	for range 2 { // one waits for its hello, the other for a place
		go func() { opened <- c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"A"}}) }()
	}
	<-asked
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range 2 {
		wantText(t, <-opened, "closed")
	}
}

func TestFirstMessageIsNoHello(t *testing.T) {
	target, _ := exchange(t, func(p peer) error {
		p.say(&feed.Message{Heartbeat: &feed.Heartbeat{}})
		return p.wait()
	})
	err := dial(t, target, wire.JSON, newEars()).Open(within(t, patience), 0, feed.Subscribe{Symbols: []string{"A"}})
	if !errors.Is(err, clients.ErrNoExchange) {
		t.Errorf("open: %v, want %v", err, clients.ErrNoExchange)
	}
}
