package desk

import (
	"fmt"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/book"
)

// tape checks the numbers of trades, and their sides.
func (a *audit) tape(reports []order.Execution, trades []trade, ordered bool) error {
	for _, tr := range trades {
		if a.traded++; tr.id != a.traded {
			return fmt.Errorf("trade %+v is not number %d", tr, a.traded)
		}
	}
	return a.sides(reports, trades, ordered)
}

// sides checks that each trade was told once to each of its sides that is an
// account: the resting order first, then the one that came in. A side that nobody
// was told of is the market maker's; ordered says that an order came in, which it
// never is.
func (a *audit) sides(reports []order.Execution, trades []trade, ordered bool) error {
	reports = slices.DeleteFunc(slices.Clone(reports), func(e order.Execution) bool { return e.ExecType != order.ExecTrade })
	for _, tr := range trades {
		if tr.qty <= 0 || tr.px <= 0 || (tr.aggressor != feed.SideBuy && tr.aggressor != feed.SideSell) {
			return fmt.Errorf("trade %+v is none", tr)
		}
		told := 0
		for _, side := range []feed.Side{other(tr.aggressor), tr.aggressor} {
			switch {
			case len(reports) > 0 && reports[0].Side == side:
				if e := reports[0]; e.LastPx != tr.px || e.LastQty != tr.qty || e.Symbol != symbols[tr.symbol].Name {
					return fmt.Errorf("trade %+v is told as %+v", tr, e)
				}
				a.reported[side] += tr.qty
				reports = reports[1:]
				told++
			case side == tr.aggressor && ordered:
				return fmt.Errorf("trade %+v is not told to the one who came in", tr)
			default:
				a.maker[side] += tr.qty
			}
		}
		if told == 0 {
			return fmt.Errorf("trade %+v is the market maker's with itself", tr)
		}
	}
	if len(reports) > 0 {
		return fmt.Errorf("no trade is behind %+v", reports)
	}
	if buy, sell := feed.SideBuy, feed.SideSell; a.reported[buy]+a.maker[buy] != a.reported[sell]+a.maker[sell] {
		return fmt.Errorf("bought and sold differ: accounts %d, market maker %d", a.reported, a.maker)
	}
	return nil
}

func other(side feed.Side) feed.Side {
	if side == feed.SideBuy {
		return feed.SideSell
	}
	return feed.SideBuy
}

// checkDesk looks through a desk at rest for what must always hold: no book is
// crossed, and the books, the orders and the accounts agree on what is open.
func checkDesk(d *Desk) error {
	open := 0
	for _, m := range d.markets {
		n, err := checkMarket(m)
		if err != nil {
			return fmt.Errorf("market of %s: %w", m.symbol.Name, err)
		}
		open += n
	}
	for _, h := range d.accounts {
		h.mu.Lock()
		n := len(h.open)
		h.mu.Unlock()
		if n > d.opts.OpenOrders {
			return fmt.Errorf("%s has %d open orders, may have %d", h.name, n, d.opts.OpenOrders)
		}
		open -= n
	}
	if open != 0 {
		return fmt.Errorf("the books have %d more open orders than the accounts", open)
	}
	return nil
}

func checkMarket(m *market) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	bid, hasBid := m.book.Best(feed.SideBuy)
	ask, hasAsk := m.book.Best(feed.SideSell)
	if hasBid && hasAsk && bid.Price >= ask.Price {
		return 0, fmt.Errorf("crossed: %s and %s", bid.Price, ask.Price)
	}
	open := 0
	for slot, st := range m.resting {
		if st == nil {
			continue
		}
		open++
		r, ok := m.book.Get(st.handle)
		e := st.last
		switch {
		case !ok || st.handle.Slot() != slot:
			return 0, fmt.Errorf("order %+v does not rest", e)
		case r != book.Resting{Side: e.Side, Price: e.Price, Qty: e.OrderQty, CumQty: e.CumQty, LeavesQty: e.LeavesQty}:
			return 0, fmt.Errorf("order %+v rests as %+v", e, r)
		case e.OrdStatus.Terminal():
			return 0, fmt.Errorf("order %+v rests after its end", e)
		case st.holder.name != e.Account || st.market != m:
			return 0, fmt.Errorf("order %+v is in the wrong hands", e)
		}
		if st.holder.resting(e.ClOrdID) != st {
			return 0, fmt.Errorf("%s does not know its open order %+v", e.Account, e)
		}
	}
	if open != m.book.Orders() {
		return 0, fmt.Errorf("%d orders have owners, %d rest", open, m.book.Orders())
	}
	return open, nil
}
