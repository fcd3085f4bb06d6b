// Package measure keeps the account of what subscribers received: latencies,
// sequences, and what it cost. It knows no transport.
package measure

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longestLatency is the largest value a histogram holds; what is longer is
// counted as such and makes the run's reasons.
const longestLatency = int64(5 * time.Minute)

// Histogram records durations in ns at three significant digits. One goroutine
// may use it at a time.
type Histogram struct {
	hdr      *hdrhistogram.Histogram
	negative int64 // values below zero, which HdrHistogram refuses
	min      int64 // the smallest of them
	tooLong  int64 // values beyond longestLatency
	lost     int64 // values that a merge dropped
}

// NewHistogram returns an empty histogram of about 230 KB.
func NewHistogram() *Histogram {
	return &Histogram{hdr: hdrhistogram.New(1, longestLatency, 3)}
}

// Record adds a duration in ns. It does not allocate.
func (h *Histogram) Record(ns int64) { h.RecordN(ns, 1) }

// RecordN adds a duration in ns n times.
func (h *Histogram) RecordN(ns, n int64) {
	if ns < 0 {
		h.negative += n
		h.min = min(h.min, ns)
		return
	}
	if h.hdr.RecordValues(ns, n) != nil {
		h.tooLong += n
	}
}

// Merge adds what o has recorded.
func (h *Histogram) Merge(o *Histogram) {
	h.lost += h.hdr.Merge(o.hdr) + o.lost
	h.negative += o.negative
	h.min = min(h.min, o.min)
	h.tooLong += o.tooLong
}

// Count returns how many values were recorded, the refused ones aside.
func (h *Histogram) Count() int64 { return h.hdr.TotalCount() }

// Negative returns how many values were below zero, and the smallest.
func (h *Histogram) Negative() (count, smallest int64) { return h.negative, h.min }

// Quantiles returns the figures of the recorded values, nil where there are none.
func (h *Histogram) Quantiles() *Quantiles {
	if h.Count() == 0 {
		return nil
	}
	q := h.hdr.ValueAtPercentiles([]float64{50, 90, 99, 99.9})
	return &Quantiles{
		P50: q[50], P90: q[90], P99: q[99], P999: q[99.9],
		Max: h.hdr.Max(), Mean: int64(h.hdr.Mean()),
	}
}

// Fault says what the histogram could not record, empty where nothing.
func (h *Histogram) Fault() string {
	if h.tooLong == 0 && h.lost == 0 {
		return ""
	}
	return fmt.Sprintf("%d values beyond %s, %d lost in merging", h.tooLong, time.Duration(longestLatency), h.lost)
}

// Quantiles are the figures of a distribution in ns. Values are exact to three
// significant digits.
type Quantiles struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p999"`
	Max  int64 `json:"max"`
	Mean int64 `json:"mean"`
}
