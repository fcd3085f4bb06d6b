package desk

import (
	"slices"
	"sync"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/book"
)

// market is one symbol: its book, and whose its resting orders are. Its lock is
// taken before that of a holder or of reports.
type market struct {
	index  int
	symbol feed.Symbol

	mu      sync.Mutex
	book    *book.Book
	resting []*state // by the handle's slot
	fills   []book.Fill
}

// state is an order. It is guarded by its market's lock.
type state struct {
	holder *holder
	market *market
	handle book.Handle // while it rests
	avg    book.Average
	last   order.Execution // the last report
}

func newMarket(index int, s feed.Symbol) *market {
	return &market{index: index, symbol: s, book: book.New()}
}

// rest notes whose the order of a handle is; nil forgets it.
func (m *market) rest(h book.Handle, st *state) {
	if need := h.Slot() + 1 - len(m.resting); need > 0 {
		m.resting = append(m.resting, slices.Repeat([]*state{nil}, need)...)
	}
	m.resting[h.Slot()] = st
}

// Quote puts the feed's best bid and ask of a symbol, by index, into its book as
// the market maker's orders, each with its whole size. A missing side is 0. It
// must not be called under the lock of a hub.
func (d *Desk) Quote(symbol int, bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size) {
	m := d.markets[symbol]
	m.mu.Lock()
	defer m.mu.Unlock()
	fills, err := m.book.SetQuote(bidPx, bidSz, askPx, askSz, m.fills[:0])
	if err != nil { // crossed: no quote is better than one that trades with itself
		fills, _ = m.book.SetQuote(0, 0, 0, 0, fills[:0])
		d.stats.crossedQuotes.Add(1)
	}
	m.fills = fills
	for i := range fills {
		d.traded(m, &fills[i])
		d.restingTraded(m, &fills[i])
	}
}

// traded tells the feed.
func (d *Desk) traded(m *market, f *book.Fill) {
	id := d.tradeIDs.Add(1)
	d.stats.trades.Add(1)
	if d.opts.Traded != nil {
		d.opts.Traded(m.index, f.Price, f.Qty, id, f.Aggressor)
	}
}

// restingTraded reports to the owner of the order that rested, if it has one.
func (d *Desk) restingTraded(m *market, f *book.Fill) {
	if f.Resting == book.MarketMaker {
		return
	}
	st := m.resting[f.Resting.Slot()]
	if f.RestingLeaves == 0 {
		m.rest(f.Resting, nil)
		st.handle = 0
		st.closed()
	}
	d.trade(st, f.Qty, f.Price, f.RestingLeaves)
}

// closed gives back the place of an order that rested, or might have.
func (st *state) closed() {
	st.holder.mu.Lock()
	defer st.holder.mu.Unlock()
	delete(st.holder.open, st.last.ClOrdID)
}

// trade reports a trade of st.
func (d *Desk) trade(st *state, qty feed.Size, px feed.Price, leaves feed.Size) {
	st.avg.Add(px, qty)
	e := st.last
	e.ExecType, e.LastQty, e.LastPx = order.ExecTrade, qty, px
	e.CumQty += qty
	e.LeavesQty, e.AvgPx = leaves, st.avg.Price()
	e.OrdStatus = order.PartiallyFilled
	if leaves == 0 {
		e.OrdStatus = order.Filled
	}
	d.report(st, e)
}

// report numbers a report, makes it the order's last one, and tells the account.
func (d *Desk) report(st *state, e order.Execution) {
	if e.ExecType != order.ExecTrade {
		e.LastQty, e.LastPx = 0, 0
	}
	e.ExecID = d.execIDs.Add(1)
	e.TransactTimeNS = time.Now().UnixNano()
	st.holder.reports.Add(&e)
	st.last = e
}
