package fault

import (
	"fmt"
	"sync"
)

// maxEntries is how many faults a ledger keeps: 96 MiB of them. A delay is an entry
// for each delivery.
const maxEntries = 1 << 22

// ledger remembers the newest faults. Its methods may be called from any goroutine.
type ledger struct {
	limit int

	mu      sync.Mutex
	names   []string
	symbols map[string]*listed
	entries []entry
	next    int   // where the next one goes once the ledger is full
	evicted int64 // the latest due of those no longer kept
}

type listed struct {
	index         int32
	subscriptions uint64
}

type entry struct {
	dueNS   int64 // of the tick
	delayNS int64 // of delayed ones
	symbol  int32
	kind    kind
}

func newLedger(limit int) *ledger {
	return &ledger{limit: limit, symbols: make(map[string]*listed)}
}

// subscribed returns the symbol's index and how many subscriptions it had before.
func (l *ledger) subscribed(symbol string) (index int32, n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.symbols[symbol]
	if s == nil {
		s = &listed{index: int32(len(l.names))}
		l.symbols[symbol] = s
		l.names = append(l.names, symbol)
	}
	s.subscriptions++
	return s.index, s.subscriptions - 1
}

func (l *ledger) add(entries []entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range entries {
		if len(l.entries) < l.limit {
			l.entries = append(l.entries, e)
			continue
		}
		l.evicted = max(l.evicted, l.entries[l.next].dueNS)
		l.entries[l.next] = e
		l.next = (l.next + 1) % l.limit
	}
}

// Counts are faults by what they did to deliveries.
type Counts struct {
	Lost, Duplicated, Reordered int64
	Delayed                     int64
}

func (c *Counts) add(k kind) {
	switch k {
	case lost:
		c.Lost++
	case duplicated:
		c.Duplicated++
	case reordered:
		c.Reordered++
	case delayed:
		c.Delayed++
	}
}

// Window is what was injected into deliveries of ticks that were due in a window.
type Window struct {
	Counts
	Symbols  map[string]Counts // those with faults
	DelaysNS []int64           // really made, in no order
	Stalls   []Stall           // that reach into the window
}

// Stall is a time in which no tick left, CLOCK_MONOTONIC.
type Stall struct{ StartNS, LengthNS int64 }

// window counts the entries due in [fromNS, toNS). It is an error to ask for a window
// that the ledger no longer has whole.
func (l *ledger) window(fromNS, toNS int64) (Window, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.evicted >= fromNS && l.evicted != 0 {
		return Window{}, fmt.Errorf("injected faults: the window holds more than the newest %d, which is all that are kept; ask for a shorter window, or inject fewer", l.limit)
	}
	w := Window{Symbols: make(map[string]Counts)}
	symbols := make([]Counts, len(l.names))
	for _, e := range l.entries {
		if e.dueNS < fromNS || e.dueNS >= toNS {
			continue
		}
		w.add(e.kind)
		symbols[e.symbol].add(e.kind)
		if e.kind == delayed {
			w.DelaysNS = append(w.DelaysNS, e.delayNS)
		}
	}
	for i, c := range symbols {
		if c != (Counts{}) {
			w.Symbols[l.names[i]] = c
		}
	}
	return w, nil
}
