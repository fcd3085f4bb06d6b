package measure

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func TestHistogramCountsWhatItCannotHold(t *testing.T) {
	for _, c := range []struct {
		name               string
		values             []int64
		count              int64
		negative, smallest int64
		fault              string
		p50, maximum, mean int64
	}{
		{name: "nothing"},
		{name: "zero", values: []int64{0}, count: 1},
		{name: "negative values stand apart", values: []int64{-5, 7, -300, -1}, count: 1, negative: 3, smallest: -300, p50: 7, maximum: 7, mean: 7},
		{name: "nothing but negative values", values: []int64{-1}, negative: 1, smallest: -1},
		{name: "too long", values: []int64{5, int64(time.Hour)}, count: 1, p50: 5, maximum: 5, mean: 5, fault: "1 values beyond 5m0s, 0 lost in merging"},
		{name: "the longest", values: []int64{longestLatency}, count: 1, p50: longestLatency, maximum: longestLatency, mean: longestLatency},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, merged := range []bool{false, true} {
				h := NewHistogram()
				for _, v := range c.values {
					h.Record(v)
				}
				if merged { // twice, into one that has something refused already
					all := NewHistogram()
					all.Record(-2)
					all.Merge(h)
					h, c.negative, c.smallest = all, c.negative+1, min(c.smallest, -2)
				}
				if h.Count() != c.count || h.Fault() != c.fault {
					t.Errorf("merged %t: count %d, fault %q; want %d, %q", merged, h.Count(), h.Fault(), c.count, c.fault)
				}
				if n, smallest := h.Negative(); n != c.negative || smallest != c.smallest {
					t.Errorf("merged %t: %d negative, the smallest %d; want %d, %d", merged, n, smallest, c.negative, c.smallest)
				}
				q := h.Quantiles()
				if (q == nil) != (c.count == 0) {
					t.Fatalf("merged %t: quantiles %+v of %d values", merged, q, c.count)
				}
				if q != nil && (!near(q.P50, c.p50, 0.001) || !near(q.Max, c.maximum, 0.001) || !near(q.Mean, c.mean, 0.001)) {
					t.Errorf("merged %t: %+v, want p50 %d, max %d, mean %d", merged, q, c.p50, c.maximum, c.mean)
				}
			}
		})
	}
}

// A histogram of another build may hold what this one cannot.
func TestHistogramMergeTellsLoss(t *testing.T) {
	wide, h := NewHistogram(), NewHistogram()
	wide.hdr = hdrhistogram.New(1, int64(48*time.Hour), 3)
	wide.Record(int64(24 * time.Hour))
	wide.Record(1000)
	h.Merge(wide)
	if h.Count() != 1 || !strings.HasSuffix(h.Fault(), " 1 lost in merging") {
		t.Errorf("count %d, fault %q; want the one value and the loss of the other", h.Count(), h.Fault())
	}
	again := NewHistogram()
	again.Merge(h) // the loss is told on
	if again.Fault() != h.Fault() {
		t.Errorf("fault %q after another merge, want %q", again.Fault(), h.Fault())
	}
}

func TestQuantilesAreExactToThreeDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	shapes := map[string]func() int64{
		"uniform":     func() int64 { return rng.Int64N(int64(time.Second)) },
		"exponential": func() int64 { return int64(rng.ExpFloat64() * float64(80*time.Microsecond)) },
		"two modes": func() int64 {
			if rng.IntN(50) == 0 {
				return int64(2*time.Second) + rng.Int64N(1e9)
			}
			return 40_000 + rng.Int64N(20_000)
		},
	}
	for name, draw := range shapes {
		h := NewHistogram()
		values := make([]int64, 20_000)
		var sum float64
		for i := range values {
			values[i] = draw()
			sum += float64(values[i])
			h.Record(values[i])
		}
		slices.Sort(values)
		at := func(share float64) int64 { return values[int(share*float64(len(values)))-1] }
		q := h.Quantiles()
		for _, c := range []struct {
			what      string
			got, want int64
		}{
			{"p50", q.P50, at(0.5)}, {"p90", q.P90, at(0.9)}, {"p99", q.P99, at(0.99)}, {"p99.9", q.P999, at(0.999)},
			{"max", q.Max, values[len(values)-1]}, {"mean", q.Mean, int64(sum / float64(len(values)))},
		} {
			if !near(c.got, c.want, 0.001) {
				t.Errorf("%s: %s is %d, want %d", name, c.what, c.got, c.want)
			}
		}
	}
}

func TestRecordN(t *testing.T) {
	one, many := NewHistogram(), NewHistogram()
	for _, v := range []int64{-3, 40, 5000, int64(time.Hour)} {
		one.RecordN(v, 3)
		for range 3 {
			many.Record(v)
		}
	}
	n, smallest := one.Negative()
	if !one.hdr.Equals(many.hdr) || n != many.negative || smallest != many.min || one.Fault() != many.Fault() {
		t.Errorf("recorded three at a time %+v, one at a time %+v", one.Quantiles(), many.Quantiles())
	}
}
