package fleet

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

var errCut = errors.New("connection reset by peer")

func TestInterruptWhileMeasuring(t *testing.T) {
	t.Parallel()
	for _, controlled := range []bool{true, false} {
		v := newVenue(t, 3)
		v.ledger = func() error { // the source goes on, and what it publishes now does not count
			v.mu.Lock()
			defer v.mu.Unlock()
			for n := len(v.schedule) + 20; len(v.schedule) < n; {
				v.advanced.Wait()
			}
			return nil
		}
		opts := Options{Duration: forever, ReportEvery: time.Millisecond}
		if controlled {
			opts.Control = v.control(t)
		} else {
			v.run(feed.Now(), 0)
		}
		interrupt := make(chan struct{})
		opts.Report = during("measuring", func() { close(interrupt) })
		run, err := newFleet(t, v, 6, opts).Run(t.Context(), interrupt)
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"interrupted before the end of the window"}; !run.Interrupted || run.Valid || !slices.Equal(reasons(run), want) {
			t.Errorf("interrupted %t, valid %t, reasons %q; want %q", run.Interrupted, run.Valid, run.Reasons, want)
		}
		if run.DurationNS <= 0 || run.DurationNS >= int64(forever) || run.Received == 0 || run.Received != run.Due {
			t.Errorf("duration %d, due %d, received %d; want what came until then", run.DurationNS, run.Due, run.Received)
		}
	}
}

func TestInterruptBeforeTheWindow(t *testing.T) {
	v := newVenue(t, 1)
	interrupt := make(chan struct{})
	f := newFleet(t, v, 2, Options{Warmup: forever, Control: v.control(t), ReportEvery: time.Millisecond,
		Report: during("warming up", func() { close(interrupt) })})
	run, err := f.Run(t.Context(), interrupt)
	if !errors.Is(err, ErrInterrupted) || run != nil {
		t.Errorf("run %+v, error %v; want that it was interrupted", run, err)
	}
}

func TestBrokenStreamsMakeARunInvalid(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 2)
	v.cut = func(stream int, seq uint64) error {
		if seq == 20 && (stream == 1 || stream == 4) {
			return errCut
		}
		return nil
	}
	run, err := newFleet(t, v, 6, Options{Duration: someTime, Control: v.control(t)}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Valid || run.Interrupted || run.StreamsBroken != 2 || run.DurationNS != int64(someTime) {
		t.Errorf("valid %t, interrupted %t, %d broken, %d ns; want the whole window with two broken", run.Valid, run.Interrupted, run.StreamsBroken, run.DurationNS)
	}
	if why := reasons(run); len(why) != 2 || why[0] != "2 streams broke: connection reset by peer" || !strings.HasSuffix(why[1], "are missing without a word") {
		t.Errorf("reasons %q, want what is missing, and why", why)
	}
	each := int64(someTime/v.every) / 2
	if run.Due != 6*each || run.Received != 4*each+2*19 || run.Missed != run.Due-run.Received {
		t.Errorf("due %d, received %d, missed %d; want %d each, of which two streams received 19", run.Due, run.Received, run.Missed, each)
	}
}

func TestEndsWhenEveryStreamIsBroken(t *testing.T) {
	t.Parallel()
	v := newVenue(t, 1)
	v.cut = func(stream int, seq uint64) error {
		if seq == uint64(10+stream) {
			return errCut
		}
		return nil
	}
	run, err := newFleet(t, v, 5, Options{Duration: forever, Control: v.control(t)}).Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Valid || run.Interrupted || run.StreamsBroken != 5 || run.DurationNS >= int64(forever) || run.Received != 9+10+11+12+13 {
		t.Errorf("run %+v; want an early end with five broken", run)
	}
	if !slices.Contains(run.Reasons, "5 streams broke: connection reset by peer") {
		t.Errorf("reasons %q, want that five broke", run.Reasons)
	}
}

func TestEveryStreamBrokenBeforeTheWindow(t *testing.T) {
	v := newVenue(t, 1)
	f := newFleet(t, v, 2, Options{Warmup: forever, ReportEvery: time.Millisecond, Report: during("warming up", func() {
		v.breakStream(0, errCut)
		v.breakStream(1, errCut)
	})})
	run, err := f.Run(t.Context(), nil)
	if want := "all 2 streams broke before the window: connection reset by peer"; text(err) != want || !errors.Is(err, errCut) || run != nil {
		t.Errorf("run %+v, error %v; want %q", run, err, want)
	}
}
