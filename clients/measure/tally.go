package measure

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tickgauge/tickgauge/feed"
)

// tally sums what the streams of a shard saw in the window.
type tally struct {
	received, duplicated, reordered int64
	stray, problems, foreignClock   int64

	latency    *Histogram // received - due
	decoded    *Histogram // decoded - due
	lag        *Histogram // publish - due
	charged    *Histogram // of conflated ticks: successor's receipt - own due
	connect    *Histogram // opening to hello
	firstTick  *Histogram // opening to the first snapshot or tick
	spread     *Histogram // of ticks: first receipt to last
	soFar      *hdrhistogram.Histogram
	thirdSum   [3]int64 // latency by third of the window
	thirdCount [3]int64
}

func newTally() tally {
	return tally{
		latency: NewHistogram(), decoded: NewHistogram(), lag: NewHistogram(), charged: NewHistogram(),
		connect: NewHistogram(), firstTick: NewHistogram(), spread: NewHistogram(),
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

// chargedSteps is how many values stand for the ticks of one span: a gap may
// cover a whole night.
const chargedSteps = 10_000

// settle counts the skips that a newly received tick brings to an end. Those
// wholly in the window are counted; those across an edge wait for the window's
// sequences. A skipped tick's own due is known for the first of a span where the
// exchange told it, and interpolated over the sequence for the others.
func (t *tally) settle(a *account, seq uint64, dueNS, receivedNS, fromNS, toNS int64) {
	before := a.lastDueNS
	endSeq, endDue := seq, dueNS
	for _, s := range slices.Backward(a.skips) {
		startSeq, startDue := s.from, s.firstDueNS
		if startDue == 0 {
			startSeq, startDue = s.from-1, before
		}
		if startDue != 0 {
			slope := float64(endDue-startDue) / float64(endSeq-startSeq)
			steps := min(s.len(), chargedSteps)
			for k := range steps {
				first, next := k*s.len()/steps, (k+1)*s.len()/steps
				due := startDue + int64(slope*float64(s.from-startSeq+uint64(first)))
				if due >= fromNS && due < toNS {
					t.charged.RecordN(receivedNS-due, next-first)
				}
			}
		}
		if s.firstDueNS != 0 {
			endSeq, endDue = s.from, s.firstDueNS
		}
		switch {
		case before >= fromNS && before != 0 && dueNS < toNS:
			a.count(s.reason, s.len())
		case dueNS < fromNS || before >= toNS:
		default:
			a.edge = append(a.edge, s)
		}
	}
	a.skips = a.skips[:0]
}

func (t *tally) merge(o *tally) {
	t.received += o.received
	t.duplicated += o.duplicated
	t.reordered += o.reordered
	t.stray += o.stray
	t.problems += o.problems
	t.foreignClock += o.foreignClock
	t.latency.Merge(o.latency)
	t.decoded.Merge(o.decoded)
	t.lag.Merge(o.lag)
	t.charged.Merge(o.charged)
	t.connect.Merge(o.connect)
	t.firstTick.Merge(o.firstTick)
	t.spread.Merge(o.spread)
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
