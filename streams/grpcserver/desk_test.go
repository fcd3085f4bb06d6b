package grpcserver

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/tickgauge/tickgauge/order"
)

// keeps is how many reports of an account the desk of these tests keeps.
const keeps = 4

// desk takes orders as their ids say. The exchange's own is a package that servers
// do not import; what is right about orders is tested there and, over all doors, in
// cmd.
//
//	slow…          waits until release is closed, and says so in arrived
//	big…           has an answer of 256 KB
//	refuse CODE …  is refused with that word
//
// Any other is filled. The same id again gets the first answer.
type desk struct {
	release chan struct{}
	arrived chan string // has room for 1000

	mu      sync.Mutex
	asked   []order.Request
	answers map[string]*answer
	reports map[string][]order.Execution
	watches map[*watch]struct{}
}

type answer struct {
	request   order.Request
	execution order.Execution
	settled   chan struct{}
}

func newDesk() *desk {
	return &desk{
		release: make(chan struct{}), arrived: make(chan string, 1000), answers: map[string]*answer{},
		reports: map[string][]order.Execution{"acct-1": nil, "acct-2": nil}, watches: map[*watch]struct{}{},
	}
}

// Submit is order.Desk's.
func (d *desk) Submit(ctx context.Context, req order.Request) (order.Execution, error) {
	if req.Account == "" {
		req.Account = "acct-1"
	}
	d.mu.Lock()
	d.asked = append(d.asked, req)
	a, known := d.answers[req.Account+"/"+req.ClOrdID]
	if !known {
		a = &answer{request: req, settled: make(chan struct{})}
		d.answers[req.Account+"/"+req.ClOrdID] = a
	}
	d.mu.Unlock()
	if strings.HasPrefix(req.ClOrdID, "slow") {
		d.arrived <- req.ClOrdID
	}
	if known {
		if a.request != req {
			return rejected(req, order.RejectDuplicate), nil
		}
		select {
		case <-a.settled:
			return a.execution, nil
		case <-ctx.Done():
			return order.Execution{}, ctx.Err()
		}
	}
	if strings.HasPrefix(req.ClOrdID, "slow") {
		<-d.release
	}
	a.execution = d.answer(req)
	close(a.settled)
	return a.execution, nil
}

func (d *desk) answer(req order.Request) order.Execution {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.reports[req.Account]; !ok {
		return rejected(req, order.RejectUnknownAccount)
	}
	if refuse, ok := strings.CutPrefix(req.ClOrdID, "refuse "); ok {
		code, _, _ := strings.Cut(refuse, " ")
		return rejected(req, order.RejectCode(code))
	}
	e := reportOn(req)
	e.ExecType = []order.ExecType{order.ActionExecute: order.ExecTrade, order.ActionCancel: order.ExecCanceled, order.ActionReplace: order.ExecReplaced}[req.Action]
	e.OrdStatus = []order.Status{order.ActionExecute: order.Filled, order.ActionCancel: order.Canceled, order.ActionReplace: order.New}[req.Action]
	e.ReportSeq = uint64(len(d.reports[req.Account]) + 1)
	e.OrderID, e.ExecID, e.TransactTimeNS = e.ReportSeq, e.ReportSeq, int64(1_700_000_000_000_000_000+e.ReportSeq)
	if strings.HasPrefix(req.ClOrdID, "big") {
		e.Text = strings.Repeat("x", 256<<10)
	}
	d.reports[req.Account] = append(d.reports[req.Account], e)
	for w := range d.watches {
		w.wake()
	}
	return e
}

func reportOn(req order.Request) order.Execution {
	return order.Execution{
		Account: req.Account, ClOrdID: req.ClOrdID, OrigClOrdID: req.OrigClOrdID, Symbol: req.Symbol, Side: req.Side,
		Type: req.Type, TimeInForce: req.TimeInForce, OrderQty: req.OrderQty, Price: req.Price,
	}
}

func rejected(req order.Request, code order.RejectCode) order.Execution {
	e := reportOn(req)
	e.ExecType, e.OrdStatus, e.Reject, e.Text = order.ExecRejected, order.Rejected, code, "no: "+req.ClOrdID
	return e
}

// count is how many requests the desk was asked.
func (d *desk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.asked)
}

// watched is how many watches have not been closed.
func (d *desk) watched() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.watches)
}

// Find is order.Desk's.
func (d *desk) Find(_ context.Context, account, clOrdID string) (order.Execution, error) {
	if account == "" {
		account = "acct-1"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.reports[account]; !ok {
		return order.Execution{}, fmt.Errorf("%w: %.20s", order.ErrUnknownAccount, account)
	}
	a := d.answers[account+"/"+clOrdID]
	if a == nil {
		return order.Execution{}, fmt.Errorf("%w: %.20s", order.ErrUnknownOrder, clOrdID)
	}
	return a.execution, nil
}

// Watch is order.Desk's.
func (d *desk) Watch(account string, after uint64) (order.Watch, error) {
	if account == "" {
		account = "acct-1"
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	reports, ok := d.reports[account]
	switch newest := uint64(len(reports)); {
	case !ok:
		return nil, fmt.Errorf("%w: %.20s", order.ErrUnknownAccount, account)
	case after == order.FromNow:
		after = newest
	case after > newest:
		after = 0
	}
	w := &watch{desk: d, account: account, last: after, ready: make(chan struct{}, 1)}
	w.wake()
	d.watches[w] = struct{}{}
	return w, nil
}

type watch struct {
	desk    *desk
	account string
	last    uint64
	ready   chan struct{}
}

func (w *watch) wake() {
	select {
	case w.ready <- struct{}{}:
	default:
	}
}

// Ready is order.Watch's.
func (w *watch) Ready() <-chan struct{} { return w.ready }

// Account is order.Watch's.
func (w *watch) Account() string { return w.account }

// Last is order.Watch's.
func (w *watch) Last() uint64 {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	return w.last
}

// Newest is order.Watch's.
func (w *watch) Newest() uint64 {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	return uint64(len(w.desk.reports[w.account]))
}

// Take is order.Watch's.
func (w *watch) Take(dst []order.Execution, limit int) []order.Execution {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	reports := w.desk.reports[w.account]
	newest := uint64(len(reports))
	if newest > w.last+keeps {
		w.last = newest - keeps
	}
	for ; limit > 0 && w.last < newest; limit-- {
		dst = append(dst, reports[w.last])
		w.last++
	}
	if w.last < newest {
		w.wake()
	}
	return dst
}

// Close is order.Watch's.
func (w *watch) Close() {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	delete(w.desk.watches, w)
}
