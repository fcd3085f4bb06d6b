package streams

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

func TestLimitOfSymbols(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newExchange(t, Options{Limits: feed.Limits{MaxSymbolsPerStream: 2}}))
		c.reads("hello")
		for _, step := range []struct {
			req  feed.Request
			want string
		}{
			{subscribe("A", "B", "C"), "problem TOO_MANY_SYMBOLS"},
			{subscribe("A"), "subscribed A0"},
			{subscribe("B", "C"), "problem TOO_MANY_SYMBOLS"},
			{subscribe("Z"), "problem UNKNOWN_SYMBOL"}, // what is refused takes no place
			{subscribe("B"), "subscribed B0"},
			{subscribe("C"), "problem TOO_MANY_SYMBOLS"},
			{unsubscribe("C"), "problem NOT_SUBSCRIBED"}, // and gives none
			{subscribe("C"), "problem TOO_MANY_SYMBOLS"},
			{unsubscribe("A", "B"), "unsubscribed A0 B0"},
			{subscribe("C", "A"), "subscribed C0 A0"},
		} {
			c.says(step.req)
			c.reads(step.want)
		}
		c.cut()
	})
}

func TestLimitOfSubscribes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connect(t, newExchange(t, Options{Limits: feed.Limits{MaxSubscribesPerSecond: 3}}))
		c.reads("hello")
		pass(time.Duration(int64(time.Second) - feed.Now()%int64(time.Second))) // to the start of a second
		for range 2 {
			for _, step := range []struct {
				req  feed.Request
				want string
			}{
				{subscribe("A"), "subscribed A0"},
				{subscribe("A"), "problem ALREADY_SUBSCRIBED"}, // one that is refused counts too
				{unsubscribe("A"), "unsubscribed A0"},
				{subscribe("A"), "problem RATE_LIMITED"},
				{unsubscribe("A"), "problem RATE_LIMITED"},
				{ping(1), "heartbeat 1"}, // which is no subscribe
			} {
				c.says(step.req)
				c.reads(step.want)
			}
			pass(time.Second)
		}
		c.cut()
	})
}

func TestLimitOfStreams(t *testing.T) {
	e := newExchange(t, Options{Limits: feed.Limits{MaxStreams: 2}})
	first, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := e.Open(t.Context(), 0); problemCode(err) != feed.CodeTooManyStreams || s != nil {
		t.Errorf("a third of two streams: %v", err)
	}
	if got, want := e.Stats(), (ExchangeStats{Open: 2, Opened: 2, Refused: 1}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	if got := e.hub.Stats().Subscriptions; got != 2 {
		t.Errorf("the hub has %d subscriptions, want 2", got)
	}
	first.Close()
	first.Close() // must not make room for two
	third, err := e.Open(t.Context(), 0)
	if err != nil {
		t.Fatalf("after one has closed: %v", err)
	}
	if _, err := e.Open(t.Context(), 0); problemCode(err) != feed.CodeTooManyStreams {
		t.Errorf("another: %v", err)
	}
	second.Close()
	third.Close()
	if _, err := e.Open(t.Context(), 1); err == nil {
		t.Error("an encoding that the hub has not is opened")
	}
	if got, want := e.Stats(), (ExchangeStats{Opened: 3, Refused: 2}); got != want {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

func TestOptions(t *testing.T) {
	e := newExchange(t, Options{})
	want := Options{
		Version: "unknown", Heartbeat: DefaultHeartbeat, WriteTimeout: DefaultWriteTimeout, BatchTicks: DefaultBatchTicks,
		Limits: feed.Limits{MaxMessageBytes: DefaultMaxMessageBytes, MaxSymbolsPerStream: DefaultMaxSymbolsPerStream,
			MaxSubscribesPerSecond: DefaultMaxSubscribesPerSecond, MaxStreams: DefaultMaxStreams, QueueTicks: feed.DefaultQueue},
	}
	if got := e.Options(); !reflect.DeepEqual(got, want) {
		t.Errorf("options %+v, want %+v", got, want)
	}
	for _, opts := range []Options{
		{Heartbeat: -1}, {WriteTimeout: -1}, {BatchTicks: -1},
		{Limits: feed.Limits{MaxMessageBytes: -1}}, {Limits: feed.Limits{MaxSymbolsPerStream: -1}},
		{Limits: feed.Limits{MaxSubscribesPerSecond: -1}}, {Limits: feed.Limits{MaxStreams: -1}}, {Limits: feed.Limits{QueueTicks: -1}},
	} {
		if _, err := NewExchange(e.Hub(), opts); err == nil {
			t.Errorf("options %+v are taken", opts)
		}
	}
}

// wrote keeps what an Observer is told.
type wrote struct {
	ticks []int
	bytes []string
	took  []time.Duration
}

func (w *wrote) Wrote(encoding int, ticks [][]byte, beganNS, returnedNS int64) {
	w.ticks, w.took = append(w.ticks, len(ticks)), append(w.took, time.Duration(returnedNS-beganNS))
	w.bytes = append(w.bytes, fmt.Sprintf("%d %s", encoding, bytes.Join(ticks, []byte(" "))))
}

// TestObserver has a subscriber who takes a second for each write.
func TestObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := new(wrote)
		e := newExchange(t, Options{Observer: w, BatchTicks: 2})
		c := open(t, e)
		c.says(subscribe("A"))
		publish(e, "AAA")
		c.fail = "ticks A4"
		c.run()
		for _, line := range []string{"hello", "subscribed A0", "ticks A1 A2", "ticks A3"} {
			pass(time.Second)
			c.reads(line)
		}
		synctest.Wait()
		publish(e, "A") // the write fails, and tells nothing
		if err := <-c.done; err == nil {
			t.Error("the write did not fail")
		}
		if !slices.Equal(w.ticks, []int{2, 1}) || !slices.Equal(w.took, []time.Duration{time.Second, time.Second}) {
			t.Errorf("writes of %d ticks took %s, want one of 2 and one of 1, a second each", w.ticks, w.took)
		}
		if want := []string{"0 A1 A2", "0 A3"}; !slices.Equal(w.bytes, want) {
			t.Errorf("what was written is %q, want %q", w.bytes, want)
		}
	})
}
