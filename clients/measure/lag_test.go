package measure

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

func TestLagOf(t *testing.T) {
	for _, c := range []struct {
		name     string
		lags     []int64
		thirds   [3]int64
		p50, max int64
		rises    bool
	}{
		{"one", []int64{500}, [3]int64{500, 0, 0}, 500, 500, false},
		{"two", []int64{500, 700}, [3]int64{500, 700, 0}, 500, 700, false},
		{"even", []int64{1, 3, 10, 20, 100, 300}, [3]int64{2, 15, 200}, 10, 300, false},
		{"the rest goes to the first thirds", []int64{2, 4, 6, 8, 10, 12, 14}, [3]int64{4, 9, 13}, 8, 14, false},
		{"rising", []int64{ms, ms, ms, ms, 3 * ms, 3 * ms}, [3]int64{ms, ms, 3 * ms}, ms, 3 * ms, true},
		{"twice as late is not yet rising", []int64{ms, ms, 2 * ms}, [3]int64{ms, ms, 2 * ms}, ms, 2 * ms, false},
		{"rising from one to the next is not enough", []int64{2 * ms, 6 * ms, 7 * ms}, [3]int64{2 * ms, 6 * ms, 7 * ms}, 6 * ms, 7 * ms, false},
		{"rising below the noise", []int64{1, 1, ms}, [3]int64{1, 1, ms}, 1, ms, false},
		{"falling", []int64{9 * ms, 3 * ms, ms}, [3]int64{9 * ms, 3 * ms, ms}, 3 * ms, 9 * ms, false},
		{"too early is not late", []int64{-400, -400, 200}, [3]int64{-400, -400, 200}, 0, 200, false},
		{"longer than a histogram holds", []int64{int64(time.Hour)}, [3]int64{int64(time.Hour), 0, 0}, longestLatency, longestLatency, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := LagOf(c.lags)
			if l.MeanByThird != c.thirds || !near(l.P50, c.p50, 0.001) || !near(l.Max, c.max, 0.001) {
				t.Errorf("lag %+v, want thirds %v, p50 %d, max %d", l, c.thirds, c.p50, c.max)
			}
			if l.rises() != c.rises {
				t.Errorf("rises %t, want %t", l.rises(), c.rises)
			}
		})
	}
	if l := LagOf(nil); l != nil || l.rises() {
		t.Errorf("lag of nothing is %+v, want nil", l)
	}
}

func TestProbe(t *testing.T) {
	start := feed.Now()
	p := NewProbe(start, start+int64(4*probeInterval-probeInterval/2))
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	end := feed.Now()
	if len(p.deadlines) != 4 {
		t.Fatalf("%d times to wake, want one in each of four intervals", len(p.deadlines))
	}
	for i, at := range p.deadlines {
		from := start + int64(i)*int64(probeInterval)
		if to := min(from+int64(probeInterval), start+int64(4*probeInterval-probeInterval/2)); at < from || at >= to {
			t.Errorf("time %d is %d ns after the start, want it in its interval and the window", i, at-start)
		}
		if woken := p.woken[i].Load(); woken < at || woken > end {
			t.Errorf("awake %d ns after time %d", woken-at, i)
		}
	}
	if l := p.Lag(); l == nil || l.Max > end-start {
		t.Errorf("lag %+v in a run of %d ns", l, end-start)
	}
}

// A process that does not get to run is as late as it is, and catches up.
func TestProbeTellsLateness(t *testing.T) {
	const late = int64(time.Second)
	to := feed.Now() - late
	p := NewProbe(to-int64(3*probeInterval), to)
	if err := p.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if l := p.Lag(); l.P50 < late || l.MeanByThird[0] <= l.MeanByThird[2] {
		t.Errorf("lag %+v, want over a second, the earliest the longest", l)
	}
}

func TestProbeStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	now := feed.Now()
	p := NewProbe(now, now+int64(time.Hour))
	if err := p.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returned %v, want that it was canceled", err)
	}
	if l := p.Lag(); l != nil {
		t.Errorf("lag %+v of a probe that never ran", l)
	}
}
