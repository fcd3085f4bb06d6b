package streams

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// TestShutdownWritesWhatWaits has more ticks wait than go into one write.
func TestShutdownWritesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{BatchTicks: 2})
		idle, busy := connect(t, e), open(t, e)
		idle.reads("hello")
		busy.says(subscribe("A"))
		publish(e, "AAAAAAA")
		busy.run()
		synctest.Wait() // both are at a write or wait for work
		down := make(chan struct{})
		go func() {
			e.Shutdown(t.Context())
			close(down)
		}()
		synctest.Wait()
		select {
		case <-e.Closing():
		default:
			t.Error("the exchange does not say that it closes")
		}
		if s, err := e.Open(t.Context(), 0); problemCode(err) != feed.CodeShuttingDown || s != nil {
			t.Errorf("open while it shuts down: %v", err)
		}
		idle.reads("problem SHUTTING_DOWN")
		idle.ends(feed.CodeShuttingDown)
		select {
		case <-down:
			t.Error("Shutdown has not waited for all")
		default:
		}
		busy.reads("hello", "subscribed A0", "ticks A1 A2", "ticks A3 A4", "ticks A5 A6", "ticks A7", "problem SHUTTING_DOWN")
		busy.ends(feed.CodeShuttingDown)
		<-down
		e.Shutdown(t.Context()) // again, and with nobody left
		if got, want := e.Stats(), (ExchangeStats{Opened: 2, Refused: 1}); got != want {
			t.Errorf("stats %+v, want %+v", got, want)
		}
	})
}

// TestShutdownDoesNotWaitForTheSource publishes as fast as the stream reads.
func TestShutdownDoesNotWaitForTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{BatchTicks: 2})
		c := connect(t, e)
		c.reads("hello")
		c.says(subscribe("A"))
		c.reads("subscribed A0")
		publish(e, "AAA")
		synctest.Wait()
		go e.Shutdown(t.Context())
		for range 1000 { // it hears of the shutdown at one in two writes
			line := <-c.lines
			if line == "problem SHUTTING_DOWN" {
				c.ends(feed.CodeShuttingDown)
				return
			}
			publish(e, "AA")
			synctest.Wait()
		}
		t.Error("1000 writes after the shutdown the stream has not ended")
		c.cut()
	})
}

func TestShutdownCutsWhoDoesNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{})
		c := connect(t, e) // reads nothing
		unused := open(t, e)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		e.Shutdown(ctx)
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("Shutdown took %s, its context 4s", took)
		}
		c.ends(feed.CodeShuttingDown)
		if err := context.Cause(unused.session.Context()); problemCode(err) != feed.CodeShuttingDown {
			t.Errorf("a session that was not run has the cause %v", err)
		}
		unused.session.Close()
		e.Shutdown(t.Context()) // all have closed
	})
}

func TestShutdownOfNobody(t *testing.T) {
	e := newExchange(t, Options{})
	e.Shutdown(t.Context())
	e.Shutdown(t.Context())
	if _, err := e.Open(t.Context(), 0); problemCode(err) != feed.CodeShuttingDown {
		t.Errorf("open after the end: %v", err)
	}
}

// running runs the exchange in a bubble until the test ends.
func running(t *testing.T, e *Exchange) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Exchange.Run = %v", err)
		}
	})
}

func TestBlockedWriteIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 3 * time.Second
		e := newExchange(t, Options{WriteTimeout: timeout, Heartbeat: time.Hour})
		running(t, e)
		reading, blocked, idle := connect(t, e), connect(t, e), connect(t, e)
		for _, c := range []*client{reading, blocked, idle} {
			c.reads("hello")
			c.says(subscribe("A"))
			c.reads("subscribed A0")
		}
		idle.says(unsubscribe("A"))
		idle.reads("unsubscribed A0")
		publish(e, "A")
		reading.reads("ticks A1")
		pass(timeout - time.Millisecond)
		if err := blocked.session.Context().Err(); err != nil {
			t.Errorf("cut before the timeout: %v", context.Cause(blocked.session.Context()))
		}
		pass(501 * time.Millisecond)
		if blocked.session.Context().Err() == nil {
			t.Fatal("not cut half a second after the timeout")
		}
		blocked.ends(feed.CodeSlowConsumer)
		pass(10 * timeout)
		publish(e, "A")
		reading.reads("ticks A2")
		if err := idle.session.Context().Err(); err != nil {
			t.Errorf("a stream with nothing to write was cut: %v", context.Cause(idle.session.Context()))
		}
		if got := e.Stats(); got.TimedOut != 1 || got.Open != 2 {
			t.Errorf("stats %+v, want one timed out and two open", got)
		}
		for _, c := range []*client{reading, idle} {
			c.cut()
		}
	})
}

// disconnecting returns a client that is blocked in a write when its queue of two
// is full and its policy ends it.
func disconnecting(t *testing.T, e *Exchange) *client {
	c := connect(t, e)
	c.reads("hello")
	c.says(feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDisconnect}})
	c.reads("subscribed A0")
	publish(e, "A")
	synctest.Wait()
	publish(e, "AAA")
	return c
}

func TestDisconnectedInABlockedWriteIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{WriteTimeout: time.Hour, Limits: feed.Limits{QueueTicks: 2}})
		running(t, e)
		c := disconnecting(t, e)
		pass(doomGrace - time.Millisecond)
		if err := c.session.Context().Err(); err != nil {
			t.Errorf("cut within the grace: %v", context.Cause(c.session.Context()))
		}
		pass(502 * time.Millisecond)
		if c.session.Context().Err() == nil {
			t.Fatal("not cut half a second after the grace")
		}
		c.ends(feed.CodeSlowConsumer)
		if got := e.Stats(); got.TimedOut != 0 {
			t.Errorf("stats %+v: the policy is no timeout", got)
		}
	})
}

func TestDisconnectedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{WriteTimeout: time.Hour, Limits: feed.Limits{QueueTicks: 2}})
		running(t, e)
		c := disconnecting(t, e)
		c.reads("ticks A1", "problem SLOW_CONSUMER")
		c.ends(feed.CodeSlowConsumer)
		synctest.Wait()
		if got := e.Stats().Open + e.hub.Stats().Subscriptions; got != 0 {
			t.Errorf("%d sessions and subscriptions are left", got)
		}
	})
}

func TestRunWithATinyWriteTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newExchange(t, Options{WriteTimeout: 1})
		running(t, e)
		c := connect(t, e)
		pass(time.Second)
		if c.session.Context().Err() == nil {
			t.Fatal("not cut after a second")
		}
		err := <-c.done
		if problemCode(err) != feed.CodeSlowConsumer || !strings.Contains(err.Error(), "write") || errors.Is(err, errTransport) {
			t.Errorf("Run = %v, want the cause of the cut as the write's error", err)
		}
	})
}
