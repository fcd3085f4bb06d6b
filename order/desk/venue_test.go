package desk

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// tester is what testing.T and rapid.T have in common here.
type tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// The symbols of a venue: A on a grid of 0.01, B on one of 5.
var symbols = []feed.Symbol{{Name: "A", TickSize: 10_000_000}, {Name: "B", TickSize: 5_000_000_000}}

// venue is a desk for one goroutine, with all that leaves it written down and
// checked by an audit: the answers, the reports of every account, and the trades.
type venue struct {
	t       tester
	desk    *Desk
	watches []order.Watch // one an account
	reports []order.Execution
	trades  []trade
	seen    int // of trades
	audit   *audit
}

// trade is what Traded is told.
type trade struct {
	symbol    int
	px        feed.Price
	qty       feed.Size
	id        uint64
	aggressor feed.Side
}

func newVenue(t tester, opts Options) *venue {
	t.Helper()
	v := &venue{t: t, audit: newAudit()}
	opts.Traded = func(symbol int, px feed.Price, qty feed.Size, id uint64, aggressor feed.Side) {
		v.trades = append(v.trades, trade{symbol, px, qty, id, aggressor})
	}
	var err error
	if v.desk, err = New(symbols, opts); err != nil {
		t.Fatalf("New: %v", err)
	}
	for _, name := range v.desk.Accounts() {
		w, err := v.desk.Watch(name, 0)
		if err != nil {
			t.Fatalf("Watch %s: %v", name, err)
		}
		v.watches = append(v.watches, w)
	}
	return v
}

// submit sends a request and returns its answer with what is new.
func (v *venue) submit(req order.Request) (order.Execution, []order.Execution, []trade) {
	v.t.Helper()
	began := time.Now()
	answer, err := v.desk.Submit(context.Background(), req)
	if err != nil {
		v.t.Fatalf("Submit %+v: %v", req, err)
	}
	reports, trades := v.news(began, true)
	if err := v.audit.answer(answer, reports, req); err != nil {
		v.t.Errorf("Submit %+v: %v", req, err)
	}
	return answer, reports, trades
}

// quote is Desk.Quote.
func (v *venue) quote(symbol int, bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size) ([]order.Execution, []trade) {
	v.t.Helper()
	began := time.Now()
	v.desk.Quote(symbol, bidPx, bidSz, askPx, askSz)
	return v.news(began, false)
}

// news takes what the desk has said since the last call, in the order of exec_id.
func (v *venue) news(began time.Time, ordered bool) ([]order.Execution, []trade) {
	v.t.Helper()
	var reports []order.Execution
	for _, w := range v.watches {
		reports = w.Take(reports, 1<<20)
	}
	slices.SortFunc(reports, func(a, b order.Execution) int { return int(a.ExecID) - int(b.ExecID) })
	trades := v.trades[v.seen:]
	v.seen = len(v.trades)
	v.reports = append(v.reports, reports...)
	// A minute is for a wall clock that is being set.
	from, to := began.Add(-time.Minute).UnixNano(), time.Now().Add(time.Minute).UnixNano()
	for i := range reports {
		if ns := reports[i].TransactTimeNS; ns < from || ns > to {
			v.t.Errorf("report %d has a transact_time of %d, it is %d", reports[i].ExecID, ns, to)
		}
		if err := v.audit.report(reports[i]); err != nil {
			v.t.Errorf("report %+v: %v", reports[i], err)
		}
	}
	if err := v.audit.tape(reports, trades, ordered); err != nil {
		v.t.Errorf("%v\nreports %+v\ntrades %+v", err, reports, trades)
	}
	if err := checkDesk(v.desk); err != nil {
		v.t.Errorf("%v", err)
	}
	return reports, trades
}

// find is Desk.Find.
func (v *venue) find(account, clOrdID string) (order.Execution, error) {
	return v.desk.Find(context.Background(), account, clOrdID)
}

// newDesk is for the tests that need no venue.
func newDesk(t testing.TB, opts Options) *Desk {
	t.Helper()
	d, err := New(symbols, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// limitOrder and the like write the requests of the tests in short.
func limitOrder(account, id string, side feed.Side, qty feed.Size, price feed.Price, tif order.TimeInForce) order.Request {
	return order.Request{
		Action: order.ActionExecute, Account: account, ClOrdID: id, Symbol: "A", Side: side,
		Type: order.Limit, TimeInForce: tif, OrderQty: qty, Price: price,
	}
}

func marketOrder(account, id string, side feed.Side, qty feed.Size) order.Request {
	return order.Request{Action: order.ActionExecute, Account: account, ClOrdID: id, Symbol: "A", Side: side, Type: order.Market, OrderQty: qty}
}

func cancelOf(account, id, orig string) order.Request {
	return order.Request{Action: order.ActionCancel, Account: account, ClOrdID: id, OrigClOrdID: orig}
}

func replaceOf(account, id, orig string, qty feed.Size, price feed.Price) order.Request {
	return order.Request{Action: order.ActionReplace, Account: account, ClOrdID: id, OrigClOrdID: orig, OrderQty: qty, Price: price}
}

// one and lot are a whole price and a whole quantity.
const (
	one feed.Price = 1_000_000_000
	lot feed.Size  = 100_000_000
)
