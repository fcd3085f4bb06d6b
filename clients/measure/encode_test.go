package measure

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// TestEncodeRoundTrip: no recorded value is lost on the way to results.json and
// back.
func TestEncodeRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name   string
		record func(h *Histogram)
	}{
		{"one", func(h *Histogram) { h.Record(123_456) }},
		{"zero", func(h *Histogram) { h.Record(0) }},
		{"the longest", func(h *Histogram) { h.Record(longestLatency) }},
		{"many of one", func(h *Histogram) { h.RecordN(7_000, 1<<40) }},
		{"ten thousand of all sizes", func(h *Histogram) {
			for range 10_000 {
				h.Record(random.Int64N(1 << random.IntN(38)))
			}
		}},
		{"beside refused ones", func(h *Histogram) { h.Record(5); h.Record(-1); h.Record(2 * longestLatency) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := NewHistogram()
			c.record(h)
			got, err := DecodeHistogram(h.Encode())
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equals(h.hdr) || got.TotalCount() != h.Count() || got.Max() != h.hdr.Max() || got.Min() != h.hdr.Min() {
				t.Errorf("came back with %d values from %d to %d, want %d from %d to %d", got.TotalCount(), got.Min(), got.Max(), h.Count(), h.hdr.Min(), h.hdr.Max())
			}
			for _, p := range []float64{0, 50, 99, 99.99, 100} {
				if got.ValueAtPercentile(p) != h.hdr.ValueAtPercentile(p) {
					t.Errorf("p%v is %d, want %d", p, got.ValueAtPercentile(p), h.hdr.ValueAtPercentile(p))
				}
			}
		})
	}
}

func TestEncodeNothing(t *testing.T) {
	h := NewHistogram()
	h.Record(-1)
	if s := h.Encode(); s != "" {
		t.Errorf("nothing is %q", s)
	}
}

func TestDecodeHistogramRefusesDamage(t *testing.T) {
	h := NewHistogram()
	h.Record(1000)
	whole := h.Encode()
	for _, s := range []string{"", "HIST", "no base64!", whole[:len(whole)-8], "AAAA" + whole[4:]} {
		if _, err := DecodeHistogram(s); err == nil || !strings.HasPrefix(err.Error(), "decode a histogram: ") {
			t.Errorf("%q: error %v", s, err)
		}
	}
}

// FuzzDecodeHistogram: what stands in a file of unknown origin ends no program.
func FuzzDecodeHistogram(f *testing.F) {
	h := NewHistogram()
	h.Record(1000)
	f.Add(h.Encode())
	f.Add("")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := DecodeHistogram(s); err == nil && h.TotalCount() < 0 {
			t.Errorf("%d values", h.TotalCount())
		}
	})
}

// TestRunsKeepTheirHistogram: the run of a fleet and the run of a trader.
func TestRunsKeepTheirHistogram(t *testing.T) {
	d := goodRun().d
	var r Run
	r.Fill(&d)
	h, err := DecodeHistogram(r.LatencyHDR)
	if err != nil || h.TotalCount() != d.Latency.Count() || h.ValueAtPercentile(99) != r.Latency.P99 {
		t.Errorf("a run's histogram %q: %v", r.LatencyHDR, err)
	}
	d.ForeignClock = 1
	r = Run{}
	if r.Fill(&d); r.LatencyHDR != "" {
		t.Error("stamps of two clocks made a histogram")
	}

	var o Orders
	o.Finish(recordOrders(300, orderMS), Process{}, OrderEvidence{})
	if h, err := DecodeHistogram(o.LatencyHDR); err != nil || h.TotalCount() != o.Acked || h.Max() != o.Latency.Max {
		t.Errorf("a trader's histogram %q: %v", o.LatencyHDR, err)
	}
	if m := MedianOrders([]*Orders{&o, &o}); m.LatencyHDR != "" || m.Started != "" {
		t.Errorf("medians have the start %q and the histogram %q of a run", m.Started, m.LatencyHDR)
	}
	var none Orders
	if none.Finish(recordOrders(0, 0), Process{}, OrderEvidence{}); none.LatencyHDR != "" {
		t.Errorf("no order left a histogram %q", none.LatencyHDR)
	}
}

func TestStarted(t *testing.T) {
	before := time.Now()
	at, err := time.Parse(time.RFC3339, Started(feed.Now()))
	if after := time.Now(); err != nil || at.Before(before.Add(-time.Minute)) || at.After(after.Add(time.Minute)) {
		t.Errorf("%v, %v; want about %v", at, err, before)
	}
	if s := Started(0); s != "" {
		t.Errorf("a window that never was started at %q", s)
	}
}
