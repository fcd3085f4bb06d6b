package wsclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

func TestSubscribe(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		hub := newHub(t)
		began := feed.Now()
		c, sink := open(t, exchange(t, played(hub)), enc, feed.Subscribe{Symbols: []string{"B"}})
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
		if err := c.Open(context.Background(), 6, feed.Subscribe{Symbols: []string{"A"}}); !errors.Is(err, errOpened) {
			t.Errorf("a second stream: %v", err)
		}
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		select { // Close has waited for it
		case err := <-sink.ended:
			if err != nil {
				t.Errorf("ended with %v after Close, want nil", err)
			}
		default:
			t.Error("Close returned before the sink heard the end")
		}
		if err := c.Open(context.Background(), 7, feed.Subscribe{Symbols: []string{"A"}}); !errors.Is(err, errClosed) {
			t.Errorf("a stream after Close: %v", err)
		}
		_ = c.Close()
		if len(sink.ended) != 0 {
			t.Error("the sink heard the end twice")
		}
	})
}

func TestResume(t *testing.T) {
	hub := newHub(t)
	cursor := feed.Cursor{Epoch: hub.Epoch(), HubSeq: 2}.String()
	publish(hub, 0)
	publish(hub, 1)
	_, sink := open(t, exchange(t, played(hub)), wire.JSON, feed.Subscribe{Symbols: []string{"A", "B"}, Cursor: cursor})
	for want := uint64(3); want <= 4; {
		for _, tick := range sink.next(t).Message.Ticks {
			if tick.HubSeq != want {
				t.Fatalf("tick %+v, want hub_seq %d", tick, want)
			}
			want++
		}
	}
}

func TestRefusedSubscribe(t *testing.T) {
	eachEncoding(t, func(t *testing.T, enc wire.Encoding) {
		sink := newEars()
		c, err := dial(t, exchange(t, played(newHub(t))), enc, sink)
		if err != nil {
			t.Fatal(err)
		}
		err = c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"nobody"}})
		var p *feed.Problem
		if !errors.As(err, &p) || p.Code != feed.CodeUnknownSymbol || p.Symbol != "nobody" {
			t.Errorf("open: %v, want %s", err, feed.CodeUnknownSymbol)
		}
		_ = c.Close()
		if len(sink.ended) != 0 {
			t.Error("the sink heard the end of a stream that never was")
		}
	})
}

// opened begins a play that goes on when the stream is open.
func opened(then func(peer)) func(peer) {
	return func(p peer) {
		p.say(feed.Message{Hello: &feed.Hello{Epoch: "1"}})
		if _, ok := p.asked(); ok {
			p.say(feed.Message{Subscribed: &feed.Subscribed{Policy: feed.PolicyConflate}})
			then(p)
		}
	}
}

