package desk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/account"
	"github.com/tickgauge/tickgauge/order/book"
)

type stats struct{ requests, rejected, repeated, trades, crossedQuotes atomic.Int64 }

// Stats counts what a desk has done since it was made.
type Stats struct {
	Requests      int64 `json:"requests"`
	Rejected      int64 `json:"rejected"`
	Repeated      int64 `json:"repeated"` // answered from the memory of ids
	Trades        int64 `json:"trades"`
	CrossedQuotes int64 `json:"crossed_quotes"` // quotes of the feed that were no use
}

// Stats returns the counters.
func (d *Desk) Stats() Stats {
	return Stats{
		Requests: d.stats.requests.Load(), Rejected: d.stats.rejected.Load(), Repeated: d.stats.repeated.Load(),
		Trades: d.stats.trades.Load(), CrossedQuotes: d.stats.crossedQuotes.Load(),
	}
}

// Submit acts on a request. See order.Desk.
func (d *Desk) Submit(ctx context.Context, req order.Request) (order.Execution, error) {
	h := d.holder(req.Account)
	if h == nil {
		d.stats.requests.Add(1)
		return d.refuse(nil, req, order.RejectUnknownAccount, d.noAccount(req.Account), 0), nil
	}
	req.Account = h.name
	if m := d.byName[req.Symbol]; m != nil {
		req.Symbol = m.symbol.Name // the desk keeps it, and need not keep each order's own copy
	}
	// Refusals need no id to be remembered by; what is well formed has one.
	if code, text := d.invalid(&req); code != "" {
		d.stats.requests.Add(1)
		return d.refuse(h, req, code, text, 0), nil
	}
	entered := d.enter()
	d.stats.requests.Add(1) // from here on it is answered, also while the desk closes
	if entered {
		defer d.inFlight.Done()
	}
	if req.ClOrdID == "" { // a cancel, which is the same however often it comes
		e, _ := d.act(ctx, h, req, entered)
		return e, nil
	}
	// One that is known has its answer while the desk closes too: who asks again
	// must not take a refusal for the outcome.
	answer, first := d.memory.Begin(account.Key{Account: h.name, ClOrdID: req.ClOrdID}, req, feed.Now())
	if first {
		e, st := d.act(ctx, h, req, entered)
		answer.Settle(unchanging(&e, st), st)
		return e, nil
	}
	if !answer.Same(req) {
		return d.refuse(h, req, order.RejectDuplicate, fmt.Sprintf("cl_ord_id %s was used for another request; take a new one", short(req.ClOrdID)), 0), nil
	}
	d.stats.repeated.Add(1)
	return answer.Wait(ctx)
}

// unchanging returns where the answer is kept for ever: where it is the last report
// of an order that has ended the order has it.
func unchanging(e *order.Execution, st *state) *order.Execution {
	if st != nil && e.OrdStatus.Terminal() && st.ended(e.ExecID) {
		return &st.last
	}
	kept := *e
	return &kept
}

// ended reports whether the order has ended, with the report of that number.
func (st *state) ended(execID uint64) bool {
	st.market.mu.Lock()
	defer st.market.mu.Unlock()
	return st.handle == 0 && st.last.OrdStatus.Terminal() && st.last.ExecID == execID
}

// act serves a valid request and returns its answer and the order it is about.
// It does not end with ctx: once begun a request has an outcome.
func (d *Desk) act(_ context.Context, h *holder, req order.Request, entered bool) (order.Execution, *state) {
	if !entered {
		return d.refuse(h, req, order.RejectShuttingDown, "the exchange is shutting down; send the order again later", 0), nil
	}
	if st := h.resting(req.ClOrdID); st != nil { // the memory has forgotten it, the book has not
		return d.refuse(h, req, order.RejectDuplicate, fmt.Sprintf("cl_ord_id %s is that of an open order; take a new one", short(req.ClOrdID)), 0), st
	}
	waited := d.pacer.serve()
	if req.Action == order.ActionExecute {
		return d.execute(h, req, waited)
	}
	st := d.find(h, req.OrigClOrdID)
	if st == nil {
		return d.refuse(h, req, order.RejectUnknownOrder, fmt.Sprintf("orig_cl_ord_id %s is no order of %s", short(req.OrigClOrdID), h.name), waited), nil
	}
	st.market.mu.Lock()
	defer st.market.mu.Unlock()
	if st.handle == 0 {
		return d.refuseChange(st, req, order.RejectTooLate, "orig_cl_ord_id "+short(req.OrigClOrdID)+" is "+ended(st.last.OrdStatus)+" already", waited), st
	}
	if req.Action == order.ActionCancel {
		return d.cancel(st, req, waited), st
	}
	return d.replace(st, req, waited), st
}

