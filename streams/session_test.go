package streams

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

func problemCode(err error) feed.ProblemCode {
	var p *feed.Problem
	if errors.As(err, &p) {
		return p.Code
	}
	return ""
}

func TestHello(t *testing.T) {
	e := newExchange(t, Options{Version: "v7", Heartbeat: time.Minute, Limits: feed.Limits{MaxStreams: 3}})
	got := e.hello()
	limits := feed.Limits{
		MaxMessageBytes: DefaultMaxMessageBytes, MaxSymbolsPerStream: DefaultMaxSymbolsPerStream,
		MaxSubscribesPerSecond: DefaultMaxSubscribesPerSecond, MaxStreams: 3, QueueTicks: feed.DefaultQueue,
	}
	want := feed.Hello{Version: "v7", Epoch: "e", BootID: feed.BootID(), HeartbeatInterval: time.Minute, Limits: limits}
	if off := got.WallOffsetNS - feed.WallOffset(); off < -1e9 || off > 1e9 {
		t.Errorf("the wall clock's offset is off by %d ns", off)
	}
	got.WallOffsetNS = 0
	if *got != want {
		t.Errorf("hello is\n%+v, want\n%+v", *got, want)
	}
}

func TestSessionSaysHelloFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{BatchTicks: 2})
		publish(e, "A")
		c := open(t, e)
		c.says(ping(1))
		c.says(subscribe("A", "B"))
		publish(e, "BAA")
		c.run()
		c.reads("hello")
		// The pong may come at any time after.
		var rest []string
		for range 5 {
			rest = append(rest, <-c.lines)
		}
		pong := slices.Index(rest, "heartbeat 1")
		if pong < 0 {
			t.Fatalf("no pong in %q", rest)
		}
		rest = slices.Delete(rest, pong, pong+1)
		if want := []string{"subscribed A1 B0", "snapshot A1", "ticks B1 A2", "ticks A3"}; !slices.Equal(rest, want) {
			t.Errorf("the stream says %q, want %q", rest, want)
		}
		publish(e, "A")
		c.reads("ticks A4")
		c.isQuiet()
		c.cut()
	})
}

func TestSessionAnswersRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{})
		c := connect(t, e)
		c.reads("hello")
		problems := int64(0)
		for _, step := range []struct {
			req  feed.Request
			want string
		}{
			{subscribe("A"), "subscribed A0"},
			{subscribe("A"), "problem ALREADY_SUBSCRIBED"},
			{subscribe("Z"), "problem UNKNOWN_SYMBOL"},
			{subscribe(), "problem BAD_REQUEST"},
			{feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"B"}, Cursor: "x"}}, "problem BAD_CURSOR"},
			{unsubscribe("B"), "problem NOT_SUBSCRIBED"},
			{ping(0), "heartbeat 0"},
			{ping(1 << 63), "heartbeat 9223372036854775808"},
			{feed.Request{}, "problem BAD_REQUEST"},
			{unsubscribe("A"), "unsubscribed A0"},
			{unsubscribe("A"), "problem NOT_SUBSCRIBED"},
			{subscribe("A", "B"), "subscribed A0 B0"},
		} {
			c.says(step.req)
			c.reads(step.want)
			if step.want[:7] == "problem" {
				problems++
			}
		}
		c.isQuiet()
		if got := e.Stats().Problems; got != problems {
			t.Errorf("%d problems are counted, want %d", got, problems)
		}
		c.cut()
	})
}

