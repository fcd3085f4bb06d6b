package trader

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeVenue answers orders as its answer says, and keeps what it was asked.
type fakeVenue struct {
	answer func(ctx context.Context, n int64, req *order.Request) (order.Execution, error)
	dialed atomic.Int64
	opened atomic.Int64
	open   atomic.Int64
	asked  atomic.Int64
	refuse atomic.Bool // dials and opens

	mu  sync.Mutex
	ids map[string]int
	buy int
	all int
}

func newFakeVenue(answer func(ctx context.Context, n int64, req *order.Request) (order.Execution, error)) *fakeVenue {
	if answer == nil {
		answer = func(_ context.Context, _ int64, req *order.Request) (order.Execution, error) { return filled(req), nil }
	}
	return &fakeVenue{answer: answer, ids: map[string]int{}}
}

func filled(req *order.Request) order.Execution {
	return order.Execution{ClOrdID: req.ClOrdID, ExecType: order.ExecTrade, OrdStatus: order.Filled, ReportSeq: 1}
}

var errGone = errors.New("the exchange is gone")

func (v *fakeVenue) DialOrders(context.Context, int) (clients.OrderConn, error) {
	if v.refuse.Load() {
		return nil, errGone
	}
	v.dialed.Add(1)
	v.open.Add(1)
	return &fakeConn{v: v}, nil
}

type fakeConn struct {
	v    *fakeVenue
	once sync.Once
}

func (c *fakeConn) OpenOrders(context.Context) (clients.OrderEntry, error) {
	if c.v.refuse.Load() {
		return nil, errGone
	}
	c.v.opened.Add(1)
	return &fakeEntry{v: c.v}, nil
}

func (c *fakeConn) Close() error { c.once.Do(func() { c.v.open.Add(-1) }); return nil }

type fakeEntry struct{ v *fakeVenue }

func (e *fakeEntry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	v := e.v
	n := v.asked.Add(1)
	v.mu.Lock()
	v.ids[req.ClOrdID]++
	if v.all++; req.Side == feed.SideBuy {
		v.buy++
	}
	v.mu.Unlock()
	x, err := v.answer(ctx, n, req)
	if errors.Is(err, clients.ErrNotSent) {
		v.mu.Lock()
		v.ids[req.ClOrdID]--
		v.mu.Unlock()
	}
	return clients.Ack{ReceivedNS: feed.Now(), Execution: x}, err
}

func (e *fakeEntry) Close() error { return nil }

func quoted(context.Context) (feed.Tick, error) { return feed.Tick{BidPx: 99e9, AskPx: 101e9}, nil }

// trade runs a trader to its end and checks what must hold of every run.
func trade(t *testing.T, v *fakeVenue, workers int, opts Options, interrupt <-chan struct{}) *measure.Orders {
	t.Helper()
	tr, err := New(v, "A", quoted, workers, opts)
	if err != nil {
		t.Fatal(err)
	}
	run, err := tr.Run(t.Context(), interrupt)
	if err != nil {
		t.Fatal(err)
	}
	if run.Sent != run.Acked+run.Rejected+run.Failed {
		t.Errorf("sent %d is not %d + %d + %d", run.Sent, run.Acked, run.Rejected, run.Failed)
	}
	if v.open.Load() != 0 {
		t.Errorf("%d connections are open still", v.open.Load())
	}
	for id, n := range v.ids {
		if n != 1 || len(id) != 21 {
			t.Errorf("id %s was used %d times", id, n)
		}
	}
	return run
}

// TestClosedLoop: every worker sends when it has its answer; sides take turns.
func TestClosedLoop(t *testing.T) {
	v := newFakeVenue(func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		want := feed.Price(101e9)
		if req.Side == feed.SideSell {
			want = 99e9
		}
		if req.Price != want || req.OrderQty != 1e8 || req.TimeInForce != order.IOC || req.Type != order.Limit || req.Symbol != "A" || req.Account != "acct-7" {
			t.Errorf("order %+v", req)
		}
		time.AfterFunc(time.Millisecond, func() {}) // so that the loop does not spin
		x := filled(req)
		if n%10 == 0 {
			x.ExecType, x.Reject = order.ExecRejected, order.RejectBadQty
		}
		return x, nil
	})
	run := trade(t, v, 6, Options{Connections: 2, Warmup: 20 * time.Millisecond, Duration: 100 * time.Millisecond, Account: "acct-7"}, nil)
	if v.dialed.Load() != 2 || v.opened.Load() != 6 || run.Workers != 6 || run.Connections != 2 || run.Rate != 0 {
		t.Errorf("%d dialed, %d opened, run %+v", v.dialed.Load(), v.opened.Load(), run)
	}
	if run.Acked == 0 || run.Rejected == 0 || run.Failed != 0 || run.Lag != nil || run.Latency == nil || run.Connect == nil || run.ClientCPUNSPerOrder == nil || run.ServerCPUNSPerOrder != nil {
		t.Errorf("run %+v", run)
	}
	if d := 2*v.buy - v.all; d < -6 || d > 6 {
		t.Errorf("%d buys of %d", v.buy, v.all)
	}
}

