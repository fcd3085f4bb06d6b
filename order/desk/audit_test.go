package desk

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// audit follows the reports of a desk and says which of them cannot be true,
// knowing nothing of books: numbers without holes, orders that only do what an
// order can do, quantities that are bought as well as sold.
type audit struct {
	execs   uint64
	traded  uint64
	seqs    map[string]uint64 // report_seq by account
	orders  map[uint64]*audited
	answers map[order.Request]order.Execution

	reported, maker [3]feed.Size // what traded, by side: of accounts, of the market maker
}

type audited struct {
	last     order.Execution
	notional *big.Int // of its trades
}

func newAudit() *audit {
	return &audit{seqs: map[string]uint64{}, orders: map[uint64]*audited{}, answers: map[order.Request]order.Execution{}}
}

// report takes in the next report of all accounts, by exec_id.
func (a *audit) report(e order.Execution) error {
	a.execs++
	a.seqs[e.Account]++
	switch {
	case e.ExecID != a.execs:
		return fmt.Errorf("exec_id is not %d", a.execs)
	case e.ReportSeq != a.seqs[e.Account]:
		return fmt.Errorf("report_seq is not %d", a.seqs[e.Account])
	case e.ExecType == order.ExecNew && e.OrderID != uint64(len(a.orders)+1):
		return fmt.Errorf("order_id is not %d", len(a.orders)+1)
	}
	return a.follow(e)
}

// follow takes in a report that comes after all those on its order, whatever the
// numbers of others.
func (a *audit) follow(e order.Execution) error {
	switch {
	case (e.ExecType == order.ExecRejected) != (e.Reject != "") || (e.Reject != "") != (e.Text != ""):
		return errors.New("is a refusal in part")
	case (e.ExecType == order.ExecTrade) != (e.LastQty > 0) || (e.LastQty > 0) != (e.LastPx > 0):
		return errors.New("is a trade in part")
	case (e.CumQty > 0) != (e.AvgPx > 0) || e.CumQty < 0 || e.LeavesQty < 0 || e.LastQty < 0:
		return errors.New("has quantities that cannot be")
	case e.OrderID == 0 && e.ExecType != order.ExecRejected:
		return errors.New("has no order_id")
	case e.OrderID == 0:
		return refusedOrder(e)
	case e.OrdStatus.Terminal() && e.LeavesQty != 0:
		return errors.New("is terminal with something open")
	case !e.OrdStatus.Terminal() && e.CumQty+e.LeavesQty != e.OrderQty:
		return errors.New("is open, and cum_qty + leaves_qty is not order_qty")
	}
	return a.ofOrder(e)
}

func refusedOrder(e order.Execution) error {
	if e.OrdStatus != order.Rejected || e.CumQty != 0 || e.LeavesQty != 0 {
		return errors.New("refuses an order that has a state")
	}
	return nil
}