func TestEnded(t *testing.T) {
	bye := &feed.Problem{Code: feed.CodeShuttingDown, Message: "bye", Fatal: true}
	for name, test := range map[string]struct {
		then    func(peer)
		problem feed.ProblemCode
		says    string
	}{
		"shutdown": {then: func(p peer) {
			p.say(feed.Message{Problem: bye})
			_ = p.Close(websocket.StatusGoingAway, bye.Error())
		}, problem: feed.CodeShuttingDown},
		"problem, then nothing": {then: func(p peer) { p.say(feed.Message{Problem: bye}) }, problem: feed.CodeShuttingDown},
		"close without a word":  {then: func(p peer) { _ = p.Close(4321, "because") }, says: "4321 because"},
		"the exchange dies":     {then: func(peer) {}, says: "broke"},
		"a message of nonsense": {then: func(p peer) { p.sayRaw([]byte("\xff{")); p.asked() }, says: "decode"},
		"a frame of another kind": {then: func(p peer) {
			_ = p.Write(context.Background(), websocket.MessageBinary, []byte("{}"))
			p.asked()
		}, says: "frame"},
		"a message too large": {then: func(p peer) { p.sayRaw(make([]byte, maxMessageBytes+1)); p.asked() }, says: "too big"},
	} {
		t.Run(name, func(t *testing.T) {
			_, sink := open(t, exchange(t, opened(test.then)), wire.JSON, feed.Subscribe{Symbols: []string{"A"}})
			err := sink.end(t)
			var p *feed.Problem
			switch {
			case test.problem != "" && (!errors.As(err, &p) || p.Code != test.problem):
				t.Errorf("ended with %v, want %s", err, test.problem)
			case test.problem == "" && (err == nil || errors.As(err, &p) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("ended with %v, want an error that says %q", err, test.says)
			}
		})
	}
}

// A stream that did not open is told by Open alone.
func TestOpenFails(t *testing.T) {
	for name, test := range map[string]struct {
		play                func(peer)
		problem, noExchange bool
	}{
		"no hello":  {play: func(p peer) { p.say(feed.Message{Heartbeat: &feed.Heartbeat{}}); p.asked() }, noExchange: true},
		"a problem": {play: func(p peer) { p.say(feed.Message{Problem: &feed.Problem{Code: "X"}}); p.asked() }, problem: true},
		"death":     {play: func(peer) {}},
	} {
		t.Run(name, func(t *testing.T) {
			sink := newEars()
			c, err := dial(t, exchange(t, test.play), wire.JSON, sink)
			if err != nil {
				t.Fatal(err)
			}
			err = c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"A"}})
			var p *feed.Problem
			if err == nil || errors.As(err, &p) != test.problem || errors.Is(err, clients.ErrNoExchange) != test.noExchange {
				t.Errorf("open: %v, want a problem: %t, no exchange: %t", err, test.problem, test.noExchange)
			}
			_ = c.Close()
			if len(sink.heard)+len(sink.ended) != 0 {
				t.Error("the sink heard of it")
			}
		})
	}
}

func TestOpenIsGivenUp(t *testing.T) {
	silence := func(p peer) {
		for ok := true; ok; {
			_, ok = p.asked()
		}
	}
	t.Run("by its context", func(t *testing.T) {
		sink := newEars()
		c, err := dial(t, exchange(t, silence), wire.JSON, sink)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
		defer cancel()
		if err := c.Open(ctx, 0, feed.Subscribe{Symbols: []string{"A"}}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("open: %v, want %v", err, context.DeadlineExceeded)
		}
	})
	t.Run("by Close", func(t *testing.T) {
		asked := make(chan struct{})
		sink := newEars()
		c, err := dial(t, exchange(t, func(p peer) { p.asked(); close(asked); silence(p) }), wire.JSON, sink)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- c.Open(context.Background(), 0, feed.Subscribe{Symbols: []string{"A"}}) }()
		<-asked
		_ = c.Close()
		if err := <-done; err == nil {
			t.Error("open: no error")
		}
		if len(sink.ended) != 0 {
			t.Error("the sink heard the end of a stream that never was")
		}
	})
}

// An exchange that answers no close frame does not hold Close for the library's 5 s.
func TestSilentExchange(t *testing.T) {
	tested := make(chan struct{})
	target := socket(t, func(c net.Conn) {
		answerUpgrade(t, bufio.NewReader(c), c, wire.SubprotocolJSON)
		for _, said := range []string{`{"hello":{"epoch":"1"}}`, `{"subscribed":{}}`} {
			_, _ = fmt.Fprintf(c, "\x81%c%s", len(said), said)
		}
		<-tested
	})
	t.Cleanup(func() { close(tested) })
	c, sink := open(t, target, wire.JSON, feed.Subscribe{Symbols: []string{"A"}})
	began := time.Now()
	_ = c.Close()
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("close took %s", took)
	}
	if err := sink.end(t); err != nil {
		t.Errorf("ended with %v after Close, want nil", err)
	}
}
