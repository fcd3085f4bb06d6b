package feed

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Encoder appends the encoded form of a tick. The hub calls it once per tick for
// each encoding that has a subscription.
type Encoder func(dst []byte, epoch string, t *Tick) []byte

// HubOptions are the choices of NewHub; the zero value works.
type HubOptions struct {
	Ring     int       // ticks kept per symbol for resuming; 0 takes 256
	Encoders []Encoder // a subscription names one by its index
	Epoch    string    // 0-9a-f; empty takes a random one
}

// Hub numbers ticks, keeps the newest ones of each symbol and gives each to the
// subscriptions of its symbol. It never blocks on a subscriber and does no I/O.
// All methods may be called from any goroutine.
type Hub struct {
	epoch    string
	encoders []Encoder
	byName   map[string]*listing
	listings []*listing

	mu     sync.Mutex // taken before any Subscription.mu
	hubSeq uint64
	active []int // subscriptions per encoding
	stats  hubStats
}

type hubStats struct {
	published, enqueued, conflated, dropped, disconnected, subscriptions atomic.Int64
}

// HubStats counts what a hub has done since it was made.
type HubStats struct {
	Published     int64 `json:"published"`     // ticks
	Enqueued      int64 `json:"enqueued"`      // ticks times subscriptions
	Conflated     int64 `json:"conflated"`     // ticks taken out of queues for newer ones
	Dropped       int64 `json:"dropped"`       // ticks taken out of full queues by drop-oldest
	Disconnected  int64 `json:"disconnected"`  // subscriptions ended by the policy disconnect
	Subscriptions int64 `json:"subscriptions"` // open now
}

// listing is a symbol in the hub.
type listing struct {
	symbol  Symbol
	state   Tick // carried forward
	newest  *Frame
	ring    ring
	members []*member
}

// member is one subscription's interest in one symbol.
type member struct {
	sub     *Subscription
	listing *listing
	pos     int    // in listing.members
	told    uint64 // last seq handed out or skipped; under sub.mu, as what follows
	waiting int    // ticks in the queue
	skip    *Skipped
	gone    bool // unsubscribed; under sub.mu
}

// Frame is one published tick with its encoded forms, shared by all who get it.
// It never changes, except that a missing encoded form may be filled in.
type Frame struct {
	Tick    Tick
	encoded []atomic.Pointer[[]byte]
}

// NewHub returns a hub that lists symbols. Names must be unique and not empty,
// and grids positive.
func NewHub(symbols []Symbol, opts HubOptions) (*Hub, error) {
	if len(symbols) == 0 {
		return nil, errors.New("new hub: no symbols")
	}
	if opts.Ring == 0 {
		opts.Ring = 256
	}
	if opts.Ring < 0 {
		return nil, fmt.Errorf("new hub: ring of %d ticks, want 1 or more", opts.Ring)
	}
	if opts.Epoch == "" {
		opts.Epoch = newEpoch()
	}
	if _, err := ParseCursor(opts.Epoch + "-0"); err != nil {
		return nil, fmt.Errorf("new hub: epoch: %w", err)
	}
	h := &Hub{
		epoch:    opts.Epoch,
		encoders: opts.Encoders,
		byName:   make(map[string]*listing, len(symbols)),
		active:   make([]int, len(opts.Encoders)),
	}
	for _, s := range symbols {
		if s.Name == "" || !utf8.ValidString(s.Name) || s.TickSize <= 0 {
			return nil, fmt.Errorf("new hub: symbol %q with tick size %s: want a name in UTF-8 and a positive grid", s.Name, s.TickSize)
		}
		if h.byName[s.Name] != nil {
			return nil, fmt.Errorf("new hub: symbol %q twice", s.Name)
		}
		l := &listing{symbol: s, state: Tick{Symbol: s.Name}, ring: ring{limit: opts.Ring}}
		h.byName[s.Name] = l
		h.listings = append(h.listings, l)
	}
	return h, nil
}

// Epoch names this run of the exchange.
func (h *Hub) Epoch() string { return h.epoch }

// Symbols returns the listed symbols in the order given to NewHub.
func (h *Hub) Symbols() []Symbol {
	out := make([]Symbol, len(h.listings))
	for i, l := range h.listings {
		out[i] = l.symbol
	}
	return out
}

