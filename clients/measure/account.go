package measure

import (
	"cmp"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// span is a range of sequences that did not arrive.
type span struct {
	from, to   uint64
	firstDueNS int64 // 0: not known
	reason     feed.SkipReason
}

func (s span) len() int64 { return int64(s.to-s.from) + 1 }

// overlap returns how many sequences of s lie in [first, last].
func (s span) overlap(first, last uint64) int64 {
	lo, hi := max(s.from, first), min(s.to, last)
	if first == 0 || lo > hi {
		return 0
	}
	return int64(hi-lo) + 1
}

func overlap(spans []span, first, last uint64) (n int64) {
	for _, s := range spans {
		n += s.overlap(first, last)
	}
	return n
}

type subscription uint8

const (
	awaited subscription = iota // asked for, not answered yet
	live
	left // unsubscribed
)

// account is what one stream knows of one symbol's sequence. Every sequence up
// to last is exactly one of: received, said to be skipped (in skips or edge, or
// counted already), in holes, or outside.
type account struct {
	symbol    string
	race      *race // shared with the symbol's other subscribers
	state     subscription
	liveAfter uint64 // what arrives up to here is a replay
	last      uint64 // the highest sequence received, skipped, or found missing
	lastDueNS int64  // due of the newest scheduled tick that came in order; 0 before the first
	holes     []span // missing, nothing said of them; ascending
	skips     []span // said to be skipped since the newest scheduled tick; ascending
	edge      []span // skipped across an edge of the window, or late; settled at the end
	outside   []span // passed by while not subscribed
	firstIn   uint64 // the lowest sequence that arrived in the window
	lastIn    uint64 // the highest one

	received, conflated, dropped int64 // in the window
	replayed                     int64 // in the window, and not due for that
}

// subscribed takes the answer to a subscribe. Where the symbol is live already
// the stream is resumed, and what it missed is still due to it.
func (a *account) subscribed(liveAfter uint64) {
	if a.state != live && liveAfter > a.last {
		a.outside = append(a.outside, span{from: a.last + 1, to: liveAfter})
		a.last = liveAfter
	}
	a.state, a.liveAfter = live, max(a.liveAfter, liveAfter)
}

// unsubscribed takes the answer to an unsubscribe, after which nothing is due.
func (a *account) unsubscribed(last uint64) {
	if a.state != live {
		return
	}
	if last > a.last {
		a.holes = append(a.holes, span{from: a.last + 1, to: last})
		a.last = last
	}
	a.state = left
}

type arrival uint8

const (
	inOrder arrival = iota
	late            // fills a hole
	again           // received, skipped or passed by before
)

// tick says what a tick of the sequence is to the account.
func (a *account) tick(seq uint64) arrival {
	if seq > a.last {
		if seq > a.last+1 {
			a.holes = append(a.holes, span{from: a.last + 1, to: seq - 1})
		}
		a.last = seq
		return inOrder
	}
	i, _ := slices.BinarySearchFunc(a.holes, seq, func(h span, seq uint64) int { return cmp.Compare(h.to, seq) })
	if i == len(a.holes) || a.holes[i].from > seq {
		return again
	}
	a.holes = cut(a.holes, i, seq, seq)
	return late
}

// arrived notes the sequence of a scheduled tick in the window.
func (a *account) arrived(seq uint64) {
	if a.firstIn == 0 {
		a.firstIn = seq
	}
	a.firstIn, a.lastIn = min(a.firstIn, seq), max(a.lastIn, seq)
}

// maxSkips is how many neighbouring skips wait apart for the next tick, each with
// the due time that it began with.
const maxSkips = 16

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
		a.edge = append(a.edge, span{from: lo, to: hi, reason: s.Reason}) // a later tick has arrived
	}
	if s.ToSeq <= a.last {
		return
	}
	if from > a.last+1 {
		a.holes = append(a.holes, span{from: a.last + 1, to: from - 1})
	}
	beyond := span{from: max(from, a.last+1), to: s.ToSeq, reason: s.Reason}
	if beyond.from == s.FromSeq {
		beyond.firstDueNS = s.FirstDueNS
	}
	a.last = s.ToSeq
	if n := len(a.skips); n >= maxSkips && a.skips[n-1].to+1 == beyond.from && a.skips[n-1].reason == beyond.reason {
		a.skips[n-1].to = beyond.to
		return
	}
	a.skips = append(a.skips, beyond)
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

func (a *account) count(reason feed.SkipReason, n int64) {
	if reason == feed.SkipConflated {
		a.conflated += n
	} else {
		a.dropped += n
	}
}

// close settles what waits, after the last message, with the symbol's window as
// the exchange tells it; without a ledger it is what arrived at any stream. slow says
// that the exchange ended the stream for being slow. Of what is missed, unpublished
// never was sent, and overdue is behind all that arrived: it may still be on its way.
func (a *account) close(w SymbolDue, ledger, slow bool) (due, missed, unpublished, overdue int64) {
	for _, s := range append(a.edge, a.skips...) {
		a.count(s.reason, s.overlap(w.FirstSeq, w.LastSeq))
	}
	silent := overlap(a.holes, w.FirstSeq, w.LastSeq)
	if w.LastSeq > a.last {
		tail := span{from: a.last + 1, to: w.LastSeq}
		switch n := tail.overlap(w.FirstSeq, w.LastSeq); {
		case a.state == left:
			a.outside = append(a.outside, tail)
		case slow:
			a.dropped += n
		default:
			silent += n
			unpublished = min(w.Unpublished, n)
			overdue = n - unpublished
		}
	}
	if !ledger {
		return a.received + a.conflated + a.dropped + silent, silent, 0, 0
	}
	passed := overlap(a.outside, w.FirstSeq, w.LastSeq)
	due = w.Scheduled - a.replayed - passed
	if passed > 0 {
		due = max(due, a.received) // ticks of orders passed by as well
	}
	// Sequences beyond the schedule's are ticks of orders that did not arrive.
	orders := max(a.received+a.conflated+a.dropped+silent-due, 0)
	ofConflated := min(orders, a.conflated)
	a.conflated -= ofConflated
	a.dropped -= min(orders-ofConflated, a.dropped)
	missed = due - a.received - a.conflated - a.dropped
	return due, missed, unpublished, max(0, min(overdue, missed-unpublished))
}
