package desk

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// match trades an order with what rests: of all that it may trade with, the best
// price, and of that the oldest.
func (r *reference) match(o *refOrder) {
	for o.last.LeavesQty > 0 {
		var best *refOrder
		for _, m := range r.resting {
			if meets(o, m) && (best == nil || better(m, best)) {
				best = m
			}
		}
		if best == nil {
			return
		}
		qty, px := min(o.last.LeavesQty, best.last.LeavesQty), best.last.Price
		if best.last.LeavesQty == qty {
			r.drop(best)
		}
		r.tally++
		r.traded = append(r.traded, trade{refIndex(o.last.Symbol), px, qty, r.tally, o.last.Side})
		r.trade(best, qty, px)
		r.trade(o, qty, px)
	}
}

func meets(o, m *refOrder) bool {
	switch {
	case m.last.Symbol != o.last.Symbol || m.last.Side == o.last.Side:
		return false
	case o.last.Type == order.Market:
		return true
	case o.last.Side == feed.SideBuy:
		return m.last.Price <= o.last.Price
	default:
		return m.last.Price >= o.last.Price
	}
}

func better(a, b *refOrder) bool {
	if a.last.Side == feed.SideBuy {
		return a.last.Price > b.last.Price
	}
	return a.last.Price < b.last.Price
}

// meetable is how much an order could trade.
func (r *reference) meetable(o *refOrder) (sum feed.Size) {
	for _, m := range r.resting {
		if meets(o, m) {
			sum += m.last.LeavesQty
		}
	}
	return sum
}

func (r *reference) trade(o *refOrder, qty feed.Size, px feed.Price) {
	e := o.last
	e.LeavesQty -= qty
	if e.Account == "" {
		o.last = e
		return
	}
	e.CumQty += qty
	e.LastQty, e.LastPx = qty, px
	o.notional.Add(o.notional, product(qty, px))
	e.AvgPx = average(o.notional, e.CumQty)
	e.ExecType, e.OrdStatus = order.ExecTrade, openStatus(e)
	r.sayOf(o, e)
}

func (r *reference) drop(o *refOrder) {
	r.resting = slices.DeleteFunc(r.resting, func(m *refOrder) bool { return m == o })
}

// byID finds the order that rests under an id.
func (r *reference) byID(account, id string) *refOrder {
	for _, o := range r.resting {
		if o.last.Account == account && o.last.ClOrdID == id {
			return o
		}
	}
	return nil
}

func (r *reference) sayOf(o *refOrder, e order.Execution) order.Execution {
	if e.ExecType != order.ExecTrade {
		e.LastQty, e.LastPx = 0, 0
	}
	o.last = r.say(e)
	return o.last
}

func (r *reference) say(e order.Execution) order.Execution {
	r.execs++
	r.seqs[e.Account]++
	e.ExecID, e.ReportSeq = r.execs, r.seqs[e.Account]
	r.said = append(r.said, e)
	return e
}

func refReport(req order.Request) order.Execution {
	return order.Execution{
		Account: req.Account, ClOrdID: req.ClOrdID, OrigClOrdID: req.OrigClOrdID, Symbol: req.Symbol, Side: req.Side,
		Type: req.Type, TimeInForce: req.TimeInForce, OrderQty: req.OrderQty, Price: req.Price,
	}
}

func refRefusal(req order.Request, code order.RejectCode) order.Execution {
	e := refReport(req)
	e.ExecType, e.OrdStatus, e.Reject = order.ExecRejected, order.Rejected, code
	return e
}

func refIndex(symbol string) int {
	return slices.IndexFunc(symbols, func(s feed.Symbol) bool { return s.Name == symbol })
}

func refSymbol(symbol string) feed.Symbol { return symbols[refIndex(symbol)] }

// refInvalid is the first thing that is wrong with a request.
func refInvalid(req order.Request) order.RejectCode {
	badID := func(id string) bool {
		control := false
		for _, c := range id {
			control = control || unicode.Is(unicode.Cc, c)
		}
		return id == "" || len(id) > 64 || control || !utf8.ValidString(id)
	}
	execute, replace, cancel := req.Action == order.ActionExecute, req.Action == order.ActionReplace, req.Action == order.ActionCancel
	limit := execute && req.Type == order.Limit
	for _, c := range []struct {
		wrong bool
		code  order.RejectCode
	}{
		{badID(req.ClOrdID) && (!cancel || req.ClOrdID != ""), order.RejectBadID},
		{!execute && !replace && !cancel, order.RejectBadType},
		{!execute && badID(req.OrigClOrdID), order.RejectBadID},
		{execute && refIndex(req.Symbol) < 0, order.RejectUnknownSymbol},
		{execute && req.Side != feed.SideBuy && req.Side != feed.SideSell, order.RejectBadSide},
		{execute && req.Type != order.Limit && req.Type != order.Market, order.RejectBadType},
		{execute && req.TimeInForce > order.FOK, order.RejectBadTIF},
		{!cancel && (req.OrderQty < 1 || req.OrderQty > 1e14), order.RejectBadQty},
		{(limit || replace) && req.Price < 1, order.RejectBadPrice},
		{execute && !limit && req.Price != 0, order.RejectBadPrice},
	} {
		if c.wrong {
			return c.code
		}
	}
	if limit && req.Price%refSymbol(req.Symbol).TickSize != 0 {
		return order.RejectOffGrid
	}
	return ""
}
