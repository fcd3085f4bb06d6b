package measure

import (
	"math"
	"runtime/metrics"
	"slices"
	"testing"
)

// pausesAt is a histogram of pauses in buckets up to 10 µs, 100 µs and beyond.
func pausesAt(counts ...uint64) *metrics.Float64Histogram {
	return &metrics.Float64Histogram{Counts: counts, Buckets: []float64{0, 10e-6, 100e-6, math.Inf(1)}}
}

func TestPausesOfAWindow(t *testing.T) {
	var p pauseLog
	p.add(100, pausesAt(5, 5, 5)) // what was before is nobody's
	p.add(200, pausesAt(7, 5, 5))
	p.add(300, pausesAt(7, 5, 5))
	p.add(400, pausesAt(7, 6, 6))
	for _, c := range []struct {
		from, to   int64
		count, max int64
	}{
		{0, 1000, 4, 100_000}, {100, 200, 2, 10_000}, {200, 300, 0, 0}, {200, 400, 2, 100_000}, {400, 500, 0, 0},
	} {
		got := p.window(c.from, c.to)
		if got == nil || got.Count != c.count || got.Max > c.max+c.max/1000 || got.Max < c.max {
			t.Errorf("(%d, %d]: %+v, want %d of at most %d ns", c.from, c.to, got, c.count, c.max)
		}
	}
}

func TestPausesAreBounded(t *testing.T) {
	var p pauseLog
	counts := []uint64{0, 0, 0}
	const readings = 2*mostPauses + 10
	for i := range int64(readings) {
		counts[0]++
		p.add(i, pausesAt(slices.Clone(counts)...))
	}
	if len(p.log) > mostPauses || len(p.log) < mostPauses/2 {
		t.Fatalf("%d are kept", len(p.log))
	}
	if got := p.window(0, readings); got != nil {
		t.Errorf("%+v of a window that is partly forgotten", got)
	}
	if got := p.window(readings-101, readings); got == nil || got.Count != 100 {
		t.Errorf("the last 100 are %+v", got)
	}
}

// Every name must be one that this Go has, with the kind that is read.
func TestGoMetricsExist(t *testing.T) {
	var g goMetrics
	r := g.read()
	if r.heap <= 0 || r.goroutines <= 0 || r.pauses == nil || r.gcCPUNS < 0 || r.busyCPUNS < 0 {
		t.Errorf("reading %+v", r)
	}
	for _, s := range g.samples {
		if s.Value.Kind() == metrics.KindBad {
			t.Errorf("no metric %s", s.Name)
		}
	}
}
