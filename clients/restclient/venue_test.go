package restclient

import (
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// patience bounds the wait for what must come.
const patience = 20 * time.Second

// floor answers orders as the exchange does; its own server is a package that
// clients do not import. An order for REJECT is refused, one for PROBLEM answered
// with a problem, and one for HOLD waits until release is closed.
type floor struct {
	t       testing.TB
	release chan struct{}
	arrived chan struct{} // gets one for each order that waits

	mu    sync.Mutex
	got   []order.Request
	bytes []int
	conns map[string]int // orders under way, by the client's address
	most  int            // of them on one connection
}

func newFloor(t testing.TB) *floor {
	return &floor{t: t, release: make(chan struct{}), arrived: make(chan struct{}, 100), conns: map[string]int{}}
}

func (f *floor) enter(r *http.Request, req *order.Request, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.got, f.bytes = append(f.got, *req), append(f.bytes, size)
	f.conns[r.RemoteAddr]++
	f.most = max(f.most, f.conns[r.RemoteAddr])
}

func (f *floor) leave(r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[r.RemoteAddr]--
}

// ServeHTTP is http.Handler's.
func (f *floor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	enc, ok := map[string]wire.Encoding{"application/json": wire.JSON, "application/x-protobuf": wire.Protobuf}[r.Header.Get("Content-Type")]
	if !ok || r.Method != http.MethodPost || r.URL.Path != "/v2/orders/execute" || r.URL.RawQuery != "" {
		f.t.Errorf("%s %s of %q", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // given up
	}
	var req order.Request
	if err := wire.UnmarshalOrder(enc, body, order.ActionExecute, &req); err != nil {
		f.t.Error(err)
	}
	f.enter(r, &req, len(body))
	defer f.leave(r)
	e := filled(&req)
	switch req.Symbol {
	case "REJECT":
		e.ExecType, e.OrdStatus, e.Reject, e.Text = order.ExecRejected, order.Rejected, order.RejectOffGrid, "price 1 is not on the grid"
		wire.WriteRejection(w, r, e)
		return
	case "PROBLEM":
		wire.WriteProblem(w, r, &feed.Problem{Code: feed.CodeUnsupported, Message: "this exchange takes no orders"})
		return
	case "HOLD":
		f.arrived <- struct{}{}
		select {
		case <-f.release:
		case <-r.Context().Done():
			return
		}
	}
	answer, err := wire.AppendExecution(nil, enc, e)
	if err != nil {
		f.t.Error(err)
	}
	w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
	_, _ = w.Write(answer)
}

// filled is the answer to an order that trades whole.
func filled(req *order.Request) *order.Execution {
	return &order.Execution{
		Account: req.Account, ClOrdID: req.ClOrdID, Symbol: req.Symbol, Side: req.Side, Type: req.Type, TimeInForce: req.TimeInForce, OrderQty: req.OrderQty,
		Price: req.Price, OrderID: 7, ExecID: 8, ReportSeq: 9, ExecType: order.ExecTrade, OrdStatus: order.Filled,
		LastQty: req.OrderQty, LastPx: req.Price, CumQty: req.OrderQty, AvgPx: req.Price, TransactTimeNS: 1e18, ServiceNS: 11,
	}
}

// each runs a test over both HTTP versions and both encodings.
func each(t *testing.T, test func(t *testing.T, opts OrderOptions)) {
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			t.Run("HTTP "+version+" "+enc.String(), func(t *testing.T) { test(t, OrderOptions{HTTPVersion: version, Encoding: enc}) })
		}
	}
}

func dialOrders(t testing.TB, target string, opts OrderOptions) clients.OrderConn {
	t.Helper()
	o, err := NewOrders(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.DialOrders(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func openOrders(t testing.TB, c clients.OrderConn) clients.OrderEntry {
	t.Helper()
	e, err := c.OpenOrders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func limit(id, symbol string) *order.Request {
	return &order.Request{
		Action: order.ActionExecute, Account: "acct-1", ClOrdID: id, Symbol: symbol, Side: feed.SideSell, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 150_000_000, Price: 61_837_630_000_000,
	}
}

// within returns what comes on a channel, or fails the test.
func within[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("after %s: still not: %s", patience, what)
		panic("not reached")
	}
}
