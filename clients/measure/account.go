package measure

import (
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// span is a range of sequences that did not arrive.
type span struct {
	from, to   uint64
	firstDueNS int64
	reason     feed.SkipReason // SkipNone: nothing was said
}

func (s span) len() int64 { return int64(s.to-s.from) + 1 }

// account is what one stream knows of one symbol's sequence. After a subscribe
// every sequence from liveAfter+1 on is, once last has passed it, exactly one of:
// received, in skips or counted as skipped, or in holes.
type account struct {
	symbol    string
	liveAfter uint64
	last      uint64 // the highest sequence received, skipped, or found missing
	lastDueNS int64  // due of the newest tick received; 0 before the first
	holes     []span // missing, nothing said of them
	skips     []span // said to be skipped, since the newest tick received
	edge      []span // skipped across an edge of the window, settled at the end
	firstIn   uint64 // the first sequence received in the window
	lastIn    uint64 // the last one
}

func (a *account) subscribed(liveAfter uint64) {
	*a = account{symbol: a.symbol, liveAfter: liveAfter, last: liveAfter}
}

// tick says what a tick of the sequence is to the account.
func (a *account) tick(seq uint64) arrival {
	switch {
	case seq <= a.liveAfter:
		return replayed
	case seq > a.last:
		if seq > a.last+1 {
			a.holes = append(a.holes, span{from: a.last + 1, to: seq - 1})
		}
		a.last = seq
		return inOrder
	}
	for i, h := range a.holes {
		if seq >= h.from && seq <= h.to {
			a.holes = cut(a.holes, i, seq, seq)
			return late
		}
	}
	return again
}

type arrival uint8

const (
	inOrder  arrival = iota
	late             // fills a hole
	again            // received or skipped before
	replayed         // of before the subscribe
)

// skipped takes what the exchange said will not come. What had been received or
// skipped before stays as it was.
func (a *account) skipped(s *feed.Skipped) {
	from := s.FromSeq
	if from == 0 || from > s.ToSeq {
		from = a.last + 1
	}
	for i := 0; i < len(a.holes); {
		h := a.holes[i]
		lo, hi := max(h.from, from), min(h.to, s.ToSeq)
		if lo > hi {
			i++
			continue
		}
		a.holes = cut(a.holes, i, lo, hi)
		a.skips = append(a.skips, span{from: lo, to: hi, firstDueNS: s.FirstDueNS, reason: s.Reason})
	}
	if from > a.last+1 {
		a.holes = append(a.holes, span{from: a.last + 1, to: from - 1})
	}
	if s.ToSeq > a.last {
		a.skips = append(a.skips, span{from: max(from, a.last+1), to: s.ToSeq, firstDueNS: s.FirstDueNS, reason: s.Reason})
		a.last = s.ToSeq
	}
}

// cut takes lo to hi out of the span at i.
func cut(spans []span, i int, lo, hi uint64) []span {
	s := spans[i]
	left, right := span{from: s.from, to: lo - 1}, span{from: hi + 1, to: s.to}
	switch hasLeft, hasRight := lo > s.from, hi < s.to; {
	case hasLeft && hasRight:
		spans[i] = left
		return slices.Insert(spans, i+1, right)
	case hasLeft:
		spans[i] = left
	case hasRight:
		spans[i] = right
	default:
		return slices.Delete(spans, i, i+1)
	}
	return spans
}

// finish gives the account its end, the last sequence that was scheduled in the
// window: what is beyond the last one known never came, for the reason given.
func (a *account) finish(lastSeq uint64, reason feed.SkipReason) {
	if lastSeq > a.last {
		a.edge = append(a.edge, span{from: a.last + 1, to: lastSeq, reason: reason})
		a.last = lastSeq
	}
	a.edge = append(a.edge, a.skips...)
	a.skips = nil
}

// overlap returns how many sequences of s lie in [first, last].
func (s span) overlap(first, last uint64) int64 {
	lo, hi := max(s.from, first), min(s.to, last)
	if first == 0 || lo > hi {
		return 0
	}
	return int64(hi-lo) + 1
}
