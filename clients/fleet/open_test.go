package fleet

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

var errRefused = errors.New("too many streams")

func TestOpenFailureTellsHowManyAreOpen(t *testing.T) {
	v := newVenue(t, 1)
	var others sync.WaitGroup
	others.Add(7)
	f := newFleet(t, v, 8, Options{Connections: 2})
	v.open = func(_ context.Context, stream int) error {
		if stream != 3 {
			return nil
		}
		others.Wait() // the report below sees them open
		return errRefused
	}
	f.opts.Report, f.opts.ReportEvery = reportOpen(&others), time.Millisecond
	_, err := f.Run(t.Context(), nil)
	if want := "7 of 8 streams open: too many streams"; !errors.Is(err, errRefused) || text(err) != want {
		t.Errorf("error %v, want %q", err, want)
	}
	if len(v.streams) != 0 {
		t.Errorf("%d streams are left open", len(v.streams))
	}
}

// reportOpen counts the streams down that are open.
func reportOpen(left *sync.WaitGroup) func(Status) {
	told := 0
	return func(s Status) {
		for ; told < s.Open; told++ {
			left.Done()
		}
	}
}

func TestDialFailure(t *testing.T) {
	v := newVenue(t, 1)
	var mu sync.Mutex
	dials := map[int]int{}
	v.dial = func(_ context.Context, conn int) error {
		mu.Lock()
		defer mu.Unlock()
		dials[conn]++
		return errRefused
	}
	_, err := newFleet(t, v, 12, Options{Connections: 3}).Run(t.Context(), nil)
	if want := "0 of 12 streams open: too many streams"; text(err) != want {
		t.Errorf("error %v, want %q", err, want)
	}
	for conn, n := range dials {
		if n != 1 {
			t.Errorf("connection %d was dialled %d times", conn, n)
		}
	}
}

// A stream that is refused after its hello has not opened.
func TestSubscribeRefused(t *testing.T) {
	v := newVenue(t, 1)
	unknown := &feed.Problem{Code: feed.CodeUnknownSymbol, Message: "no symbol SYM001"}
	v.answer = func(int) error { return unknown }
	_, err := newFleet(t, v, 1, Options{}).Run(t.Context(), nil)
	if want := "0 of 1 streams open: UNKNOWN_SYMBOL: no symbol SYM001"; text(err) != want || !errors.Is(err, unknown) {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestOpenTimeout(t *testing.T) {
	for _, c := range []struct {
		name string
		hang func(v *venue, until func(context.Context, int) error)
	}{
		{"the stream", func(v *venue, until func(context.Context, int) error) { v.open = until }},
		{"the connection", func(v *venue, until func(context.Context, int) error) { v.dial = until }},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVenue(t, 1)
			c.hang(v, func(ctx context.Context, _ int) error {
				<-ctx.Done()
				return ctx.Err()
			})
			_, err := newFleet(t, v, 1, Options{OpenTimeout: time.Millisecond}).Run(t.Context(), nil)
			if want := "0 of 1 streams open: stream 0 did not open within 1ms"; text(err) != want {
				t.Errorf("error %v, want %q", err, want)
			}
		})
	}
}

func TestRamp(t *testing.T) {
	const rate, streams = 200, 9 // 5 ms apart
	v := newVenue(t, 1)
	var mu sync.Mutex
	opened := make([]int64, streams)
	v.open = func(_ context.Context, stream int) error {
		mu.Lock()
		defer mu.Unlock()
		opened[stream] = feed.Now()
		return nil
	}
	f := newFleet(t, v, streams, Options{Ramp: rate})
	began := feed.Now()
	if err := f.openAll(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	f.closeAll()
	for i, at := range opened {
		if earliest := began + int64(i)*int64(time.Second)/rate; at < earliest {
			t.Errorf("stream %d opened %d ns before its turn", i, earliest-at)
		}
	}
}

func TestInterruptWhileOpening(t *testing.T) {
	for _, c := range []struct {
		name    string
		opts    Options
		hanging int // streams that hang; the fleet has 4
		open    int
	}{
		{"streams hang", Options{OpenTimeout: forever}, 4, 0},
		{"the ramp is slow", Options{Ramp: 0.001}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVenue(t, 1)
			interrupt := make(chan struct{})
			var busy sync.WaitGroup
			busy.Add(max(c.hanging, 1))
			v.open = func(ctx context.Context, _ int) error {
				busy.Done()
				if c.hanging == 0 {
					return nil
				}
				<-ctx.Done()
				return ctx.Err()
			}
			go func() { busy.Wait(); close(interrupt) }()
			_, err := newFleet(t, v, 4, c.opts).Run(t.Context(), interrupt)
			if !errors.Is(err, ErrInterrupted) {
				t.Errorf("error %v, want that it was interrupted", err)
			}
			if len(v.streams) != 0 {
				t.Errorf("%d streams are left open", len(v.streams))
			}
		})
	}
}

func TestGivesUpWhenTheContextIsDone(t *testing.T) {
	errTwice := errors.New("interrupted twice")
	for _, c := range []struct {
		phase string
		opts  Options
	}{
		{"opening", Options{Ramp: 0.001}},
		{"warming up", Options{Warmup: forever}},
		{"measuring", Options{Duration: forever}},
		{"waiting for late ticks", Options{Duration: someTime / 10}},
	} {
		t.Run(c.phase, func(t *testing.T) {
			t.Parallel()
			v := newVenue(t, 1)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			c.opts.ReportEvery, c.opts.Report = time.Millisecond, during(c.phase, func() { cancel(errTwice) })
			c.opts.Control = v.control(t)
			v.deliver = func(int, uint64) bool { return c.phase != "waiting for late ticks" }
			run, err := newFleet(t, v, 3, c.opts).Run(ctx, nil)
			if !errors.Is(err, errTwice) || run != nil {
				t.Errorf("run %+v, error %v; want that it gave up for its cause", run, err)
			}
			if len(v.streams) != 0 {
				t.Errorf("%d streams are left open", len(v.streams))
			}
		})
	}
}
