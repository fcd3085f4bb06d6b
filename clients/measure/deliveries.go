package measure

import "github.com/tickgauge/tickgauge/feed"

// Deliveries is the account of a window, summed over the streams:
// Due = Received + Conflated + Dropped + Missed.
type Deliveries struct {
	Due         int64 // scheduled ticks of the streams' symbols, unpublished ones too
	Received    int64 // distinct, late ones too
	Conflated   int64 // the exchange said so
	Dropped     int64 // the exchange said so, or ended the stream as a slow consumer
	Missed      int64 // nobody said anything, and what was never published
	Unpublished int64 // of Missed, what the exchange never published
	Duplicated  int64
	Reordered   int64 // received after a later one
	Problems    int64 // problem messages

	Latency       *Histogram // received - due
	WithConflated *Histogram // and each skipped tick from its own due to its successor's receipt
	Decoded       *Histogram // decoded - due
	PublishLag    *Histogram // publish - due, one value a delivery
	Connect       *Histogram // opening to hello
	FirstTick     *Histogram // opening to the first snapshot or tick
	MeanByThird   [3]int64   // mean latency of each third of the window
	ForeignClock  int64      // streams whose exchange has another boot's clock
	DueFromLedger bool       // else Due is what the sequences that arrived span
}

// Finish closes the account. due has what the exchange says was scheduled in
// the window, by symbol; nil takes the sequences that arrived. No message may
// come any more.
func (r *Recorder) Finish(due map[string]SymbolDue) *Deliveries {
	total := newTally()
	d := &Deliveries{DueFromLedger: due != nil}
	for i := range r.streams {
		sh, st := r.shard(i), &r.streams[i]
		end := feed.SkipNone
		if st.slow {
			end = feed.SkipDropped
		}
		for j := range st.symbols {
			a := &st.symbols[j]
			window := SymbolDue{FirstSeq: a.firstIn, LastSeq: a.lastIn}
			if a.firstIn != 0 {
				window.Scheduled = int64(a.lastIn-a.firstIn) + 1
			}
			if due != nil {
				window = due[a.symbol]
			}
			d.Due += window.Scheduled
			d.Unpublished += window.Unpublished
			a.finish(window.LastSeq, end)
			for _, s := range a.edge {
				sh.count(s.reason, s.overlap(window.FirstSeq, window.LastSeq))
			}
		}
	}
	for _, sh := range r.shards {
		total.merge(&sh.tally)
	}
	d.Received, d.Conflated, d.Dropped = total.received, total.conflated, total.dropped
	d.Missed = d.Due - d.Received - d.Conflated - d.Dropped
	d.Duplicated, d.Reordered, d.Problems = total.duplicated, total.reordered, total.problems
	d.ForeignClock = total.foreignClock
	d.Latency, d.Decoded, d.PublishLag = total.latency, total.decoded, total.lag
	d.Connect, d.FirstTick = total.connect, total.firstTick
	d.WithConflated = NewHistogram()
	d.WithConflated.Merge(total.latency)
	d.WithConflated.Merge(total.charged)
	for i, n := range total.thirdCount {
		if n > 0 {
			d.MeanByThird[i] = total.thirdSum[i] / n
		}
	}
	return d
}
