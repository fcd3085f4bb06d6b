package measure

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tickgauge/tickgauge/feed"
)

// Recorder takes every message of a fleet's streams. Messages of one stream must
// come one at a time; different streams may call concurrently. It allocates
// nothing per tick.
type Recorder struct {
	fromNS, toNS atomic.Int64
	bootID       string
	streams      []streamAccount
	shards       []*shard
	broken       atomic.Int64
	hello        atomic.Pointer[feed.Hello] // the first that came
	races        races
}

// shard has the figures of every n-th stream; one histogram per stream would
// take gigabytes.
type shard struct {
	mu sync.Mutex
	tally
}

type streamAccount struct {
	openedNS  int64 // when opening began
	hello     bool
	firstTick bool
	ended     bool
	slow      bool // ended by the exchange as a slow consumer
	err       error
	ranks     ranks
	symbols   []account
	index     map[string]int // into symbols, once there are many
}

// NewRecorder returns a recorder for streams numbered 0 to streams-1.
func NewRecorder(streams int) *Recorder {
	r := &Recorder{bootID: feed.BootID(), streams: make([]streamAccount, streams)}
	for range min(4*runtime.GOMAXPROCS(0), max(streams, 1)) {
		r.shards = append(r.shards, &shard{tally: newTally()})
	}
	return r
}

// SetWindow sets the measured part of the run, [fromNS, toNS) on due times, in
// CLOCK_MONOTONIC. It must be called before the first tick due in it.
func (r *Recorder) SetWindow(fromNS, toNS int64) {
	r.fromNS.Store(fromNS)
	r.toNS.Store(toNS)
}

func (r *Recorder) shard(stream int) *shard { return r.shards[stream%len(r.shards)] }

// Opening says that a stream begins to open, and which symbols it asks for: they
// are due to it, whatever the exchange answers.
func (r *Recorder) Opening(stream int, symbols ...string) {
	s := r.shard(stream)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &r.streams[stream]
	st.openedNS = feed.Now()
	for _, symbol := range symbols {
		r.ensure(st, symbol)
	}
}

// Message takes one message of a stream with its stamps, CLOCK_MONOTONIC.
func (r *Recorder) Message(stream int, receivedNS, decodedNS int64, m *feed.Message) {
	sh := r.shard(stream)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	st := &r.streams[stream]
	for i := range m.Ticks {
		r.tick(sh, st, &m.Ticks[i], receivedNS, decodedNS)
	}
	switch {
	case m.Hello != nil:
		st.hello = true
		if r.hello.Load() == nil {
			hello := *m.Hello
			r.hello.CompareAndSwap(nil, &hello)
		}
		sh.connect.Record(receivedNS - st.openedNS)
		if m.Hello.BootID == "" || m.Hello.BootID != r.bootID {
			sh.foreignClock++
		}
	case m.Subscribed != nil:
		for _, s := range m.Subscribed.Symbols {
			a := r.ensure(st, s.Symbol)
			if a.state != live && !st.ended {
				a.race.join()
			}
			a.subscribed(s.Seq)
		}
	case m.Unsubscribed != nil:
		for _, s := range m.Unsubscribed.Symbols {
			if a := st.account(s.Symbol); a != nil {
				if a.state == live && !st.ended {
					a.race.leave()
				}
				a.unsubscribed(s.Seq)
			}
		}
	case m.Snapshot != nil:
		r.first(sh, st, receivedNS)
	case m.Skipped != nil:
		if a := st.account(m.Skipped.Symbol); a != nil && a.state == live {
			a.skipped(m.Skipped)
		} else {
			sh.stray++
		}
	case m.Problem != nil:
		sh.problems++
		st.slow = st.slow || m.Problem.Code == feed.CodeSlowConsumer
	}
}

func (r *Recorder) first(sh *shard, st *streamAccount, receivedNS int64) {
	if !st.firstTick {
		st.firstTick = true
		sh.firstTick.Record(receivedNS - st.openedNS)
	}
}

// account finds the symbol's account, nil where the stream did not ask for it.
func (st *streamAccount) account(symbol string) *account {
	if st.index != nil {
		if i, ok := st.index[symbol]; ok {
			return &st.symbols[i]
		}
		return nil
	}
	for i := range st.symbols {
		if st.symbols[i].symbol == symbol {
			return &st.symbols[i]
		}
	}
	return nil
}

// linearSymbols is how many symbols of a stream are looked through; more are
// indexed.
const linearSymbols = 8