func ended(s order.Status) string {
	switch s {
	case order.Filled:
		return "filled"
	case order.Rejected:
		return "rejected"
	default:
		return "canceled"
	}
}

func (d *Desk) execute(h *holder, req order.Request, waited int64) (order.Execution, *state) {
	m := d.byName[req.Symbol]
	m.mu.Lock()
	defer m.mu.Unlock()
	st := &state{holder: h, market: m}
	if mayRest(req.Type, req.TimeInForce) && !h.admit(req.ClOrdID, st, d.opts.OpenOrders) {
		return d.refuse(h, req, order.RejectTooManyOpen, fmt.Sprintf("%s has %d orders resting; cancel some", h.name, d.opts.OpenOrders), waited), nil
	}
	e := reportOn(req)
	e.OrderID, e.ServiceNS = d.orderIDs.Add(1), waited
	e.ExecType, e.OrdStatus, e.LeavesQty = order.ExecNew, order.New, req.OrderQty
	d.report(st, e)
	result, fills, err := m.book.Add(book.Order{
		Side: req.Side, Type: req.Type, TimeInForce: req.TimeInForce, Qty: req.OrderQty, Price: req.Price,
	}, m.fills[:0])
	m.fills = fills
	if err != nil { // validation has let through what is no order
		st.closed()
		return d.refuseChange(st, req, order.RejectBadType, err.Error(), waited), st
	}
	d.settle(st, result, fills)
	return st.last, st
}

func mayRest(typ order.Type, tif order.TimeInForce) bool {
	return typ == order.Limit && (tif == order.Day || tif == order.TIFNone)
}

// settle reports the trades of an order that came in, then what became of it.
func (d *Desk) settle(st *state, result book.Result, fills []book.Fill) {
	m := st.market
	for i := range fills {
		d.traded(m, &fills[i])
		d.restingTraded(m, &fills[i])
		d.trade(st, fills[i].Qty, fills[i].Price, fills[i].AggressorLeaves)
	}
	if result.Handle != 0 {
		st.handle = result.Handle
		m.rest(result.Handle, st)
		return
	}
	if mayRest(st.last.Type, st.last.TimeInForce) {
		st.closed()
	}
	if result.Status == order.Canceled {
		e := st.last
		e.ExecType, e.OrdStatus, e.LeavesQty = order.ExecCanceled, order.Canceled, 0
		d.report(st, e)
	}
}

func (d *Desk) cancel(st *state, req order.Request, waited int64) order.Execution {
	m := st.market
	if _, err := m.book.Cancel(st.handle); err != nil {
		return d.refuseChange(st, req, order.RejectTooLate, err.Error(), waited)
	}
	m.rest(st.handle, nil)
	st.handle = 0
	st.closed()
	e := st.last
	if req.ClOrdID != "" {
		e.ClOrdID, e.OrigClOrdID = req.ClOrdID, req.OrigClOrdID
	}
	e.ExecType, e.OrdStatus, e.LeavesQty, e.ServiceNS = order.ExecCanceled, order.Canceled, 0, waited
	d.report(st, e)
	return st.last
}

func (d *Desk) replace(st *state, req order.Request, waited int64) order.Execution {
	m := st.market
	if req.Price%m.symbol.TickSize != 0 {
		return d.refuseChange(st, req, order.RejectOffGrid, offGrid(req.Price, m.symbol), waited)
	}
	handle := st.handle
	result, fills, err := m.book.Replace(handle, req.OrderQty, req.Price, m.fills[:0])
	m.fills = fills
	switch {
	case errors.Is(err, book.ErrBelowCum):
		return d.refuseChange(st, req, order.RejectBelowCum, fmt.Sprintf("order_qty %s is below the %s that is filled", req.OrderQty, st.last.CumQty), waited)
	case err != nil:
		return d.refuseChange(st, req, order.RejectTooLate, err.Error(), waited)
	}
	st.holder.rename(st.last.ClOrdID, req.ClOrdID, st)
	m.rest(handle, nil)
	st.handle = 0
	e := st.last
	e.ClOrdID, e.OrigClOrdID = req.ClOrdID, req.OrigClOrdID
	e.OrderQty, e.Price, e.ServiceNS = req.OrderQty, req.Price, waited
	e.ExecType, e.LeavesQty = order.ExecReplaced, req.OrderQty-e.CumQty
	switch {
	case e.LeavesQty == 0:
		e.OrdStatus = order.Filled
	case e.CumQty > 0:
		e.OrdStatus = order.PartiallyFilled
	default:
		e.OrdStatus = order.New
	}
	d.report(st, e)
	d.settle(st, result, fills)
	return st.last
}
