package measure

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tickgauge/tickgauge/feed"
)

// tally sums what the streams of a shard saw in the window.
type tally struct {
	received, conflated, dropped    int64
	duplicated, reordered, problems int64
	foreignClock                    int64

	latency    *Histogram // received - due
	decoded    *Histogram // decoded - due
	lag        *Histogram // publish - due
	charged    *Histogram // of conflated ticks: successor's receipt - own due
	connect    *Histogram // opening to hello
	firstTick  *Histogram // opening to the first snapshot or tick
	soFar      *hdrhistogram.Histogram
	thirdSum   [3]int64 // latency by third of the window
	thirdCount [3]int64
}

func newTally() tally {
	return tally{
		latency: NewHistogram(), decoded: NewHistogram(), lag: NewHistogram(), charged: NewHistogram(),
		connect: NewHistogram(), firstTick: NewHistogram(),
		// Coarse, so that looking at it during the run holds the lock for microseconds.
		soFar: hdrhistogram.New(1, longestLatency, 1),
	}
}

func (t *tally) record(tick *feed.Tick, receivedNS, decodedNS, fromNS, toNS int64) {
	latency := receivedNS - tick.DueNS
	t.received++
	t.latency.Record(latency)
	t.decoded.Record(decodedNS - tick.DueNS)
	t.lag.Record(tick.PublishNS - tick.DueNS)
	_ = t.soFar.RecordValue(max(latency, 0)) // progress only; the exact one counts what it refuses
	third := min(3*(tick.DueNS-fromNS)/max(toNS-fromNS, 1), 2)
	t.thirdSum[third] += latency
	t.thirdCount[third]++
}

// settle counts the skips that a newly received tick, due at dueNS, brings to an
// end. Those wholly in the window are counted; those across an edge wait for the
// window's sequences. A skipped tick's own due is known for the first of a span
// and interpolated for the others.
func (t *tally) settle(a *account, dueNS, receivedNS, fromNS, toNS int64) {
	before := a.lastDueNS
	for _, s := range a.skips {
		first := s.firstDueNS
		if first == 0 {
			first = before
		}
		n := s.len()
		for k := range min(n, 10_000) { // a gap may span a whole night
			due := first + (dueNS-first)/n*k
			if due >= fromNS && due < toNS && first != 0 {
				t.charged.Record(receivedNS - due)
			}
		}
		switch {
		case before >= fromNS && before != 0 && dueNS < toNS:
			t.count(s.reason, n)
		case dueNS < fromNS || before >= toNS:
		default:
			a.edge = append(a.edge, s)
		}
	}
	a.skips = a.skips[:0]
}

func (t *tally) count(reason feed.SkipReason, n int64) {
	switch reason {
	case feed.SkipConflated:
		t.conflated += n
	case feed.SkipNone: // silent: shows as missed
	default:
		t.dropped += n
	}
}

func (t *tally) merge(o *tally) {
	t.received += o.received
	t.conflated += o.conflated
	t.dropped += o.dropped
	t.duplicated += o.duplicated
	t.reordered += o.reordered
	t.problems += o.problems
	t.foreignClock += o.foreignClock
	t.latency.Merge(o.latency)
	t.decoded.Merge(o.decoded)
	t.lag.Merge(o.lag)
	t.charged.Merge(o.charged)
	t.connect.Merge(o.connect)
	t.firstTick.Merge(o.firstTick)
	for i := range t.thirdSum {
		t.thirdSum[i] += o.thirdSum[i]
		t.thirdCount[i] += o.thirdCount[i]
	}
}

// Progress is what a run has seen so far, in its window.
type Progress struct {
	Received int64
	P50, P99 int64 // latency in ns, to one digit
}

// Progress looks at the running figures; any goroutine may call it.
func (r *Recorder) Progress() Progress {
	var p Progress
	all := hdrhistogram.New(1, longestLatency, 1)
	for _, s := range r.shards {
		s.mu.Lock()
		p.Received += s.received
		all.Merge(s.soFar)
		s.mu.Unlock()
	}
	p.P50, p.P99 = all.ValueAtPercentile(50), all.ValueAtPercentile(99)
	return p
}
