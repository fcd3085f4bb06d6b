package restserver

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// desk takes orders as their ids say, and notes what it was asked. The exchange's
// own is a package that servers do not import; orders over REST meet it in cmd.
//
//	slow…          waits until release is closed, and says so in arrived
//	refuse CODE …  is refused with that word
//
// Any other is filled. The same id again gets the first answer, for which it waits,
// and after close a new one is refused.
type desk struct {
	release chan struct{}
	arrived chan string // has room for 100

	mu      sync.Mutex
	closed  bool
	asked   []order.Request
	answers map[string]*answer
}

type answer struct {
	settled   chan struct{}
	execution order.Execution
}

func newDesk() *desk {
	return &desk{release: make(chan struct{}), arrived: make(chan string, 100), answers: make(map[string]*answer)}
}

// Submit is order.Desk's.
func (d *desk) Submit(ctx context.Context, req order.Request) (order.Execution, error) {
	d.mu.Lock()
	d.asked = append(d.asked, req)
	number := uint64(len(d.answers) + 1)
	a, known := d.answers[req.ClOrdID]
	if !known && !d.closed {
		a = &answer{settled: make(chan struct{})}
		d.answers[req.ClOrdID] = a
	}
	d.mu.Unlock()
	if a == nil {
		return rejected(req, order.RejectShuttingDown), nil
	}
	slow := strings.HasPrefix(req.ClOrdID, "slow")
	if slow {
		d.arrived <- req.ClOrdID
	}
	if known {
		select {
		case <-a.settled:
			return a.execution, nil
		case <-ctx.Done():
			return order.Execution{}, fmt.Errorf("wait for the first answer: %w", ctx.Err())
		}
	}
	if slow {
		<-d.release
	}
	a.execution = outcome(req, number)
	close(a.settled)
	return a.execution, nil
}

func outcome(req order.Request, number uint64) order.Execution {
	if refuse, ok := strings.CutPrefix(req.ClOrdID, "refuse "); ok {
		code, _, _ := strings.Cut(refuse, " ")
		return rejected(req, order.RejectCode(code))
	}
	e := reportOn(req)
	e.ExecType, e.OrdStatus = order.ExecTrade, order.Filled
	e.OrderID, e.ExecID, e.ReportSeq, e.TransactTimeNS = number, number, number, 1_700_000_000_000_000_000
	e.LastQty, e.LastPx, e.CumQty, e.AvgPx = req.OrderQty, req.Price, req.OrderQty, req.Price
	return e
}

func rejected(req order.Request, code order.RejectCode) order.Execution {
	e := reportOn(req)
	e.ExecType, e.OrdStatus, e.Reject, e.Text = order.ExecRejected, order.Rejected, code, "cl_ord_id is no good"
	return e
}

func reportOn(req order.Request) order.Execution {
	return order.Execution{
		Account: req.Account, ClOrdID: req.ClOrdID, OrigClOrdID: req.OrigClOrdID, Symbol: req.Symbol, Side: req.Side,
		Type: req.Type, TimeInForce: req.TimeInForce, OrderQty: req.OrderQty, Price: req.Price,
	}
}

// Find is order.Desk's. Of accounts it knows acct-1.
func (d *desk) Find(_ context.Context, account, clOrdID string) (order.Execution, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.answers[clOrdID]
	switch {
	case account != "" && account != "acct-1":
		return order.Execution{}, fmt.Errorf("%w: account %q", order.ErrUnknownAccount, account)
	case a == nil:
		return order.Execution{}, fmt.Errorf("%w: cl_ord_id %.20q", order.ErrUnknownOrder, clOrdID)
	}
	return a.execution, nil
}

// Watch is order.Desk's; no request of REST comes to it.
func (d *desk) Watch(string, uint64) (order.Watch, error) { return nil, order.ErrUnknownAccount }

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
}

// take returns what the desk was asked since it was called last.
func (d *desk) take() []order.Request {
	d.mu.Lock()
	defer d.mu.Unlock()
	asked := d.asked
	d.asked = nil
	return asked
}

// good is an order of which a desk can have nothing against.
func good(id string) order.Request {
	return order.Request{
		Action: order.ActionExecute, Account: "acct-1", ClOrdID: id, Symbol: "AAA", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 100_000_000, Price: 101_000_000_000,
	}
}
