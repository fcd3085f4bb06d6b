package book

import (
	"slices"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// reference is a book as one would write it with no thought of speed: all orders in
// one slice, the oldest first, looked through from end to end for everything.
type reference struct {
	orders []*refOrder
}

type refOrder struct {
	handle      Handle // given by the book under test; 0 is the market maker's
	side        feed.Side
	price       feed.Price
	qty, leaves feed.Size
}

// meets reports whether an order that came in may trade with one that rests.
func meets(side feed.Side, market bool, limit feed.Price, r *refOrder) bool {
	switch {
	case r.side == side:
		return false
	case market:
		return true
	case side == feed.SideBuy:
		return r.price <= limit
	default:
		return r.price >= limit
	}
}

// next is the order to trade with: of the best price, the oldest.
func (m *reference) next(side feed.Side, market bool, limit feed.Price) *refOrder {
	var best *refOrder
	for _, r := range m.orders {
		if !meets(side, market, limit, r) {
			continue
		}
		if best == nil || (side == feed.SideBuy && r.price < best.price) || (side == feed.SideSell && r.price > best.price) {
			best = r
		}
	}
	return best
}

func (m *reference) trade(side feed.Side, market bool, limit feed.Price, leaves feed.Size) (feed.Size, []Fill) {
	var fills []Fill
	for leaves > 0 {
		r := m.next(side, market, limit)
		if r == nil {
			break
		}
		qty := min(leaves, r.leaves)
		leaves -= qty
		r.leaves -= qty
		fills = append(fills, Fill{
			Resting: r.handle, Aggressor: side, Qty: qty, Price: r.price, RestingLeaves: r.leaves, AggressorLeaves: leaves,
		})
		if r.leaves == 0 {
			m.drop(r)
		}
	}
	return leaves, fills
}

func (m *reference) drop(r *refOrder) {
	m.orders = slices.DeleteFunc(m.orders, func(o *refOrder) bool { return o == r })
}

func (m *reference) find(h Handle) *refOrder {
	for _, r := range m.orders {
		if r.handle == h && h != MarketMaker {
			return r
		}
	}
	return nil
}

// add gives the Result without its handle, which the caller puts into the order
// that it returns, if one rests.
func (m *reference) add(o Order) (Result, []Fill, *refOrder) {
	market := o.Type == order.Market
	if o.TimeInForce == order.FOK {
		need := o.Qty
		for _, r := range m.orders {
			if need > 0 && meets(o.Side, market, o.Price, r) {
				need -= min(need, r.leaves)
			}
		}
		if need > 0 {
			return Result{Status: order.Canceled}, nil, nil
		}
	}
	leaves, fills := m.trade(o.Side, market, o.Price, o.Qty)
	r := Result{Status: refStatus(o.Qty-leaves, leaves), CumQty: o.Qty - leaves, LeavesQty: leaves}
	switch {
	case leaves == 0:
		return r, fills, nil
	case market || o.TimeInForce == order.IOC:
		return Result{Status: order.Canceled, CumQty: r.CumQty}, fills, nil
	}
	rests := &refOrder{side: o.Side, price: o.Price, qty: o.Qty, leaves: leaves}
	m.orders = append(m.orders, rests)
	return r, fills, rests
}

func (m *reference) cancel(h Handle) (Result, error) {
	r := m.find(h)
	if r == nil {
		return Result{}, ErrNotResting
	}
	m.drop(r)
	return Result{Status: order.Canceled, CumQty: r.qty - r.leaves}, nil
}

func (m *reference) replace(h Handle, qty feed.Size, price feed.Price) (Result, []Fill, error) {
	r := m.find(h)
	if r == nil {
		return Result{}, nil, ErrNotResting
	}
	if qty <= 0 {
		return Result{}, nil, errQty
	}
	if price <= 0 {
		return Result{}, nil, errPrice
	}
	cum := r.qty - r.leaves
	if qty < cum {
		return Result{}, nil, ErrBelowCum
	}
	keeps := price == r.price && qty <= r.qty
	var fills []Fill
	r.qty, r.leaves, r.price = qty, qty-cum, price
	if !keeps {
		m.drop(r)
		r.leaves, fills = m.trade(r.side, false, price, r.leaves)
		m.orders = append(m.orders, r)
	}
	result := Result{Handle: h, Status: refStatus(r.qty-r.leaves, r.leaves), CumQty: r.qty - r.leaves, LeavesQty: r.leaves}
	if r.leaves == 0 {
		m.drop(r)
		result.Handle = 0
	}
	return result, fills, nil
}

func (m *reference) quote(bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size) ([]Fill, error) {
	wants := []*refOrder{
		{side: feed.SideBuy, price: bidPx, qty: bidSz, leaves: bidSz},
		{side: feed.SideSell, price: askPx, qty: askSz, leaves: askSz},
	}
	wants = slices.DeleteFunc(wants, func(w *refOrder) bool { return w.price <= 0 || w.qty <= 0 })
	if len(wants) == 2 && bidPx >= askPx {
		return nil, ErrCrossedQuote
	}
	var stays []*refOrder
	m.orders = slices.DeleteFunc(m.orders, func(r *refOrder) bool {
		if r.handle != MarketMaker {
			return false
		}
		for _, w := range wants {
			if w.side == r.side && w.price == r.price {
				r.qty, r.leaves = w.qty, w.qty
				stays = append(stays, w)
				return false
			}
		}
		return true
	})
	var fills []Fill
	for _, w := range wants {
		if slices.Contains(stays, w) {
			continue
		}
		var traded []Fill
		w.leaves, traded = m.trade(w.side, false, w.price, w.leaves)
		fills = append(fills, traded...)
		if w.leaves > 0 {
			m.orders = append(m.orders, w)
		}
	}
	return fills, nil
}

func refStatus(cum, leaves feed.Size) order.Status {
	switch {
	case leaves == 0:
		return order.Filled
	case cum == 0:
		return order.New
	default:
		return order.PartiallyFilled
	}
}
