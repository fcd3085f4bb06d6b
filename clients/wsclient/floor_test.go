package wsclient

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func filled(req *order.Request) order.Execution {
	return order.Execution{ClOrdID: req.ClOrdID, Account: "acct-1", Symbol: req.Symbol, Side: req.Side, Type: req.Type, TimeInForce: req.TimeInForce,
		OrderQty: req.OrderQty, Price: req.Price, OrderID: 1, ExecID: 2, ReportSeq: 9, ExecType: order.ExecTrade, OrdStatus: order.Filled,
		LastQty: req.OrderQty, LastPx: req.Price, CumQty: req.OrderQty, AvgPx: req.Price, ServiceNS: 11}
}

func rejected(req *order.Request) order.Execution {
	return order.Execution{ClOrdID: req.ClOrdID, Symbol: req.Symbol, ExecType: order.ExecRejected, OrdStatus: order.Rejected,
		Reject: order.RejectOffGrid, Text: "no"}
}

// limit is an order that the floor fills.
func limit(id, symbol string) *order.Request {
	return &order.Request{Action: order.ActionExecute, ClOrdID: id, Symbol: symbol, Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 2e8, Price: 5e9}
}

// floor is a play that greets and answers each order.
func floor(answer func(peer, *order.Request)) func(peer) {
	return func(p peer) {
		p.say(feed.Message{Hello: &feed.Hello{Epoch: "1"}})
		for {
			req, _, ok := p.ordered()
			if !ok {
				return
			}
			answer(p, &req)
		}
	}
}

// within returns a context for what must happen.
func within(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// dialOrders returns connection 0 to target, which closes when the test ends.
func dialOrders(t testing.TB, target string, opts OrderOptions) clients.OrderConn {
	t.Helper()
	d, err := NewOrders(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.DialOrders(within(t, patience), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// trading returns the entry of a new connection to an exchange that plays.
func trading(t testing.TB, play func(peer), opts OrderOptions) (clients.OrderConn, clients.OrderEntry) {
	t.Helper()
	c := dialOrders(t, exchange(t, play), opts)
	e, err := c.OpenOrders(within(t, patience))
	if err != nil {
		t.Fatal(err)
	}
	return c, e
}

func wantText(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want an error with %q on one line", err, part)
	}
}
