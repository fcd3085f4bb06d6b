package feed

import (
	"fmt"
	"slices"
	"sync"
)

// DefaultScheduleLog is how many updates a ScheduleLog keeps: 64 MiB of them.
const DefaultScheduleLog = 1 << 21

// ScheduleLog remembers the newest scheduled updates, so that the account of a
// window can say what was due. Its methods may be called from any goroutine; a
// nil log records nothing.
type ScheduleLog struct {
	limit int

	mu       sync.Mutex
	entries  []scheduled
	next     int   // where the next one goes once the log is full
	evicted  int64 // due of the newest entry no longer kept
	newest   int64 // due of the newest entry
	lastSeq  map[int32]uint64
	finished bool
	covered  int64 // once finished: until when the schedule says what was due
}

type scheduled struct {
	dueNS, publishNS int64 // publishNS 0: never published
	seq              uint64
	symbol           int32
}

// NewScheduleLog returns a log of at most limit updates; 0 takes DefaultScheduleLog.
func NewScheduleLog(limit int) *ScheduleLog {
	if limit <= 0 {
		limit = DefaultScheduleLog
	}
	return &ScheduleLog{limit: limit, lastSeq: make(map[int32]uint64)}
}

func (l *ScheduleLog) published(symbol int, dueNS, publishNS int64, seq uint64) {
	if l == nil {
		return
	}
	l.add(scheduled{dueNS: dueNS, publishNS: publishNS, seq: seq, symbol: int32(symbol)})
}

// unpublished gives the update the sequence that it would have had. hubLast is
// the symbol's last one at the hub, which opening ticks and trades of the book
// have moved on without the log.
func (l *ScheduleLog) unpublished(symbol int, dueNS int64, hubLast uint64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	seq := max(l.lastSeq[int32(symbol)], hubLast) + 1
	l.mu.Unlock()
	l.add(scheduled{dueNS: dueNS, seq: seq, symbol: int32(symbol)})
}

func (l *ScheduleLog) add(e scheduled) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lastSeq[e.symbol] = e.seq
	l.newest = e.dueNS
	if l.entries == nil {
		// Whole at once, since growing would copy on the publisher's time; the system
		// gives memory only for what is written.
		l.entries = make([]scheduled, 0, l.limit)
	}
	if len(l.entries) < l.limit {
		l.entries = append(l.entries, e)
		return
	}
	l.evicted = l.entries[l.next].dueNS
	l.entries[l.next] = e
	l.next = (l.next + 1) % l.limit
}

// finish says that nothing more is due before stopNS; 0 where the source ended.
func (l *ScheduleLog) finish(stopNS int64) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished, l.covered = true, max(stopNS, l.newest+1)
}

// Complete reports whether no update due before toNS is still to come.
func (l *ScheduleLog) Complete(toNS int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.finished || l.newest >= toNS
}

// ScheduleWindow is what the schedule had due in a window.
type ScheduleWindow struct {
	Complete    bool           // no update due in the window is still to come
	Ended       bool           // the source ended before the window did
	Scheduled   int64          // updates due
	Unpublished int64          // of them, never published
	Symbols     []SymbolWindow // in the order of the hub's symbols, those without updates too
	LagNS       []int64        // due to publish, in order of due; published updates only
}

// SymbolWindow is one symbol's part of a ScheduleWindow; the sequences are 0
// where nothing was due.
type SymbolWindow struct {
	Scheduled         int64
	Unpublished       int64 // of them
	FirstSeq, LastSeq uint64
}

// Window returns what was due in [fromNS, toNS) for a hub of n symbols. It is an
// error to ask for a window that the log no longer has whole.
func (l *ScheduleLog) Window(fromNS, toNS int64, n int) (ScheduleWindow, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.evicted >= fromNS && l.evicted != 0 {
		return ScheduleWindow{}, fmt.Errorf("schedule log: the window starts %d ns before the oldest of the %d updates kept; ask sooner, or for a shorter window",
			l.evicted-fromNS, l.limit)
	}
	w := ScheduleWindow{Complete: l.finished || l.newest >= toNS, Ended: l.finished && l.covered < toNS, Symbols: make([]SymbolWindow, n)}
	for _, part := range [][]scheduled{l.entries[l.next:], l.entries[:l.next]} {
		// Due times only grow, so each part is sorted.
		i, _ := slices.BinarySearchFunc(part, fromNS, func(e scheduled, from int64) int {
			if e.dueNS < from {
				return -1
			}
			return 1
		})
		for _, e := range part[i:] {
			if e.dueNS >= toNS {
				break
			}
			w.count(e)
		}
	}
	return w, nil
}

func (w *ScheduleWindow) count(e scheduled) {
	w.Scheduled++
	s := &w.Symbols[e.symbol]
	if e.publishNS == 0 {
		w.Unpublished++
		s.Unpublished++
	} else {
		w.LagNS = append(w.LagNS, e.publishNS-e.dueNS)
	}
	if s.Scheduled == 0 {
		s.FirstSeq = e.seq
	}
	s.Scheduled++
	s.LastSeq = e.seq
}
