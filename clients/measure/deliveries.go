package measure

// Deliveries is the account of a window, summed over the streams:
// Due = Received + Conflated + Dropped + Missed.
type Deliveries struct {
	Due         int64 // scheduled ticks of the streams' symbols, unpublished ones too
	Received    int64 // distinct, late ones too
	Conflated   int64 // the exchange said so
	Dropped     int64 // the exchange said so, or ended the stream as a slow consumer
	Missed      int64 // nobody said anything, and what was never published
	Unpublished int64 // of Missed, what the exchange never published
	Overdue     int64 // of Missed, what is behind all that its stream received: lost, or still on its way
	Unbalanced  int64 // received beyond what was due, by the streams that did so
	Duplicated  int64
	Reordered   int64 // received after a later one
	Stray       int64 // ticks and skips of symbols that the stream had not subscribed to
	Problems    int64 // problem messages

	Latency       *Histogram // received - due
	WithConflated *Histogram // and each skipped tick from its own due to its successor's receipt
	Decoded       *Histogram // decoded - due
	PublishLag    *Histogram // publish - due, one value a delivery
	Connect       *Histogram // opening to hello
	FirstTick     *Histogram // opening to the first snapshot or tick
	MeanByThird   [3]int64   // mean latency of each third of the window
	Fairness      *Fairness  // nil where no symbol had two subscribers
	ForeignClock  int64      // streams whose exchange has another boot's clock
	DueFromLedger bool       // else Due is what the sequences that arrived span
}

// Finish closes the account. due has what the exchange says was scheduled in
// the window, by symbol; nil takes the sequences that arrived. No message may
// come any more.
func (r *Recorder) Finish(due map[string]SymbolDue) *Deliveries {
	total := newTally()
	d := &Deliveries{DueFromLedger: due != nil}
	if due == nil {
		due = r.seen()
	}
	for i := range r.streams {
		st := &r.streams[i]
		for j := range st.symbols {
			a := &st.symbols[j]
			scheduled, missed, unpublished, overdue := a.close(due[a.symbol], d.DueFromLedger, st.slow)
			d.Due += scheduled
			d.Received += a.received
			d.Conflated += a.conflated
			d.Dropped += a.dropped
			d.Missed += missed
			d.Unbalanced += max(-missed, 0)
			d.Unpublished += unpublished
			if st.err == nil {
				d.Overdue += overdue
			}
		}
	}
	for _, sh := range r.shards {
		total.merge(&sh.tally)
	}
	d.Duplicated, d.Reordered, d.Stray, d.Problems = total.duplicated, total.reordered, total.stray, total.problems
	d.ForeignClock = total.foreignClock
	d.Latency, d.Decoded, d.PublishLag = total.latency, total.decoded, total.lag
	d.Connect, d.FirstTick = total.connect, total.firstTick
	d.Fairness = r.fairness(total.spread)
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

// seen is the window of each symbol as far as any stream received it, which is
// what there is without a ledger.
func (r *Recorder) seen() map[string]SymbolDue {
	windows := make(map[string]SymbolDue)
	for i := range r.streams {
		for j := range r.streams[i].symbols {
			a := &r.streams[i].symbols[j]
			if a.firstIn == 0 {
				continue
			}
			w, ok := windows[a.symbol]
			if !ok {
				w = SymbolDue{Symbol: a.symbol, FirstSeq: a.firstIn, LastSeq: a.lastIn}
			}
			w.FirstSeq, w.LastSeq = min(w.FirstSeq, a.firstIn), max(w.LastSeq, a.lastIn)
			windows[a.symbol] = w
		}
	}
	return windows
}
