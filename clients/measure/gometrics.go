package measure

import (
	"math"
	"runtime/metrics"
	"slices"
)

// The figures that goMetrics reads, see go doc runtime/metrics.
const (
	metricGCCPU = iota
	metricTotalCPU
	metricIdleCPU
	metricCycles
	metricHeap
	metricGoroutines
	metricPauses
	metricsRead
)

// goMetrics reads the Go runtime's account of itself. The zero value is ready; one
// goroutine may use it at a time.
type goMetrics struct{ samples []metrics.Sample }

// goReading is one reading. CPU is what the runtime estimates, wall time of its
// processors, brought up to date at the end of each collection.
type goReading struct {
	gcCPUNS, busyCPUNS int64 // of collections; of all but idle time
	cycles             int64 // collections
	heap, goroutines   int64
	pauses             *metrics.Float64Histogram // valid until the next reading
}

func (g *goMetrics) read() goReading {
	if g.samples == nil {
		g.samples = make([]metrics.Sample, metricsRead)
		for i, name := range [metricsRead]string{
			metricGCCPU:      "/cpu/classes/gc/total:cpu-seconds",
			metricTotalCPU:   "/cpu/classes/total:cpu-seconds",
			metricIdleCPU:    "/cpu/classes/idle:cpu-seconds",
			metricCycles:     "/gc/cycles/total:gc-cycles",
			metricHeap:       "/memory/classes/heap/objects:bytes",
			metricGoroutines: "/sched/goroutines:goroutines",
			metricPauses:     "/sched/pauses/total/gc:seconds",
		} {
			g.samples[i].Name = name
		}
	}
	metrics.Read(g.samples)
	ns := func(i int) int64 { return int64(g.samples[i].Value.Float64() * 1e9) }
	count := func(i int) int64 { return int64(g.samples[i].Value.Uint64()) }
	return goReading{
		gcCPUNS: ns(metricGCCPU), busyCPUNS: ns(metricTotalCPU) - ns(metricIdleCPU),
		cycles: count(metricCycles), heap: count(metricHeap), goroutines: count(metricGoroutines),
		pauses: g.samples[metricPauses].Value.Float64Histogram(),
	}
}

// mostPauses is how many entries a pauseLog keeps: about an hour of ten collections a
// second. Older ones go.
const mostPauses = 1 << 16

// pauseLog keeps the pauses of collections with the time of the reading that first
// had them, so that a window's can be told. It is used with the Meter's lock held.
type pauseLog struct {
	before    []uint64 // the histogram's counts at the last reading
	log       []pause
	forgotten int64 // the time of the newest entry that went; 0: all are there
}

type pause struct {
	atNS, longestNS int64 // the upper edge of the histogram's bucket
	n               int64
}

func (p *pauseLog) add(atNS int64, h *metrics.Float64Histogram) {
	if p.before == nil {
		p.before = slices.Clone(h.Counts)
		return
	}
	for i, n := range h.Counts {
		if n == p.before[i] {
			continue
		}
		edge := h.Buckets[i+1]
		if math.IsInf(edge, 1) {
			edge = h.Buckets[i]
		}
		p.log = append(p.log, pause{atNS, int64(math.Round(edge * 1e9)), int64(n - p.before[i])})
		p.before[i] = n
	}
	if over := len(p.log) - mostPauses; over > 0 {
		over = max(over, mostPauses/4) // move the rest seldom
		p.forgotten = p.log[over-1].atNS
		p.log = slices.Delete(p.log, 0, over)
	}
}

// window returns the pauses of (fromNS, toNS], nil where some of them are forgotten.
func (p *pauseLog) window(fromNS, toNS int64) *Pauses {
	if p.forgotten > fromNS {
		return nil
	}
	h := NewHistogram()
	for _, e := range p.log {
		if e.atNS > fromNS && e.atNS <= toNS {
			h.RecordN(e.longestNS, e.n)
		}
	}
	out := &Pauses{Count: h.Count()}
	if q := h.Quantiles(); q != nil {
		out.Quantiles = *q
	}
	return out
}
