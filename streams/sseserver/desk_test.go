package sseserver

import (
	"context"
	"fmt"
	"sync"

	"github.com/tickgauge/tickgauge/order"
)

// keeps is how many reports of an account the desk of these tests keeps.
const keeps = 4

// desk makes a report of each order for one of two accounts. The exchange's own is
// a package that servers do not import.
type desk struct {
	mu      sync.Mutex
	reports map[string]uint64 // the newest report_seq
	watches map[*watch]struct{}
}

func newDesk() *desk {
	return &desk{reports: map[string]uint64{"acct-1": 0, "acct-2": 0}, watches: map[*watch]struct{}{}}
}

// Submit is order.Desk's.
func (d *desk) Submit(_ context.Context, req order.Request) (order.Execution, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reports[req.Account]++
	for w := range d.watches {
		select {
		case w.ready <- struct{}{}:
		default:
		}
	}
	return report(req.Account, d.reports[req.Account]), nil
}

func report(account string, seq uint64) order.Execution {
	return order.Execution{Account: account, ClOrdID: fmt.Sprint("o", seq), Symbol: "AAA", ReportSeq: seq, ExecType: order.ExecNew, OrdStatus: order.New}
}

// Find is order.Desk's.
func (d *desk) Find(context.Context, string, string) (order.Execution, error) {
	return order.Execution{}, fmt.Errorf("find: %w", order.ErrUnknownOrder)
}

// Watch is order.Desk's.
func (d *desk) Watch(account string, after uint64) (order.Watch, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	newest, ok := d.reports[account]
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: %s", order.ErrUnknownAccount, account)
	case after == order.FromNow:
		after = newest
	case after > newest:
		after = 0
	}
	w := &watch{desk: d, account: account, last: after, ready: make(chan struct{}, 1)}
	w.ready <- struct{}{}
	d.watches[w] = struct{}{}
	return w, nil
}

// open is how many watches have not been closed.
func (d *desk) open() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.watches)
}

type watch struct {
	desk    *desk
	account string
	last    uint64
	ready   chan struct{}
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
	return w.desk.reports[w.account]
}

// Take is order.Watch's.
func (w *watch) Take(dst []order.Execution, limit int) []order.Execution {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	newest := w.desk.reports[w.account]
	if newest > w.last+keeps {
		w.last = newest - keeps
	}
	for ; limit > 0 && w.last < newest; limit-- {
		w.last++
		dst = append(dst, report(w.account, w.last))
	}
	if w.last < newest {
		select {
		case w.ready <- struct{}{}:
		default:
		}
	}
	return dst
}

// Close is order.Watch's.
func (w *watch) Close() {
	w.desk.mu.Lock()
	defer w.desk.mu.Unlock()
	delete(w.desk.watches, w)
}