// Newest returns the newest tick of a symbol; ok is false where it has had none.
// An unknown symbol is a *Problem.
func (h *Hub) Newest(symbol string) (t Tick, ok bool, err error) {
	l := h.byName[symbol]
	if l == nil {
		return Tick{}, false, unknownSymbol(symbol)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if l.newest == nil {
		return Tick{}, false, nil
	}
	return l.newest.Tick, true, nil
}

// Stats returns the counters.
func (h *Hub) Stats() HubStats {
	return HubStats{
		Published:     h.stats.published.Load(),
		Enqueued:      h.stats.enqueued.Load(),
		Conflated:     h.stats.conflated.Load(),
		Dropped:       h.stats.dropped.Load(),
		Disconnected:  h.stats.disconnected.Load(),
		Subscriptions: h.stats.subscriptions.Load(),
	}
}

// LastSeqs returns the last sequence of every symbol, in the order of Symbols.
func (h *Hub) LastSeqs() []uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make([]uint64, len(h.listings))
	for i, l := range h.listings {
		out[i] = l.state.Seq
	}
	return out
}

func (h *Hub) lastSeq(symbol int) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listings[symbol].state.Seq
}

// Publish merges u, due at dueNS, into the state of its symbol, numbers the
// resulting tick and hands it to every subscription of the symbol. It returns
// the tick's numbers and the time it was published. u.Symbol must be a listed
// index.
func (h *Hub) Publish(u *Update, dueNS int64) (seq, hubSeq uint64, publishNS int64) {
	l := h.listings[u.Symbol]
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hubSeq++
	l.merge(u)
	l.state.HubSeq = h.hubSeq
	l.state.DueNS = dueNS
	l.state.PublishNS = Now()
	frame := &Frame{Tick: l.state, encoded: make([]atomic.Pointer[[]byte], len(h.encoders))}
	for enc, n := range h.active {
		if n > 0 {
			h.encode(frame, enc)
		}
	}
	l.newest = frame
	l.ring.push(frame)
	h.stats.published.Add(1)
	h.stats.enqueued.Add(int64(len(l.members)))
	for i := len(l.members) - 1; i >= 0; i-- { // from the back: a policy may remove the current one
		m := l.members[i]
		if !m.sub.enqueue(m, frame) {
			l.remove(m)
			h.stats.enqueued.Add(-1)
		}
	}
	return l.state.Seq, h.hubSeq, l.state.PublishNS
}

func (l *listing) merge(u *Update) {
	t := &l.state
	t.Seq++
	t.Origin = u.Origin
	t.ExchangeTSNS = u.ExchangeTSNS
	if t.ExchangeTSNS == 0 {
		t.ExchangeTSNS = Now() + WallOffset()
	}
	if u.Quote {
		t.BidPx, t.BidSz, t.AskPx, t.AskSz = u.BidPx, u.BidSz, u.AskPx, u.AskSz
	}
	if u.LastPx != 0 {
		t.LastPx = u.LastPx
	}
	t.LastSz, t.TradeID, t.Aggressor = u.LastSz, u.TradeID, u.Aggressor
}

func (l *listing) remove(m *member) {
	last := len(l.members) - 1
	if m.pos > last || l.members[m.pos] != m {
		return // removed already
	}
	l.members[m.pos] = l.members[last]
	l.members[m.pos].pos = m.pos
	l.members[last] = nil
	l.members = l.members[:last]
}

// Encoded returns the frame in an encoding of the hub, encoding it if nobody
// had subscribed to that encoding when it was published. The bytes are shared
// and must not be changed.
func (h *Hub) Encoded(f *Frame, encoding int) []byte {
	if p := f.encoded[encoding].Load(); p != nil {
		return *p
	}
	return h.encode(f, encoding)
}

func (h *Hub) encode(f *Frame, encoding int) []byte {
	b := h.encoders[encoding](make([]byte, 0, 384), h.epoch, &f.Tick)
	f.encoded[encoding].Store(&b)
	return b
}

func unknownSymbol(name string) *Problem {
	return &Problem{Code: CodeUnknownSymbol, Symbol: shortName(name),
		Message: "symbol " + quoteShort(name) + " is not listed; GET /v2/symbols or ListSymbols tells which are"}
}