func (r *Recorder) ensure(st *streamAccount, symbol string) *account {
	if a := st.account(symbol); a != nil {
		return a
	}
	st.symbols = append(st.symbols, account{symbol: symbol, race: r.races.of(symbol)})
	switch n := len(st.symbols); {
	case st.index != nil:
		st.index[symbol] = n - 1
	case n > linearSymbols:
		st.index = make(map[string]int, 2*n)
		for i := range st.symbols {
			st.index[st.symbols[i].symbol] = i
		}
	}
	return &st.symbols[len(st.symbols)-1]
}

func (r *Recorder) tick(sh *shard, st *streamAccount, t *feed.Tick, receivedNS, decodedNS int64) {
	if t.PublishNS <= st.openedNS { // a replay; what came later waited for the market
		r.first(sh, st, receivedNS)
	}
	a := st.account(t.Symbol)
	if a == nil || a.state != live {
		sh.stray++
		return
	}
	how := a.tick(t.Seq)
	if t.Origin == feed.OriginOrder {
		return
	}
	from, to := r.fromNS.Load(), r.toNS.Load()
	if how == inOrder {
		if len(a.skips) > 0 {
			sh.settle(a, t.Seq, t.DueNS, receivedNS, from, to)
		}
		a.lastDueNS = t.DueNS
	}
	if t.DueNS < from || t.DueNS >= to {
		return
	}
	replay := t.Seq <= a.liveAfter
	switch {
	case how == again:
		if !replay {
			sh.duplicated++
		}
		return
	case replay:
		a.replayed++
		a.arrived(t.Seq)
		return
	case how == late:
		sh.reordered++
	}
	a.received++
	a.arrived(t.Seq)
	sh.record(t, receivedNS, decodedNS, from, to)
	if rank, ranked := a.race.arrived(t.Seq, receivedNS, sh.spread); ranked {
		st.ranks.sum += rank
		st.ranks.n++
	}
}

// Ended says that a stream is over, with the reason that its client gave.
func (r *Recorder) Ended(stream int, err error) {
	s := r.shard(stream)
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &r.streams[stream]
	for i := range st.symbols {
		if a := &st.symbols[i]; a.state == live && !st.ended {
			a.race.leave()
		}
	}
	st.ended, st.err = true, err
	var p *feed.Problem
	if errors.As(err, &p) {
		st.slow = st.slow || p.Code == feed.CodeSlowConsumer
	}
	if err != nil {
		r.broken.Add(1)
	}
}

// Broken counts the streams that ended with an error; any goroutine may call it
// at any time.
func (r *Recorder) Broken() int { return int(r.broken.Load()) }

// Streams counts the streams that are open, and those that broke with the first
// error among them.
func (r *Recorder) Streams() (open, broken int, first error) {
	for i := range r.streams {
		sh := r.shard(i)
		sh.mu.Lock()
		st := &r.streams[i]
		switch {
		case st.ended && st.err != nil:
			broken++
			if first == nil {
				first = st.err
			}
		case st.hello && !st.ended:
			open++
		}
		sh.mu.Unlock()
	}
	return open, broken, first
}

// Epoch returns the exchange run that the first hello named, empty before it.
func (r *Recorder) Epoch() string {
	if h := r.hello.Load(); h != nil {
		return h.Epoch
	}
	return ""
}

// ExchangeVersion returns the version that the first hello named, empty before it.
func (r *Recorder) ExchangeVersion() string {
	if h := r.hello.Load(); h != nil {
		return h.Version
	}
	return ""
}

// Unproven counts the symbols of open streams that have had no tick due at toNS or
// later: without a ledger it is not known that nothing more of the window was due
// to them.
func (r *Recorder) Unproven(toNS int64) (n int) {
	for i := range r.streams {
		sh := r.shard(i)
		sh.mu.Lock()
		for j := range r.streams[i].symbols {
			if a := &r.streams[i].symbols[j]; !r.streams[i].ended && a.state == live && a.lastDueNS < toNS {
				n++
			}
		}
		sh.mu.Unlock()
	}
	return n
}

// Reached reports whether every open stream has received or been told of the
// sequences up to final, which maps symbols to their last scheduled one.
func (r *Recorder) Reached(final map[string]uint64) bool {
	for i := range r.streams {
		sh := r.shard(i)
		sh.mu.Lock()
		behind := false
		for j := range r.streams[i].symbols {
			a := &r.streams[i].symbols[j]
			if !r.streams[i].ended && a.state != left && (a.last < final[a.symbol] || len(a.holes) > 0) {
				behind = true
				break
			}
		}
		sh.mu.Unlock()
		if behind {
			return false
		}
	}
	return true
}