func (a *audit) ofOrder(e order.Execution) error {
	if e.ExecType == order.ExecNew {
		if a.orders[e.OrderID] != nil || e.OrdStatus != order.New || e.CumQty != 0 {
			return errors.New("is of no new order")
		}
		a.orders[e.OrderID] = &audited{last: e, notional: new(big.Int)}
		return nil
	}
	o := a.orders[e.OrderID]
	if o == nil {
		return errors.New("is of an order that was never new")
	}
	want := o.last
	// What any report may say of itself.
	want.ExecType, want.ExecID, want.ReportSeq, want.TransactTimeNS = e.ExecType, e.ExecID, e.ReportSeq, e.TransactTimeNS
	want.LastQty, want.LastPx = e.LastQty, e.LastPx
	renamed := e.ClOrdID != want.ClOrdID
	switch e.ExecType {
	case order.ExecTrade:
		want.CumQty += e.LastQty
		want.LeavesQty -= e.LastQty
		o.notional.Add(o.notional, product(e.LastQty, e.LastPx))
		want.AvgPx = average(o.notional, want.CumQty)
		want.OrdStatus = openStatus(want)
		if e.Type == order.Limit && (e.Side == feed.SideBuy && e.LastPx > e.Price || e.Side == feed.SideSell && e.LastPx < e.Price) {
			return errors.New("trades beyond its limit")
		}
	case order.ExecCanceled:
		want.ClOrdID, want.OrigClOrdID, want.ServiceNS = e.ClOrdID, e.OrigClOrdID, e.ServiceNS
		want.OrdStatus, want.LeavesQty = order.Canceled, 0
		if renamed && e.OrigClOrdID == "" {
			return errors.New("has another id from nowhere")
		}
	case order.ExecReplaced:
		want.ClOrdID, want.OrigClOrdID, want.ServiceNS = e.ClOrdID, e.OrigClOrdID, e.ServiceNS
		want.OrderQty, want.Price, want.LeavesQty = e.OrderQty, e.Price, e.OrderQty-want.CumQty
		want.OrdStatus = openStatus(want)
		if !renamed || e.OrigClOrdID == "" {
			return errors.New("replaces without another id")
		}
	case order.ExecRejected: // the order stays as it is
		want.ClOrdID, want.OrigClOrdID, want.ServiceNS, want.Reject, want.Text = e.ClOrdID, e.OrigClOrdID, e.ServiceNS, e.Reject, e.Text
		if e != want {
			return fmt.Errorf("refuses a change, and changes\n%+v", want)
		}
		return nil
	default:
		return errors.New("is of no kind")
	}
	if o.last.OrdStatus.Terminal() {
		return errors.New("comes after the end of its order")
	}
	if e != want {
		return fmt.Errorf("does not follow from the one before; want\n%+v", want)
	}
	o.last = e
	return nil
}

func openStatus(e order.Execution) order.Status {
	switch {
	case e.LeavesQty == 0:
		return order.Filled
	case e.CumQty == 0:
		return order.New
	default:
		return order.PartiallyFilled
	}
}

func product(qty feed.Size, px feed.Price) *big.Int {
	return new(big.Int).Mul(big.NewInt(int64(qty)), big.NewInt(int64(px)))
}

// average is notional / qty, a half to the even neighbor, by the rule's own words.
func average(notional *big.Int, qty feed.Size) feed.Price {
	q, rest := new(big.Int).QuoRem(notional, big.NewInt(int64(qty)), new(big.Int))
	switch rest.Lsh(rest, 1).Cmp(big.NewInt(int64(qty))) {
	case 1:
		return feed.Price(q.Int64() + 1)
	case 0:
		return feed.Price(q.Int64() + q.Int64()%2)
	}
	return feed.Price(q.Int64())
}

// answer checks what Submit returned: the last report that it caused, or what the
// same request was answered the first time.
func (a *audit) answer(e order.Execution, reports []order.Execution, req order.Request) error {
	if req.Account == "" {
		req.Account = "acct-1"
	}
	if len(reports) == 0 {
		if e.Reject == order.RejectUnknownAccount {
			a.execs++
			return refusedOrder(e)
		}
		if first := a.answers[req]; first != e {
			return fmt.Errorf("answer %+v, nothing is reported, and the first answer was %+v", e, first)
		}
		return nil
	}
	if e.ExecID != reports[len(reports)-1].ExecID || e.Account != req.Account || (e.ClOrdID != req.ClOrdID && req.ClOrdID != "") {
		return fmt.Errorf("answer %+v is not the last report on the request", e)
	}
	if e.Reject == "" && req.Action != order.ActionExecute && (e.OrigClOrdID != req.OrigClOrdID && req.ClOrdID != "") {
		return fmt.Errorf("answer %+v is not about the order asked about", e)
	}
	if kept(e) != reports[len(reports)-1] {
		return fmt.Errorf("answer %+v\n     report %+v", e, reports[len(reports)-1])
	}
	a.answers[req] = e
	return nil
}
