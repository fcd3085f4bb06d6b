package measure

import "github.com/tickgauge/tickgauge/feed"

// fate is what became of one sequence of one symbol on one stream.
type fate uint8

const (
	unknown fate = iota
	received
	replayedFate
	conflatedFate
	droppedFate
	orderFate // an order tick that was received
	outside   // passed by while the stream was not subscribed
)

// reference keeps the account of one stream's symbol the slow way: a fate for
// every sequence, and the whole schedule beside it.
type reference struct {
	schedule    []feed.Tick // of the symbol, by sequence from 1
	unpublished map[uint64]bool
	from, to    int64

	live, left         bool
	liveAfter, highest uint64
	fates              map[uint64]fate

	duplicated, reordered, stray int64
}

func (r *reference) inWindow(seq uint64) bool {
	t := &r.schedule[seq-1]
	return t.Origin != feed.OriginOrder && t.DueNS >= r.from && t.DueNS < r.to
}

func (r *reference) subscribed(liveAfter uint64) {
	if !r.live {
		for seq := r.highest + 1; seq <= liveAfter; seq++ {
			r.fates[seq] = outside
		}
		r.highest = max(r.highest, liveAfter)
		r.live = true
	}
	r.liveAfter = max(r.liveAfter, liveAfter)
}

func (r *reference) unsubscribed(last uint64) {
	if !r.live {
		return
	}
	r.live, r.left = false, true
	r.highest = max(r.highest, last)
}

func (r *reference) tick(t *feed.Tick) {
	replay := t.Seq <= r.liveAfter
	switch {
	case !r.live:
		r.stray++
	case r.fates[t.Seq] != unknown:
		if !replay && r.inWindow(t.Seq) {
			r.duplicated++
		}
	case t.Origin == feed.OriginOrder:
		r.fates[t.Seq] = orderFate
	case replay:
		r.fates[t.Seq] = replayedFate
	default:
		r.fates[t.Seq] = received
		if t.Seq < r.highest && r.inWindow(t.Seq) {
			r.reordered++
		}
	}
	if r.live {
		r.highest = max(r.highest, t.Seq)
	}
}

func (r *reference) skipped(s *feed.Skipped) {
	if !r.live {
		r.stray++
		return
	}
	from := s.FromSeq
	if from == 0 {
		from = r.highest + 1
	}
	told := droppedFate
	if s.Reason == feed.SkipConflated {
		told = conflatedFate
	}
	for seq := from; seq <= s.ToSeq; seq++ {
		if r.fates[seq] == unknown {
			r.fates[seq] = told
		}
	}
	r.highest = max(r.highest, s.ToSeq)
}

// figures are those of one account that the test compares.
type figures struct{ due, received, conflated, dropped, missed, unpublished int64 }

func (f *figures) add(o figures) {
	f.due += o.due
	f.received += o.received
	f.conflated += o.conflated
	f.dropped += o.dropped
	f.missed += o.missed
	f.unpublished += o.unpublished
}

// byLedger returns the figures where the schedule is known. slow says that the
// exchange ended the stream for being slow. exact is false where ticks of orders
// did not arrive and no account could tell of which kind their loss was.
func (r *reference) byLedger(slow bool) (f figures, exact bool) {
	w := r.ledger()
	var all, orders struct{ conflated, dropped, silent, outside int64 }
	for seq := w.FirstSeq; seq != 0 && seq <= w.LastSeq; seq++ {
		order := r.schedule[seq-1].Origin == feed.OriginOrder
		count := func(total *int64, ofOrders *int64) {
			*total++
			if order {
				*ofOrders++
			}
		}
		switch fate := r.fates[seq]; {
		case fate == received:
			f.received++
		case fate == conflatedFate:
			count(&all.conflated, &orders.conflated)
		case fate == droppedFate, fate == unknown && slow && seq > r.highest && (r.live || !r.left):
			count(&all.dropped, &orders.dropped)
		case fate == outside, fate == unknown && !r.live && r.left && seq > r.highest:
			count(&all.outside, &orders.outside)
		case fate == unknown:
			count(&all.silent, &orders.silent)
			if r.unpublished[seq] {
				f.unpublished++
			}
		}
	}
	f.conflated, f.dropped = all.conflated-orders.conflated, all.dropped-orders.dropped
	f.missed = all.silent - orders.silent
	f.due = f.received + f.conflated + f.dropped + f.missed
	// The account takes lost order ticks for conflated ones before dropped ones.
	lost := orders.conflated + orders.dropped + orders.silent
	exact = orders.outside == 0 && orders.conflated == min(lost, all.conflated) &&
		orders.dropped == min(lost-orders.conflated, all.dropped)
	return f, exact
}

// arrived returns the first and last sequence of the window that arrived.
func (r *reference) arrived() (first, last uint64) {
	for seq := uint64(1); seq <= uint64(len(r.schedule)); seq++ {
		if (r.fates[seq] == received || r.fates[seq] == replayedFate) && r.inWindow(seq) {
			if first == 0 {
				first = seq
			}
			last = seq
		}
	}
	return first, last
}

// byArrivals returns the figures where the window is what arrived at any stream.
func (r *reference) byArrivals(first, last uint64, slow bool) (f figures) {
	for seq := first; seq != 0 && seq <= last; seq++ {
		switch fate := r.fates[seq]; {
		case fate == received:
			f.received++
		case fate == conflatedFate:
			f.conflated++
		case fate == droppedFate, fate == unknown && slow && seq > r.highest && (r.live || !r.left):
			f.dropped++
		case fate == unknown && !r.live && r.left && seq > r.highest:
		case fate == unknown:
			f.missed++
		}
	}
	f.due = f.received + f.conflated + f.dropped + f.missed
	return f
}

// ledger is what the exchange would say of the symbol.
func (r *reference) ledger() SymbolDue {
	var w SymbolDue
	for seq := uint64(1); seq <= uint64(len(r.schedule)); seq++ {
		if !r.inWindow(seq) {
			continue
		}
		w.Symbol = r.schedule[seq-1].Symbol
		w.Scheduled++
		if r.unpublished[seq] {
			w.Unpublished++
		}
		if w.FirstSeq == 0 {
			w.FirstSeq = seq
		}
		w.LastSeq = seq
	}
	return w
}
