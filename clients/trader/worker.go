package trader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// connection is shared by the workers of its number.
type connection struct {
	dialer clients.OrderDialer
	number int

	mu   sync.Mutex
	conn clients.OrderConn
}

// open returns an entry on the connection. One that gives none any more is closed
// and dialled anew.
func (c *connection) open(ctx context.Context) (clients.OrderEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		if e, err := c.conn.OpenOrders(ctx); err == nil {
			return e, nil
		}
		_ = c.conn.Close() // it is of no use
		c.conn = nil
	}
	conn, err := c.dialer.DialOrders(ctx, c.number)
	if err != nil {
		return nil, err
	}
	e, err := conn.OpenOrders(ctx)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	c.conn = conn
	return e, nil
}

func (c *connection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close() // the run is over; there is nobody to tell
		c.conn = nil
	}
}

// worker executes one order after the other.
type worker struct {
	trader *Trader
	number int
	conn   *connection
	entry  clients.OrderEntry
	orders uint64

	sentNS atomic.Int64            // of the order under way; 0: none; negative: it took too long
	mu     sync.Mutex              // held to end it for that
	cancel context.CancelCauseFunc // of that order
}

// run works until the trader stops, then finishes the order under way.
func (w *worker) run(ctx context.Context) {
	defer w.close()
	octx := w.renew(ctx)
	for wait := shortestPause; ; {
		o, ok := w.next(ctx)
		if !ok {
			return
		}
		going := w.execute(octx, o)
		if expired := w.sentNS.Swap(0) < 0; going && expired { // answered as it was given up
			octx = w.renew(ctx)
		}
		if going {
			wait = shortestPause
			continue
		}
		// An exchange that is gone must not be asked as fast as it can refuse.
		octx = w.renew(ctx)
		if !w.pause(ctx, wait) || !w.reopen(ctx) {
			w.trader.down.Add(1)
			w.trader.rec.Away(w.number, o.SentNS, feed.Now())
			return
		}
		w.trader.rec.Away(w.number, o.SentNS, feed.Now())
		w.trader.reopened.Add(1)
		wait = min(2*wait, longestPause)
	}
}

// The pauses after orders that failed one after the other.
const (
	shortestPause = 10 * time.Millisecond
	longestPause  = time.Second
)

// pause waits, and reports false when the trader has stopped before.
func (w *worker) pause(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.trader.stopped:
	case <-ctx.Done():
	}
	return false
}

// next returns the order to send, or false when there is none any more.
func (w *worker) next(ctx context.Context) (measure.Sent, bool) {
	t := w.trader
	if t.opts.Rate > 0 {
		select {
		case o := <-t.jobs:
			o.SentNS = feed.Now()
			return o, true
		case <-t.stopped:
		case <-ctx.Done():
		}
		return measure.Sent{}, false
	}
	select {
	case <-t.stopped:
		return measure.Sent{}, false
	case <-ctx.Done():
		return measure.Sent{}, false
	default:
	}
	now := feed.Now()
	return measure.Sent{AtNS: now, SentNS: now}, true
}

// execute sends an order and counts what becomes of it. It reports false where
// the entry is of no more use.
func (w *worker) execute(ctx context.Context, o measure.Sent) bool {
	t := w.trader
	touch := t.touch.Load()
	req := order.Request{
		Action: order.ActionExecute, Account: t.opts.Account, ClOrdID: t.ids.next(), Symbol: t.symbol,
		Side: feed.SideBuy, Type: order.Limit, TimeInForce: order.IOC, OrderQty: t.opts.Qty, Price: touch.ask,
	}
	if w.orders++; (w.orders+uint64(w.number))%2 == 0 {
		req.Side, req.Price = feed.SideSell, touch.bid
	}
	t.rec.Sending(w.number, o)
	w.sentNS.Store(o.SentNS)
	ack, err := w.entry.Execute(ctx, &req)
	if errors.Is(err, clients.ErrNotSent) && w.reopen(ctx) {
		t.reopened.Add(1)
		ack, err = w.entry.Execute(ctx, &req)
	}
	switch {
	case err != nil:
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		t.rec.Failed(w.number, o, err)
		var p *feed.Problem
		return errors.As(err, &p) && !p.Fatal
	case ack.Execution.ExecType == order.ExecRejected:
		t.rec.Rejected(w.number, o, string(ack.Execution.Reject)+": "+ack.Execution.Text)
	default:
		t.rec.Acked(w.number, o, ack.ReceivedNS, ack.Execution.ServiceNS, ack.Execution.OrdStatus == order.Filled)
	}
	return true
}

// renew returns the context of the orders to come, which the watchdog ends where
// one takes too long: a context for each would cost each a timer.
func (w *worker) renew(ctx context.Context) context.Context {
	octx, cancel := context.WithCancelCause(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel(nil)
	}
	w.cancel = cancel
	return octx
}

// expire ends an order that was sent before the time given.
func (w *worker) expire(before int64, timeout time.Duration) {
	at := w.sentNS.Load()
	if at <= 0 || at > before {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	// The next order has the same context: only this one may be ended with it.
	if w.sentNS.CompareAndSwap(at, -at) && w.cancel != nil {
		w.cancel(fmt.Errorf("no answer within %s", timeout))
	}
}

// reopen opens an entry, in ever longer steps. It reports false when the trader
// has stopped before.
func (w *worker) reopen(ctx context.Context) bool {
	if w.entry != nil {
		_ = w.entry.Close()
		w.entry = nil
	}
	for wait := shortestPause; ; wait = min(2*wait, longestPause) {
		octx, cancel := context.WithTimeout(ctx, w.trader.opts.OrderTimeout)
		e, err := w.conn.open(octx)
		cancel()
		if err == nil {
			w.entry = e
			return true
		}
		if !w.pause(ctx, wait) {
			return false
		}
	}
}

func (w *worker) close() {
	if w.entry != nil {
		_ = w.entry.Close()
		w.entry = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel(nil)
	}
}