// TestOpenLoopChargesFromDue: an exchange that stops for 100 ms shows in all the
// orders that were due meanwhile, not in the few that were under way.
func TestOpenLoopChargesFromDue(t *testing.T) {
	stall := make(chan struct{})
	v := newFakeVenue(func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n == 20 {
			time.AfterFunc(100*time.Millisecond, func() { close(stall) })
		}
		if n >= 20 {
			<-stall
		}
		return filled(req), nil
	})
	run := trade(t, v, 4, Options{Rate: 1000, Duration: 400 * time.Millisecond}, nil)
	if run.Sent != 400 || run.Acked != 400 {
		t.Fatalf("sent %d, acked %d, want the 400 that were due", run.Sent, run.Acked)
	}
	// About 100 of 400 orders were due in the stall, and waited 50 ms in the mean.
	if run.Latency.P90 < int64(10*time.Millisecond) || run.Latency.Max < int64(90*time.Millisecond) || run.Lag.Max < int64(50*time.Millisecond) {
		t.Errorf("latency %+v, lag %+v hide the stall", run.Latency, run.Lag)
	}
	if !run.Saturated || !strings.Contains(strings.Join(run.Reasons, " "), "waited for one of the 4 workers") {
		t.Errorf("reasons %q", run.Reasons)
	}
}

// TestOverloadIsSaturated: a rate that the workers cannot keep is told as such, also
// where the backlog of the warm-up takes the whole window.
func TestOverloadIsSaturated(t *testing.T) {
	v := newFakeVenue(func(ctx context.Context, _ int64, req *order.Request) (order.Execution, error) {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
		}
		return filled(req), nil
	})
	for _, warmup := range []time.Duration{0, 300 * time.Millisecond} {
		run := trade(t, v, 2, Options{Rate: 20_000, Warmup: warmup, Duration: 200 * time.Millisecond}, nil)
		if !run.Saturated || !regexp.MustCompile(`(100\.0|99\.[5-9])% of the orders waited`).MatchString(strings.Join(run.Reasons, "; ")) || warmup > 0 && run.Sent != 0 {
			t.Errorf("after a warm-up of %s: %+v", warmup, run)
		}
	}
}

// TestFailuresAreCountedAndReopened: what breaks an entry costs one order, what the
// exchange says of an order does not break it.
func TestFailuresAreCountedAndReopened(t *testing.T) {
	v := newFakeVenue(func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		switch n % 50 {
		case 10:
			return order.Execution{}, errGone
		case 20:
			return order.Execution{}, &feed.Problem{Code: feed.CodeRateLimited, Message: "slower"}
		}
		return filled(req), nil
	})
	run := trade(t, v, 2, Options{Rate: 1000, Duration: 300 * time.Millisecond}, nil)
	if run.Sent != 300 || run.Failed != 12 || run.FirstFailure != errGone.Error() || run.Reopened != 6 || run.Valid {
		t.Errorf("run %+v", run)
	}
	if got := v.opened.Load(); got != 2+6 {
		t.Errorf("%d entries were opened, want one more for each that broke", got)
	}
}

// TestAnsweredAsItExpires: an order that is answered as it is given up takes no other
// order with it.
func TestAnsweredAsItExpires(t *testing.T) {
	v := newFakeVenue(func(ctx context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n%10 == 5 {
			<-ctx.Done() // given up, and answered all the same
		} else if err := ctx.Err(); err != nil {
			return order.Execution{}, err
		}
		return filled(req), nil
	})
	run := trade(t, v, 1, Options{Rate: 200, Duration: 300 * time.Millisecond, OrderTimeout: 20 * time.Millisecond}, nil)
	if run.Failed != 0 || run.Acked < 10 {
		t.Errorf("run %+v", run)
	}
}

// TestNotSent: an order that never left goes over another connection, and has not
// failed.
func TestNotSent(t *testing.T) {
	v := newFakeVenue(func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n%50 == 10 {
			return order.Execution{}, fmt.Errorf("REST: %w", clients.ErrNotSent)
		}
		return filled(req), nil
	})
	run := trade(t, v, 2, Options{Rate: 1000, Duration: 300 * time.Millisecond}, nil)
	if run.Sent != 300 || run.Failed != 0 || run.Reopened == 0 || run.FirstFailure != "" || run.Acked != 300 {
		t.Errorf("run %+v", run)
	}
}

// TestExchangeGone: when nothing can be reached any more the run ends by itself.
func TestExchangeGone(t *testing.T) {
	v := newFakeVenue(nil)
	v.answer = func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n > 30 {
			v.refuse.Store(true)
			return order.Execution{}, errGone
		}
		return filled(req), nil
	}
	run := trade(t, v, 3, Options{Rate: 500, Duration: 200 * time.Millisecond}, nil)
	if run.Valid || run.Failed != 3 || run.Sent != 33 || !strings.Contains(strings.Join(run.Reasons, "; "), "3 of 3 workers had no connection at the end") {
		t.Errorf("run %+v", run)
	}
}

