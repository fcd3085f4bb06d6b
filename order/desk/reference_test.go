package desk

import (
	"math/big"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// reference is a desk as one would write it with no thought of speed: all that
// rests, of all symbols and the market maker's too, in one slice, the oldest first,
// and all ids in another, both looked through from end to end for everything.
// What it says has no transact_time, and no text.
type reference struct {
	accounts             []string
	ids, open            int
	service              int64
	resting              []*refOrder
	memory               []*refAnswer
	seqs                 map[string]uint64
	orders, execs, tally uint64
	said                 []order.Execution // since the last call
	traded               []trade
}

// refOrder is an order by its last report. The market maker's have no account.
type refOrder struct {
	last     order.Execution
	notional *big.Int
}

type refAnswer struct {
	req     order.Request
	answer  order.Execution
	subject *refOrder
}

func (r *reference) submit(req order.Request) order.Execution {
	if req.Account == "" {
		req.Account = r.accounts[0]
	}
	if !slices.Contains(r.accounts, req.Account) {
		r.execs++
		e := refRefusal(req, order.RejectUnknownAccount)
		e.ExecID = r.execs
		return e
	}
	if code := refInvalid(req); code != "" {
		return r.say(refRefusal(req, code))
	}
	if req.ClOrdID == "" {
		e, _ := r.act(req)
		return e
	}
	for _, a := range r.memory {
		if a.req.Account != req.Account || a.req.ClOrdID != req.ClOrdID {
			continue
		}
		if a.req == req {
			return a.answer
		}
		return r.say(refRefusal(req, order.RejectDuplicate))
	}
	if len(r.memory) == r.ids {
		r.memory = r.memory[1:]
	}
	e, subject := r.act(req)
	r.memory = append(r.memory, &refAnswer{req, e, subject})
	return e
}

func (r *reference) act(req order.Request) (order.Execution, *refOrder) {
	if o := r.byID(req.Account, req.ClOrdID); o != nil {
		return r.say(refRefusal(req, order.RejectDuplicate)), o
	}
	if req.Action == order.ActionExecute {
		return r.execute(req)
	}
	o := r.byID(req.Account, req.OrigClOrdID)
	for _, a := range r.memory {
		if o == nil && a.req.Account == req.Account && a.req.ClOrdID == req.OrigClOrdID {
			o = a.subject
		}
	}
	if o == nil {
		e := refRefusal(req, order.RejectUnknownOrder)
		e.ServiceNS = r.service
		return r.say(e), nil
	}
	refusal := func(code order.RejectCode) order.Execution {
		e := o.last
		e.ClOrdID, e.OrigClOrdID, e.ServiceNS = req.ClOrdID, req.OrigClOrdID, r.service
		e.ExecType, e.Reject, e.LastQty, e.LastPx = order.ExecRejected, code, 0, 0
		return r.say(e)
	}
	switch {
	case !slices.Contains(r.resting, o):
		return refusal(order.RejectTooLate), o
	case req.Action == order.ActionReplace && req.Price%refSymbol(o.last.Symbol).TickSize != 0:
		return refusal(order.RejectOffGrid), o
	case req.Action == order.ActionReplace && req.OrderQty < o.last.CumQty:
		return refusal(order.RejectBelowCum), o
	}
	e := o.last
	if req.ClOrdID != "" {
		e.ClOrdID, e.OrigClOrdID = req.ClOrdID, req.OrigClOrdID
	}
	e.ServiceNS = r.service
	if req.Action == order.ActionCancel {
		r.drop(o)
		e.ExecType, e.OrdStatus, e.LeavesQty = order.ExecCanceled, order.Canceled, 0
		return r.sayOf(o, e), o
	}
	keeps := req.Price == e.Price && req.OrderQty <= e.OrderQty && req.OrderQty > e.CumQty
	e.OrderQty, e.Price, e.LeavesQty = req.OrderQty, req.Price, req.OrderQty-e.CumQty
	e.ExecType, e.OrdStatus = order.ExecReplaced, openStatus(e)
	r.sayOf(o, e)
	if !keeps {
		r.drop(o)
		r.match(o)
		if o.last.LeavesQty > 0 {
			r.resting = append(r.resting, o)
		}
	}
	return o.last, o
}

func (r *reference) execute(req order.Request) (order.Execution, *refOrder) {
	rests := req.Type == order.Limit && (req.TimeInForce == order.Day || req.TimeInForce == order.TIFNone)
	open := 0
	for _, o := range r.resting {
		if o.last.Account == req.Account {
			open++
		}
	}
	if rests && open >= r.open {
		e := refRefusal(req, order.RejectTooManyOpen)
		e.ServiceNS = r.service
		return r.say(e), nil
	}
	r.orders++
	o := &refOrder{notional: new(big.Int)}
	e := refReport(req)
	e.OrderID, e.ServiceNS, e.ExecType, e.OrdStatus, e.LeavesQty = r.orders, r.service, order.ExecNew, order.New, req.OrderQty
	r.sayOf(o, e)
	if req.TimeInForce != order.FOK || r.meetable(o) >= req.OrderQty {
		r.match(o)
	}
	switch {
	case o.last.LeavesQty == 0:
	case rests:
		r.resting = append(r.resting, o)
	default:
		e = o.last
		e.ExecType, e.OrdStatus, e.LeavesQty, e.LastQty, e.LastPx = order.ExecCanceled, order.Canceled, 0, 0, 0
		r.sayOf(o, e)
	}
	return o.last, o
}

func (r *reference) quote(symbol int, bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size) {
	name := symbols[symbol].Name
	if bidPx > 0 && bidSz > 0 && askPx > 0 && askSz > 0 && bidPx >= askPx {
		bidPx, askPx = 0, 0
	}
	bid := &refOrder{last: order.Execution{Symbol: name, Side: feed.SideBuy, Type: order.Limit, Price: bidPx, LeavesQty: bidSz}}
	ask := &refOrder{last: order.Execution{Symbol: name, Side: feed.SideSell, Type: order.Limit, Price: askPx, LeavesQty: askSz}}
	var comes []*refOrder
	for _, side := range []*refOrder{bid, ask} {
		wanted := side.last.Price > 0 && side.last.LeavesQty > 0
		i := slices.IndexFunc(r.resting, func(o *refOrder) bool {
			return o.last.Account == "" && o.last.Symbol == name && o.last.Side == side.last.Side
		})
		switch {
		case i >= 0 && wanted && r.resting[i].last.Price == side.last.Price:
			r.resting[i] = side
		case i >= 0:
			r.resting = slices.Delete(r.resting, i, i+1)
			fallthrough
		default:
			if wanted {
				comes = append(comes, side)
			}
		}
	}
	for _, side := range comes {
		r.match(side)
		if side.last.LeavesQty > 0 {
			r.resting = append(r.resting, side)
		}
	}
}
