package fault

import (
	"errors"
	"slices"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

const (
	// maxHold is how long a tick waits for the next one of its symbol to change places
	// with. Then it leaves as it is, and counts as no fault: fleets wait 5 s for late ticks.
	maxHold = time.Second
	// maxLine is how many ticks and messages a line holds before it takes no more and
	// leaves them to the subscription's own queue, and to its policy.
	maxLine = 4096
)

// line stands between one stream's subscription and its session, whose goroutine alone
// calls it. What is said in between ticks keeps its place among them.
type line struct {
	in      *Injector
	sub     *feed.Subscription
	closing <-chan struct{}
	wake    func() // signals Ready
	symbols map[string]*symbol
	waiting []item    // to be written in this order
	held    []*symbol // whose tick waits for the next one, oldest first
	wakeAt  int64     // the end of a stall for which a timer runs
	ended   error     // of the subscription
	done    []entry   // for the ledger
}

// symbol is what a stream has of one.
type symbol struct {
	index     int32 // in the ledger
	key       uint64
	liveAfter uint64 // sequences up to here are replays, which have no faults
	held      *feed.Frame
	heldNS    int64
}

// item is a tick or a message.
type item struct {
	frame   *feed.Frame
	message *feed.Message
	takenNS int64
	symbol  *symbol // where the tick counts in an account
}

// Ready is streams.Queue's.
func (l *line) Ready() <-chan struct{} { return l.sub.Ready() }

// Waiting is streams.Queue's.
func (l *line) Waiting() int { return l.sub.Waiting() + len(l.waiting) + len(l.held) }

// Take is streams.Queue's: it brings what may leave now.
func (l *line) Take(b *feed.Batch, most int) error {
	before := len(l.waiting)
	if l.ended == nil && before < maxLine {
		if err := l.sub.Take(b, most); errors.Is(err, feed.ErrClosed) {
			return err
		} else if err != nil {
			l.ended = err // b is empty
		}
		l.accept(b)
	}
	b.Control, b.Frames = b.Control[:0], b.Frames[:0]
	now := feed.Now() // after the subscription gave what it has: what is due in a stall is found in it
	free := l.free()
	for len(l.held) > 0 && (free || now-l.held[0].heldNS >= int64(maxHold)) {
		l.letGo(l.held[0], now)
	}
	if delay := int64(l.in.opts.Delay); delay > 0 && len(l.waiting) > before {
		l.in.pacer.Wake(now+delay, l.wake)
	}
	l.release(b, most, now, free)
	if len(l.done) > 0 {
		l.in.ledger.add(l.done)
		l.done = l.done[:0]
	}
	if l.ended != nil {
		if len(b.Control)+len(b.Frames)+len(l.waiting) == 0 {
			return l.ended
		}
		l.wake()
	}
	return nil
}

// free reports whether everything must leave at once.
func (l *line) free() bool {
	select {
	case <-l.closing:
		return true
	default:
		return l.ended != nil
	}
}

// accept takes a batch of the subscription into the line.
func (l *line) accept(b *feed.Batch) {
	now := feed.Now()
	if len(b.Control) > 0 {
		// A message may skip or end the symbol of a tick that is held.
		for len(l.held) > 0 {
			l.letGo(l.held[0], now)
		}
	}
	for _, m := range b.Control {
		if m.Subscribed != nil {
			l.subscribed(m.Subscribed)
		}
		l.waiting = append(l.waiting, item{message: &m})
	}
	for _, f := range b.Frames {
		l.tick(f, now)
	}
}

func (l *line) subscribed(answer *feed.Subscribed) {
	for _, s := range answer.Symbols {
		known := l.symbols[s.Symbol]
		if known == nil {
			index, n := l.in.ledger.subscribed(s.Symbol)
			known = &symbol{index: index, key: key(l.in.opts.Seed, n, s.Symbol)}
			l.symbols[s.Symbol] = known
		}
		known.liveAfter = max(known.liveAfter, s.Seq)
	}
}

// tick decides what becomes of a tick.
func (l *line) tick(f *feed.Frame, now int64) {
	s := l.symbols[f.Tick.Symbol]
	it := item{frame: f, takenNS: now}
	choice := none
	if s != nil && f.Tick.Origin != feed.OriginOrder && f.Tick.Seq > s.liveAfter {
		it.symbol = s
		choice = l.in.opts.choose(s.key, f.Tick.Seq)
	}
	switch {
	case choice == lost:
		l.count(lost, &it, 0)
		return
	case choice == reordered && s.held == nil:
		s.held, s.heldNS = f, now
		l.held = append(l.held, s)
		time.AfterFunc(maxHold, l.wake)
		return
	case choice == duplicated:
		l.count(duplicated, &it, 0)
		l.waiting = append(l.waiting, it)
	}
	l.waiting = append(l.waiting, it)
	if s != nil && s.held != nil {
		l.count(reordered, &item{frame: s.held, symbol: s}, 0)
		l.letGo(s, now)
	}
}

// letGo puts the tick that a symbol holds into the line.
func (l *line) letGo(s *symbol, now int64) {
	l.waiting = append(l.waiting, item{frame: s.held, takenNS: now, symbol: s})
	s.held = nil
	i := slices.Index(l.held, s)
	l.held = slices.Delete(l.held, i, i+1)
}

// release moves into b what may leave: nothing in a stall, ticks after their delay,
// messages once they are at the front.
func (l *line) release(b *feed.Batch, most int, now int64, free bool) {
	if end := l.in.stalledUntil(now); end != 0 && !free {
		if l.wakeAt != end {
			l.wakeAt = end
			time.AfterFunc(time.Duration(end-now), l.wake)
		}
		return
	}
	delay := int64(l.in.opts.Delay)
	n, more := 0, false
	for ; n < len(l.waiting); n++ {
		it := &l.waiting[n]
		if it.frame != nil && now-it.takenNS < delay && !free {
			break
		}
		// A batch has its messages before its ticks.
		if more = it.message != nil && len(b.Frames) > 0 || len(b.Frames) == most; more {
			break
		}
		if it.message != nil {
			b.Control = append(b.Control, *it.message)
			continue
		}
		b.Frames = append(b.Frames, it.frame)
		if delay > 0 && it.symbol != nil {
			l.count(delayed, it, now-it.takenNS)
		}
	}
	l.waiting = slices.Delete(l.waiting, 0, n)
	if len(l.waiting) == 0 {
		l.waiting = nil // an idle stream keeps no buffer
	}
	if more {
		l.wake()
	}
}

func (l *line) count(k kind, it *item, delayNS int64) {
	l.done = append(l.done, entry{dueNS: it.frame.Tick.DueNS, delayNS: delayNS, symbol: it.symbol.index, kind: k})
}
