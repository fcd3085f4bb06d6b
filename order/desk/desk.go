// Package desk is the exchange's own order.Desk: it validates requests, gives a
// request sent again its first answer, matches orders in a book for each symbol,
// and reports to the accounts.
package desk

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/account"
)

// The bounds where Options leave them at zero.
const (
	DefaultAccounts   = 10
	DefaultOpenOrders = 100_000 // of one account
)

// Options are the choices of New; the zero value works.
type Options struct {
	Accounts   int           // acct-1 to acct-N; 0 takes DefaultAccounts
	IDs        int           // ids remembered; 0 takes account.DefaultIDs
	IDAge      time.Duration // for how long; 0 takes account.DefaultIDAge
	Reports    int           // reports kept per account; 0 takes account.DefaultReports
	OpenOrders int           // resting orders of one account; 0 takes DefaultOpenOrders
	Service    Service       // what orders wait before they match

	// Traded, where set, is told each trade: the index of its symbol, its price and
	// size, its number, and who came in. It is called under the lock of the symbol's
	// book, in order, and must not call the desk.
	Traded func(symbol int, px feed.Price, qty feed.Size, tradeID uint64, aggressor feed.Side)
}

// Desk is an order.Desk over one book a symbol. Any goroutine may call it.
type Desk struct {
	opts     Options
	accounts map[string]*holder
	first    *holder
	markets  []*market
	byName   map[string]*market
	memory   *account.Memory[state]
	pacer    *pacer

	orderIDs, execIDs, tradeIDs atomic.Uint64
	stats                       stats

	closing  sync.RWMutex // held for reading by each request
	closed   bool
	inFlight sync.WaitGroup
}

var _ order.Desk = (*Desk)(nil)

// holder is an account: who watches it, and what of it rests.
type holder struct {
	name    string
	reports *account.Reports

	mu   sync.Mutex
	open map[string]*state // by the ClOrdID they have now; those that match just now too
}

// resting returns the order that rests under an id, nil where there is none.
func (h *holder) resting(clOrdID string) *state {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open[clOrdID]
}

// admit takes the place of an order that may come to rest; false where there is
// no room.
func (h *holder) admit(clOrdID string, st *state, limit int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.open) >= limit {
		return false
	}
	h.open[clOrdID] = st
	return true
}

// rename keeps an order's place under another id.
func (h *holder) rename(from, to string, st *state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, from)
	h.open[to] = st
}

// New returns a desk for the symbols, in whose order Quote and Traded count.
func New(symbols []feed.Symbol, opts Options) (*Desk, error) {
	if opts.Accounts < 0 || opts.OpenOrders < 0 || opts.Reports < 0 {
		return nil, fmt.Errorf("new desk: %d accounts, %d reports and %d open orders each: want positive numbers", opts.Accounts, opts.Reports, opts.OpenOrders)
	}
	if opts.Accounts == 0 {
		opts.Accounts = DefaultAccounts
	}
	if opts.OpenOrders == 0 {
		opts.OpenOrders = DefaultOpenOrders
	}
	memory, err := account.NewMemory[state](opts.IDs, opts.IDAge)
	if err != nil {
		return nil, fmt.Errorf("new desk: %w", err)
	}
	d := &Desk{opts: opts, memory: memory, accounts: make(map[string]*holder, opts.Accounts), byName: make(map[string]*market, len(symbols))}
	if d.pacer, err = newPacer(opts.Service); err != nil {
		return nil, fmt.Errorf("new desk: %w", err)
	}
	for i := range opts.Accounts {
		name := fmt.Sprintf("acct-%d", i+1)
		h := &holder{name: name, reports: account.NewReports(name, opts.Reports), open: make(map[string]*state)}
		d.accounts[h.name] = h
		if i == 0 {
			d.first = h
		}
	}
	for i, s := range symbols {
		if s.Name == "" || s.TickSize <= 0 || d.byName[s.Name] != nil {
			return nil, fmt.Errorf("new desk: symbol %q with tick size %s: want a name of its own and a positive grid", s.Name, s.TickSize)
		}
		m := newMarket(i, s)
		d.markets = append(d.markets, m)
		d.byName[s.Name] = m
	}
	return d, nil
}

// Run paces the simulated service of orders until ctx is done, and returns nil.
// Without it, and Service.Realtime, orders wait for ever.
func (d *Desk) Run(ctx context.Context) error { return d.pacer.Run(ctx) }

// Accounts returns the names of the accounts in their order.
func (d *Desk) Accounts() []string {
	names := make([]string, len(d.accounts))
	for i := range names {
		names[i] = fmt.Sprintf("acct-%d", i+1)
	}
	return names
}

// Remembered returns how many ids of requests the desk remembers.
func (d *Desk) Remembered() int { return d.memory.Len() }

// Close refuses what comes from now on, and returns once what was in flight has
// its answer, or with ctx's error.
func (d *Desk) Close(ctx context.Context) error {
	d.closing.Lock()
	d.closed = true
	d.closing.Unlock()
	done := make(chan struct{})
	go func() {
		d.inFlight.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// enter counts a request in, unless the desk is closing.
func (d *Desk) enter() bool {
	d.closing.RLock()
	defer d.closing.RUnlock()
	if d.closed {
		return false
	}
	d.inFlight.Add(1)
	return true
}

// Find returns the last report on an order, by the ClOrdID of any request that
// was about it and is still remembered, or that it has now.
func (d *Desk) Find(_ context.Context, name, clOrdID string) (order.Execution, error) {
	h := d.holder(name)
	if h == nil {
		return order.Execution{}, d.unknownAccount(name)
	}
	st := d.find(h, clOrdID)
	if st == nil {
		return order.Execution{}, fmt.Errorf("%w: cl_ord_id %s is no order of %s", order.ErrUnknownOrder, short(clOrdID), h.name)
	}
	st.market.mu.Lock()
	defer st.market.mu.Unlock()
	return st.last, nil
}

func (d *Desk) find(h *holder, clOrdID string) *state {
	if st := h.resting(clOrdID); st != nil {
		return st
	}
	return d.memory.Find(account.Key{Account: h.name, ClOrdID: clOrdID})
}

// Watch returns the account's reports after a report_seq.
func (d *Desk) Watch(name string, after uint64) (order.Watch, error) {
	h := d.holder(name)
	if h == nil {
		return nil, d.unknownAccount(name)
	}
	return h.reports.Watch(after), nil
}

func (d *Desk) unknownAccount(name string) error {
	return fmt.Errorf("%w: %s", order.ErrUnknownAccount, d.noAccount(name))
}

// noAccount says which accounts there are.
func (d *Desk) noAccount(name string) string {
	return fmt.Sprintf("account %s is not one of acct-1 to acct-%d", short(name), len(d.accounts))
}

func (d *Desk) holder(name string) *holder {
	if name == "" {
		return d.first
	}
	return d.accounts[name]
}