// TestRefusingIsNotHammered: where every order fails at once, as over gRPC when the
// exchange is gone, workers ask ever more seldom.
func TestRefusingIsNotHammered(t *testing.T) {
	v := newFakeVenue(func(context.Context, int64, *order.Request) (order.Execution, error) {
		return order.Execution{}, errGone
	})
	run := trade(t, v, 2, Options{Duration: 300 * time.Millisecond}, nil)
	// 10 + 20 + 40 + 80 + 160 ms: each worker has time for five.
	if run.Valid || run.Failed != run.Sent || run.Sent > 12 {
		t.Errorf("run %+v", run)
	}
}

// TestOrderTimeout: an order without an answer has failed, and its worker goes on.
func TestOrderTimeout(t *testing.T) {
	v := newFakeVenue(func(ctx context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n == 5 {
			<-ctx.Done()
			return order.Execution{}, ctx.Err()
		}
		return filled(req), nil
	})
	run := trade(t, v, 1, Options{Rate: 200, Duration: 300 * time.Millisecond, OrderTimeout: 50 * time.Millisecond}, nil)
	if run.Failed != 1 || run.FirstFailure != "no answer within 50ms" || run.Acked < 10 || run.Valid {
		t.Errorf("run %+v", run)
	}
}

func TestInterrupt(t *testing.T) {
	interrupt := make(chan struct{})
	var once sync.Once
	v := newFakeVenue(func(_ context.Context, n int64, req *order.Request) (order.Execution, error) {
		if n == 100 {
			once.Do(func() { close(interrupt) })
		}
		return filled(req), nil
	})
	run := trade(t, v, 2, Options{Rate: 500, Duration: time.Hour}, interrupt)
	if !run.Interrupted || run.Valid || run.Sent < 90 || run.DurationNS > int64(time.Minute) {
		t.Errorf("run %+v", run)
	}
	tr, err := New(newFakeVenue(nil), "A", quoted, 1, Options{Warmup: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tr.Run(t.Context(), interrupt); !errors.Is(err, ErrInterrupted) {
		t.Errorf("before the window: %v", err)
	}
}

func TestRunFails(t *testing.T) {
	refusing := newFakeVenue(nil)
	refusing.refuse.Store(true)
	broken := func(context.Context) (feed.Tick, error) { return feed.Tick{}, errGone }
	oneSided := func(context.Context) (feed.Tick, error) { return feed.Tick{BidPx: 1}, nil }
	for _, c := range []struct {
		name  string
		v     *fakeVenue
		quote Quote
		says  string
	}{
		{"dial", refusing, quoted, "gone"}, {"quote", newFakeVenue(nil), broken, "quote of A: the exchange is gone"},
		{"one side", newFakeVenue(nil), oneSided, "wants both"},
	} {
		tr, err := New(c.v, "A", c.quote, 3, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tr.Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, c := range []struct {
		workers int
		symbol  string
		opts    Options
	}{{0, "A", Options{}}, {1, "", Options{}}, {1, "A", Options{Connections: 2}}, {1, "A", Options{Rate: -1}}, {1, "A", Options{Rate: 2e9}}} {
		if _, err := New(newFakeVenue(nil), c.symbol, quoted, c.workers, c.opts); err == nil {
			t.Errorf("%+v was taken", c)
		}
	}
}

// TestLedger gives the exchange's CPU for an order, without that of waiting.
func TestLedger(t *testing.T) {
	v := newFakeVenue(nil)
	l := &measure.Ledger{Process: measure.Process{CPUUserNS: 700, CPUSystemNS: 400}, Counters: map[string]int64{measure.OrderRequests: 10, measure.ServiceCPU: 100}}
	run := trade(t, v, 1, Options{Rate: 100, Duration: 50 * time.Millisecond, Ledger: func(context.Context, int64, int64) (*measure.Ledger, error) { return l, nil }}, nil)
	if run.ServerCPUNSPerOrder == nil || *run.ServerCPUNSPerOrder != 100 {
		t.Errorf("run %+v", run)
	}
	l.Scheduled = 1
	run = trade(t, newFakeVenue(nil), 1, Options{Rate: 100, Duration: 50 * time.Millisecond, Ledger: func(context.Context, int64, int64) (*measure.Ledger, error) { return l, nil }}, nil)
	if run.ServerCPUNSPerOrder != nil {
		t.Errorf("beside a schedule: %+v", run)
	}
	l.Scheduled, l.Counters[measure.TicksWritten] = 0, 1
	run = trade(t, newFakeVenue(nil), 1, Options{Rate: 100, Duration: 50 * time.Millisecond, Ledger: func(context.Context, int64, int64) (*measure.Ledger, error) { return l, nil }}, nil)
	if run.ServerCPUNSPerOrder != nil {
		t.Errorf("beside streams: %+v", run)
	}
	run = trade(t, newFakeVenue(nil), 1, Options{Rate: 100, Duration: 50 * time.Millisecond, Ledger: func(context.Context, int64, int64) (*measure.Ledger, error) { return nil, fmt.Errorf("no ledger") }}, nil)
	if run.Valid || !strings.Contains(strings.Join(run.Reasons, " "), "no ledger") {
		t.Errorf("without it: %+v", run)
	}
}
