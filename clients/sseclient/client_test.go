package sseclient

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

var versions = []string{"1.1", "2"}

func TestStream(t *testing.T) {
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			t.Run("HTTP "+version+" "+enc.String(), func(t *testing.T) {
				x := startExchange(t, 100)
				x.publish(1)
				s := newSink(t)
				c := dial(t, x.addr, Options{Encoding: enc, HTTPVersion: version}, s)
				before := feed.Now()
				req := feed.Subscribe{Symbols: []string{"AAA", "B/B, 100%&="}, Policy: feed.PolicyDropOldest}
				if err := c.Open(context.Background(), 5, req); err != nil {
					t.Fatal(err)
				}
				if got := s.waitMessages(5, 1); got[0].Message.Hello == nil || got[0].Message.Hello.Epoch != "e0" {
					t.Fatalf("first message %+v", got[0].Message)
				}
				got := s.waitMessages(5, 3)
				if sub := got[1].Message.Subscribed; sub == nil || sub.Policy != feed.PolicyDropOldest || len(sub.Symbols) != 2 {
					t.Errorf("second message %+v", got[1].Message)
				}
				if snap := got[2].Message.Snapshot; snap == nil || snap.Tick.Symbol != "B/B, 100%&=" || snap.Cursor != "e0-1" {
					t.Errorf("third message %+v", got[2].Message)
				}
				x.publish(0)
				x.publish(1)
				got = s.waitMessages(5, 5)
				for i, want := range []string{"AAA", "B/B, 100%&="} {
					if m := got[3+i].Message; len(m.Ticks) != 1 || m.Ticks[0].Symbol != want || m.Snapshot != nil || m.Ticks[0].BidPx != 1_500_000_000 {
						t.Errorf("tick %d: %+v", i, m)
					}
				}
				x.beat <- struct{}{}
				got = s.waitMessages(5, 6)
				if m := got[5].Message; m.Heartbeat == nil || m.Heartbeat.SentNS != 7 || len(m.Ticks) != 0 {
					t.Errorf("heartbeat %+v", m)
				}
				for i, d := range got {
					if d.ReceivedNS < before || d.DecodedNS < d.ReceivedNS {
						t.Errorf("message %d: received %d, decoded %d, opened %d", i, d.ReceivedNS, d.DecodedNS, before)
					}
					before = d.ReceivedNS
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
				if ends := s.ended[5]; len(ends) != 1 || ends[0] != nil { // no lock: Close has waited
					t.Errorf("ended with %v, want one nil", ends)
				}
				if err := c.Open(context.Background(), 6, req); !errors.Is(err, net.ErrClosed) {
					t.Errorf("open after close: %v", err)
				}
			})
		}
	}
}

func TestResume(t *testing.T) {
	x := startExchange(t, 100)
	for range 4 {
		x.publish(0)
	}
	s := newSink(t)
	c := dial(t, x.addr, Options{}, s)
	if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}, Cursor: "e0-2"}); err != nil {
		t.Fatal(err)
	}
	got := s.waitMessages(0, 4)
	if got[2].Message.Ticks[0].Seq != 3 || got[3].Message.Ticks[0].Seq != 4 {
		t.Errorf("%+v", got)
	}
}

func TestRefused(t *testing.T) {
	for _, version := range versions {
		x := startExchange(t, 100)
		s := newSink(t)
		c := dial(t, x.addr, Options{HTTPVersion: version}, s)
		err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"NOPE"}})
		var p *feed.Problem
		if !errors.As(err, &p) || p.Code != feed.CodeUnknownSymbol || p.Symbol != "NOPE" || p.RequestID == "" {
			t.Errorf("HTTP/%s: %v", version, err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		s.silent()
	}
}

func TestExchangeEnds(t *testing.T) {
	for _, version := range versions {
		t.Run("tells why HTTP "+version, func(t *testing.T) {
			x := startExchange(t, 100)
			s := newSink(t)
			c := dial(t, x.addr, Options{HTTPVersion: version}, s)
			if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Fatal(err)
			}
			close(x.closing)
			var p *feed.Problem
			if err := s.waitEnded(0); !errors.As(err, &p) || p.Code != feed.CodeShuttingDown {
				t.Errorf("ended with %v", err)
			}
		})
		t.Run("dies HTTP "+version, func(t *testing.T) {
			x := startExchange(t, 100)
			s := newSink(t)
			c := dial(t, x.addr, Options{HTTPVersion: version}, s)
			if err := c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Fatal(err)
			}
			_ = x.http.Close()
			if err := s.waitEnded(0); err == nil {
				t.Error("ended with nil, which means closed by this side")
			}
			if err := c.Open(context.Background(), 1, feed.Subscribe{Symbols: []string{"AAA"}}); err == nil {
				t.Error("a stream opened on a dead connection")
			}
		})
	}
}

// TestOneStream is HTTP/1.1, where a second stream would need a second connection.
func TestOneStream(t *testing.T) {
	x := startExchange(t, 100)
	c := dial(t, x.addr, Options{HTTPVersion: "1.1"}, newSink(t))
	req := feed.Subscribe{Symbols: []string{"AAA"}}
	if err := c.Open(context.Background(), 0, req); err != nil {
		t.Fatal(err)
	}
	if err := c.Open(context.Background(), 1, req); !errors.Is(err, errOneStream) {
		t.Errorf("second stream: %v", err)
	}
	if n := x.accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// TestManyStreams holds the fleet to the connections that it dialled: net/http's
// pool would open more, and it starts with 100 streams a connection until the
// server's SETTINGS have come.
func TestManyStreams(t *testing.T) {
	const conns, streams = 2, 1000
	x := startExchange(t, streams)
	x.publish(0)
	s := newSink(t)
	d, err := New(x.addr, Options{HTTPVersion: "2", Encoding: wire.Protobuf})
	if err != nil {
		t.Fatal(err)
	}
	var open []clients.Conn
	for i := range conns {
		c, err := d.Dial(context.Background(), i, s)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			if err := open[i%conns].Open(context.Background(), i, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Errorf("stream %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	x.publish(0)
	s.wait("the tick on every stream", func() bool {
		n := 0
		for _, got := range s.got {
			if last := got[len(got)-1].Message; len(last.Ticks) == 1 && last.Ticks[0].Seq == 2 {
				n++
			}
		}
		return n == streams
	})
	if n := x.accepted.Load(); n != conns {
		t.Errorf("%d connections, want %d", n, conns)
	}
	for _, c := range open {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(s.ended) != streams { // no lock: all are closed
		t.Errorf("%d streams ended, want %d", len(s.ended), streams)
	}
	for i, ends := range s.ended {
		if len(ends) != 1 || ends[0] != nil {
			t.Errorf("stream %d ended with %v", i, ends)
		}
	}
}

func TestServersLimitOfStreams(t *testing.T) {
	x := startExchange(t, 2)
	s := newSink(t)
	c := dial(t, x.addr, Options{HTTPVersion: "2"}, s)
	req := feed.Subscribe{Symbols: []string{"AAA"}}
	for i := range 2 {
		if err := c.Open(context.Background(), i, req); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := c.Open(ctx, 2, req)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the 2 streams that the target allows") {
		t.Errorf("third stream: %v", err)
	}
	if n := x.accepted.Load(); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