func TestSessionEnds(t *testing.T) {
	cause := &feed.Problem{Code: feed.CodeTooLarge, Message: "too large", Fatal: true}
	for _, step := range []struct {
		name  string
		do    func(e *Exchange, s *Session)
		lines []string
		fail  string
		code  feed.ProblemCode
		err   error
	}{
		{"by the transport at the hello", func(*Exchange, *Session) {}, nil, "hello", "", errTransport},
		{"by the transport at an answer", func(_ *Exchange, s *Session) { _ = s.Handle(new(ping(3))) }, []string{"hello"}, "heartbeat 3", "", errTransport},
		{"by the transport at a message", func(_ *Exchange, s *Session) { _ = s.Handle(new(subscribe("A"))) }, []string{"hello"}, "subscribed A0", "", errTransport},
		{"by the transport at a tick", func(e *Exchange, s *Session) { _ = s.Handle(new(subscribe("A"))); publish(e, "A") },
			[]string{"hello", "subscribed A0"}, "ticks A1", "", errTransport},
		{"by a fatal problem", func(_ *Exchange, s *Session) { _ = s.Refuse(cause) }, []string{"hello", "problem MESSAGE_TOO_LARGE"}, "", cause.Code, cause},
		{"by a fatal problem that the transport does not take", func(_ *Exchange, s *Session) { _ = s.Refuse(cause) },
			[]string{"hello"}, "problem MESSAGE_TOO_LARGE", cause.Code, errTransport},
		{"by the first cause", func(_ *Exchange, s *Session) { s.End(cause); s.End(errTransport) }, nil, "", cause.Code, cause},
		{"with the subscription", func(_ *Exchange, s *Session) { s.sub.Close() }, []string{"hello"}, "", "", feed.ErrClosed},
	} {
		synctest.Test(t, func(t *testing.T) {
			e := newExchange(t, Options{})
			c := open(t, e)
			c.t, c.fail = t, step.fail
			step.do(e, c.session)
			c.run()
			c.reads(step.lines...)
			if err := <-c.done; !errors.Is(err, step.err) || problemCode(err) != step.code {
				t.Errorf("%s: Run = %v, want %v", step.name, err, step.err)
			}
			synctest.Wait() // for Close
			if got := e.Stats().Open + e.hub.Stats().Subscriptions; got != 0 {
				t.Errorf("%s: %d sessions and subscriptions are left", step.name, got)
			}
			if err := c.session.Handle(new(subscribe("A"))); !errors.Is(err, feed.ErrClosed) {
				t.Errorf("%s: handle after the end: %v", step.name, err)
			}
		})
	}
}

func TestSessionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s, err := newExchange(t, Options{}).Open(ctx, 0)
		if err != nil {
			t.Fatal(err)
		}
		c := &client{t: t, session: s, lines: make(chan string), done: make(chan error, 1)}
		c.run()
		c.reads("hello")
		cancel(errTransport)
		if err := <-c.done; !errors.Is(err, errTransport) {
			t.Errorf("Run = %v, want the cause", err)
		}
	})
}

func TestHeartbeatOnIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 10 * time.Second
		e := newExchange(t, Options{Heartbeat: interval})
		c := connect(t, e)
		c.reads("hello")
		c.says(subscribe("A"))
		c.reads("subscribed A0")
		// Busy, it needs no heartbeat.
		for range 20 {
			pass(interval * 4 / 10)
			publish(e, "A")
			if line := <-c.lines; line[:5] != "ticks" {
				t.Fatalf("a busy stream says %q", line)
			}
		}
		for range 5 {
			before := time.Now()
			c.reads("heartbeat 0")
			if silence := time.Since(before); silence > interval || silence < interval/4 {
				t.Errorf("a silence of %s, the interval is %s", silence, interval)
			}
		}
		c.cut()
	})
}

// TestHandleBlocks has a subscriber that asks and does not read.
func TestHandleBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const pings = 100
		c := connect(t, newExchange(t, Options{}))
		c.reads("hello")
		handled, done := 0, make(chan error)
		go func() {
			for ; handled < pings; handled++ {
				if err := c.session.Handle(new(ping(7))); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
		synctest.Wait()
		most := cap(c.session.replies) + 1 // one is being written
		if handled != most {
			t.Errorf("%d answers wait, want %d", handled, most)
		}
		for range pings {
			c.reads("heartbeat 7")
		}
		if err := <-done; err != nil {
			t.Errorf("handle: %v", err)
		}

		handled = 0
		go func() {
			for {
				if err := c.session.Handle(new(ping(7))); err != nil {
					done <- err
					return
				}
			}
		}()
		synctest.Wait()
		c.session.End(errTransport)
		if err := <-done; !errors.Is(err, errTransport) {
			t.Errorf("handle when the session is cut: %v, want the cause", err)
		}
		if err := <-c.done; !errors.Is(err, errTransport) {
			t.Errorf("Run = %v, want the cause", err)
		}
	})
}

// TestIdleSessionKeepsNoLargeBuffers has a batch that is larger than what an idle
// stream may keep.
func TestIdleSessionKeepsNoLargeBuffers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{})
		c := open(t, e)
		c.says(subscribe("A"))
		for range 100 {
			publish(e, "A")
		}
		c.run()
		c.reads("hello", "subscribed A0")
		<-c.lines
		synctest.Wait()
		s := c.session
		for _, large := range []int{cap(s.batch.Frames), cap(s.ticks), cap(s.batch.Control)} {
			if large > 16 {
				t.Errorf("an idle session keeps %d places", large)
			}
		}
		publish(e, "A")
		c.reads("ticks A101")
		synctest.Wait()
		if frames, ticks := s.batch.Frames[:cap(s.batch.Frames)], s.ticks[:cap(s.ticks)]; frames[0] != nil || ticks[0] != nil {
			t.Error("an idle session holds on to the tick that it wrote last")
		}
		c.cut()
	})
}
