package fault

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/streams"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reader is a stream of the symbols A and B behind a line, without a session.
type reader struct {
	t       *testing.T
	hub     *feed.Hub
	in      *Injector
	sub     *feed.Subscription
	queue   streams.Queue
	closing chan struct{}
	batch   feed.Batch
}

func newReader(t *testing.T, opts Options, queue int) *reader {
	t.Helper()
	hub, err := feed.NewHub([]feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B", TickSize: 1}}, feed.HubOptions{
		Epoch: "e", Encoders: []feed.Encoder{func(dst []byte, _ string, _ *feed.Tick) []byte { return dst }}})
	if err != nil {
		t.Fatal(err)
	}
	in, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	sub, err := hub.NewSubscription(feed.SubscriptionOptions{Queue: queue})
	if err != nil {
		t.Fatal(err)
	}
	closing := make(chan struct{})
	return &reader{t: t, hub: hub, in: in, sub: sub, queue: in.Queue(sub, closing), closing: closing}
}

func (r *reader) subscribe(req feed.Subscribe) {
	r.t.Helper()
	if err := r.sub.Subscribe(req); err != nil {
		r.t.Fatal(err)
	}
}

func (r *reader) publish(origin feed.Origin, symbols string) {
	for _, s := range []byte(symbols) {
		r.hub.Publish(&feed.Update{Symbol: int(s - 'A'), Origin: origin}, feed.Now())
	}
}

// takes takes until nothing is ready, as a session does, and checks what came: ticks
// as A1, messages by their first letter and what they name.
func (r *reader) takes(want string) {
	r.t.Helper()
	var got []string
	for ready := true; ready; {
		select {
		case <-r.queue.Ready():
			if err := r.queue.Take(&r.batch, 3); err != nil {
				r.t.Fatalf("take: %v", err)
			}
			got = append(got, said(&r.batch)...)
		default:
			ready = false
		}
	}
	if got := strings.Join(got, " "); got != want {
		r.t.Errorf("took %q, want %q", got, want)
	}
}

func said(b *feed.Batch) (out []string) {
	for _, m := range b.Control {
		switch {
		case m.Subscribed != nil:
			out = append(out, "subscribed")
		case m.Unsubscribed != nil:
			out = append(out, "unsubscribed")
		case m.Skipped != nil:
			out = append(out, fmt.Sprintf("skipped %s%d-%d", m.Skipped.Symbol, m.Skipped.FromSeq, m.Skipped.ToSeq))
		case m.Snapshot != nil:
			out = append(out, "snapshot")
		}
	}
	for _, f := range b.Frames {
		out = append(out, fmt.Sprintf("%s%d", f.Tick.Symbol, f.Tick.Seq))
	}
	return out
}

func (r *reader) injected(want Counts) {
	r.t.Helper()
	w, err := r.in.Window(-1<<62, 1<<62) // a bubble begins before the machine did
	if err != nil || w.Counts != want {
		r.t.Errorf("injected %+v, %v; want %+v", w.Counts, err, want)
	}
}

func TestLineOfEachFault(t *testing.T) {
	for _, c := range []struct {
		opts Options
		want string
		Counts
	}{
		{Options{}, "A1 B1 A2 A3", Counts{}},
		{Options{Loss: 1}, "", Counts{Lost: 4}},
		{Options{Duplicate: 1}, "A1 A1 B1 B1 A2 A2 A3 A3", Counts{Duplicated: 4}},
		{Options{Reorder: 1}, "A2 A1", Counts{Reordered: 1}}, // A3 and B1 wait for the next one
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newReader(t, c.opts, 0)
			r.subscribe(feed.Subscribe{Symbols: []string{"A", "B"}})
			r.takes("subscribed")
			r.publish(feed.OriginSchedule, "ABAA")
			r.takes(c.want)
			r.injected(c.Counts)
		})
	}
}

func TestReorderWaitsForTheNextTickOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Reorder: 1}, 0)
		r.subscribe(feed.Subscribe{Symbols: []string{"A", "B"}})
		r.takes("subscribed")
		r.publish(feed.OriginSchedule, "A")
		r.takes("")
		time.Sleep(maxHold - 1) //nolint:forbidigo // synctest
		r.publish(feed.OriginSchedule, "B")
		r.takes("")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // synctest
		synctest.Wait()
		r.takes("A1") // let go, in its place
		r.injected(Counts{})
		r.publish(feed.OriginOrder, "B") // a trade of the book is a next tick too
		r.takes("B2 B1")
		r.injected(Counts{Reordered: 1})

		r.publish(feed.OriginSchedule, "A")
		r.takes("")
		if err := r.sub.Unsubscribe(feed.Unsubscribe{Symbols: []string{"A"}}); err != nil {
			t.Fatal(err)
		}
		r.takes("A2 unsubscribed") // not after the end of its symbol
		r.injected(Counts{Reordered: 1})
	})
}

// TestSkipsKeepTheirPlace: a queue that was full while ticks were held back.
func TestSkipsKeepTheirPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Reorder: 1}, 2)
		r.subscribe(feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDropOldest})
		r.takes("subscribed")
		r.publish(feed.OriginSchedule, "A")
		r.takes("")
		r.publish(feed.OriginSchedule, "AAAA")
		r.takes("A1 skipped A2-3 A5 A4")
		r.injected(Counts{Reordered: 1})
	})
}

func TestReplaysAndTradesHaveNoFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Loss: 1}, 0)
		r.publish(feed.OriginSchedule, "AAA")
		r.subscribe(feed.Subscribe{Symbols: []string{"A"}, Cursor: "e-1"})
		r.publish(feed.OriginSchedule, "A")
		r.publish(feed.OriginOrder, "A")
		r.takes("subscribed A2 A3 A5")
		r.injected(Counts{Lost: 1})
	})
}

func TestStallHoldsAllUntilItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const at, length = 10 * time.Second, time.Second
		r := newReader(t, Options{Stalls: []Planned{{At: at, Length: length}}}, 0)
		r.subscribe(feed.Subscribe{Symbols: []string{"A", "B"}})
		r.takes("subscribed")
		time.Sleep(at) //nolint:forbidigo // synctest
		r.publish(feed.OriginSchedule, "A")
		r.takes("A1") // the schedule has not started
		start := feed.Now()
		r.in.Start(start)
		time.Sleep(at - 1) //nolint:forbidigo // synctest
		r.publish(feed.OriginSchedule, "A")
		r.takes("A2")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // synctest
		r.publish(feed.OriginSchedule, "AB")
		r.takes("")
		time.Sleep(length - 1) //nolint:forbidigo // synctest
		r.publish(feed.OriginSchedule, "B")
		r.takes("")
		time.Sleep(time.Nanosecond) //nolint:forbidigo // synctest
		synctest.Wait()
		r.takes("A3 B1 B2")
		stall := Stall{start + int64(at), int64(length)}
		for _, c := range []struct {
			from, to int64
			n        int
		}{{-1 << 62, stall.StartNS, 0}, {-1 << 62, stall.StartNS + 1, 1}, {stall.StartNS + int64(length) - 1, 1 << 62, 1}, {stall.StartNS + int64(length), 1 << 62, 0}} {
			w, err := r.in.Window(c.from, c.to)
			if err != nil || len(w.Stalls) != c.n || c.n == 1 && w.Stalls[0] != stall {
				t.Errorf("stalls %+v, %v; want %d of %+v", w.Stalls, err, c.n, stall)
			}
		}
	})
}

// TestShutdownHoldsNothingBack, and neither does a subscription that its policy ended.
func TestShutdownHoldsNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Reorder: 1, Delay: time.Second}, 0)
		r.subscribe(feed.Subscribe{Symbols: []string{"A", "B"}})
		r.takes("subscribed")
		r.publish(feed.OriginSchedule, "ABAA")
		r.takes("")
		if r.queue.Waiting() != 4 {
			t.Errorf("%d wait, want 4", r.queue.Waiting())
		}
		close(r.closing)
		r.sub.Wake()
		r.takes("A2 A1 B1 A3")
	})
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Reorder: 1}, 1)
		r.subscribe(feed.Subscribe{Symbols: []string{"A"}, Policy: feed.PolicyDisconnect})
		r.takes("subscribed")
		r.publish(feed.OriginSchedule, "A")
		r.takes("")
		r.publish(feed.OriginSchedule, "AA")
		<-r.queue.Ready()
		if err := r.queue.Take(&r.batch, 3); err != nil || strings.Join(said(&r.batch), " ") != "A1" {
			t.Fatalf("took %q, %v; want what was held", said(&r.batch), err)
		}
		<-r.queue.Ready()
		var p *feed.Problem
		if err := r.queue.Take(&r.batch, 3); !errors.As(err, &p) || p.Code != feed.CodeSlowConsumer {
			t.Fatalf("take: %v, want the policy's problem", err)
		}
		r.sub.Close()
	})
}

// TestFullLineLeavesTicksToTheQueue, whose policy acts.
func TestFullLineLeavesTicksToTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReader(t, Options{Stalls: []Planned{{Length: time.Minute}}}, 2)
		r.subscribe(feed.Subscribe{Symbols: []string{"A"}})
		r.in.Start(feed.Now())
		for range maxLine + 5 {
			r.publish(feed.OriginSchedule, "A")
			r.takes("")
		}
		// The answer has a place of the line too.
		if got := r.hub.Stats().Conflated; got != 5+1-2 {
			t.Errorf("%d are conflated, want 4", got)
		}
	})
}

// TestDelayIsWaitedOut in real time: no tick leaves before its delay is over, and what
// is measured is no less.
func TestDelayIsWaitedOut(t *testing.T) {
	for _, delay := range []time.Duration{100 * time.Microsecond, 3 * time.Millisecond} {
		r := newReader(t, Options{Delay: delay}, 0)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.in.Run(ctx) }()
		r.subscribe(feed.Subscribe{Symbols: []string{"A"}})
		r.takes("subscribed")
		const ticks = 20
		r.publish(feed.OriginSchedule, strings.Repeat("A", ticks))
		last := uint64(0)
		for last < ticks {
			<-r.queue.Ready()
			if err := r.queue.Take(&r.batch, 3); err != nil {
				t.Fatal(err)
			}
			for _, f := range r.batch.Frames {
				if late := feed.Now() - f.Tick.PublishNS; late < int64(delay) || f.Tick.Seq != last+1 {
					t.Errorf("tick %d after %d ns, want the one after %d and %s", f.Tick.Seq, late, last, delay)
				}
				last = f.Tick.Seq
			}
		}
		w, err := r.in.Window(0, 1<<62)
		if err != nil || w.Delayed != ticks || len(w.DelaysNS) != ticks {
			t.Errorf("%+v, %v", w, err)
		}
		for _, ns := range w.DelaysNS {
			if ns < int64(delay) {
				t.Errorf("a delay of %d ns, want %s or more", ns, delay)
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
