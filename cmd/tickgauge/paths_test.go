package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

const lot = feed.Size(1e8)

// eachPath runs a case over every row of the table of paths and every encoding.
func eachPath(t *testing.T, test func(t *testing.T, p *orderPath, enc wire.Encoding)) {
	for i := range orderPaths {
		p := &orderPaths[i]
		for _, enc := range wire.Encodings() {
			t.Run(fmt.Sprintf("%s/http%s/%s", p.name, p.httpVersion, enc), func(t *testing.T) { test(t, p, enc) })
		}
	}
}

// orderVenue lists A, quoted 100 to 101 for 1,000 each, and QUIET, which is not.
func orderVenue(t testing.TB, opts streams.Options, deskOpts desk.Options) *venue {
	v := newOrderVenue(t, []string{"A", "QUIET"}, 256, opts, deskOpts)
	v.desk.Quote(0, 100e9, 1000*lot, 101e9, 1000*lot)
	return v
}

func (v *venue) orderTarget(p *orderPath) string {
	if p.overGRPC {
		return v.grpc
	}
	return v.http
}

// enter opens an entry of a path.
func (v *venue) enter(t testing.TB, p *orderPath, enc wire.Encoding, payload int) clients.OrderEntry {
	t.Helper()
	return v.enterWith(t, p, pathOptions{encoding: enc, payloadBytes: payload, account: "acct-1"})
}

func (v *venue) enterWith(t testing.TB, p *orderPath, o pathOptions) clients.OrderEntry {
	t.Helper()
	d, err := p.dialer(v.orderTarget(p), o)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := d.DialOrders(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	e, err := conn.OpenOrders(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func ioc(id string, side feed.Side, qty feed.Size, px feed.Price) order.Request {
	return order.Request{
		Action: order.ActionExecute, Account: "acct-1", ClOrdID: id, Symbol: "A", Side: side, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: qty, Price: px,
	}
}

func execute(t testing.TB, e clients.OrderEntry, req order.Request) order.Execution {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	before := feed.Now()
	ack, err := e.Execute(ctx, &req)
	if err != nil {
		t.Fatalf("order %+v: %v", req, err)
	}
	if ack.ReceivedNS < before || ack.ReceivedNS > feed.Now() {
		t.Errorf("order %s was acked at %d, between %d and now", req.ClOrdID, ack.ReceivedNS, before)
	}
	return ack.Execution
}

// TestPathsExecute: an order fills, one that is sent again gets its first answer,
// and the trades become ticks, whatever the path.
func TestPathsExecute(t *testing.T) {
	eachPath(t, func(t *testing.T, p *orderPath, enc wire.Encoding) {
		v := orderVenue(t, streams.Options{}, desk.Options{})
		e := v.enter(t, p, enc, 1024)
		first := execute(t, e, ioc("a", feed.SideBuy, 3*lot, 101e9))
		if first.OrdStatus != order.Filled || first.CumQty != 3*lot || first.AvgPx != 101e9 || first.LeavesQty != 0 || first.OrderID != 1 || first.ReportSeq != 2 {
			t.Errorf("the answer is %+v", first)
		}
		second := execute(t, e, ioc("b", feed.SideSell, 2000*lot, 100e9))
		if second.OrdStatus != order.Canceled || second.CumQty != 1000*lot || second.LastPx != 0 {
			t.Errorf("the answer is %+v", second)
		}
		if p.name != "rest+sse" { // which waits for a report, and a repeat makes none
			if again := execute(t, e, ioc("a", feed.SideBuy, 3*lot, 101e9)); again != first {
				t.Errorf("the same order again got %+v, first %+v", again, first)
			}
		}
		tick, ok, err := v.hub.Newest("A")
		if err != nil || !ok || tick.Origin != feed.OriginOrder || tick.LastPx != 100e9 || tick.LastSz != 1000*lot || tick.Aggressor != feed.SideSell || tick.Seq != 2 {
			t.Errorf("the newest tick is %+v, %v", tick, err)
		}
	})
}

// TestPathsRefuse: a refusal is an answer with its code, its text and the order's
// own id on every path.
func TestPathsRefuse(t *testing.T) {
	change := func(f func(q *order.Request)) func(id string) order.Request {
		return func(id string) order.Request {
			q := ioc(id, feed.SideBuy, lot, 101e9)
			f(&q)
			return q
		}
	}
	cases := []struct {
		code order.RejectCode
		req  func(id string) order.Request
	}{
		{order.RejectUnknownAccount, change(func(q *order.Request) { q.Account = "acct-99" })},
		{order.RejectUnknownSymbol, change(func(q *order.Request) { q.Symbol = "Z" })},
		{order.RejectBadID, change(func(q *order.Request) { q.ClOrdID += "\n" })},
		{order.RejectBadSide, change(func(q *order.Request) { q.Side = feed.SideNone })},
		{order.RejectBadType, change(func(q *order.Request) { q.Type = order.TypeNone })},
		{order.RejectBadQty, change(func(q *order.Request) { q.OrderQty = 0 })},
		{order.RejectBadQty, change(func(q *order.Request) { q.OrderQty = -1 })},
		{order.RejectBadQty, change(func(q *order.Request) { q.OrderQty = desk.MaxOrderQty + 1 })},
		{order.RejectBadPrice, change(func(q *order.Request) { q.Price = 0 })},
		{order.RejectBadPrice, change(func(q *order.Request) { q.Price = -1e9 })},
		{order.RejectBadPrice, change(func(q *order.Request) { q.Type = order.Market })},
		{order.RejectOffGrid, change(func(q *order.Request) { q.Price++ })},
	}
	eachPath(t, func(t *testing.T, p *orderPath, enc wire.Encoding) {
		v := orderVenue(t, streams.Options{}, desk.Options{})
		e := v.enter(t, p, enc, 0)
		for i, c := range cases {
			req := c.req(fmt.Sprint("r", i))
			got := execute(t, e, req)
			if got.Reject != c.code || got.ExecType != order.ExecRejected || got.OrdStatus != order.Rejected || got.Text == "" || got.ClOrdID != req.ClOrdID {
				t.Errorf("%s: %+v", c.code, got)
			}
		}
		// The entry goes on after all of them.
		if got := execute(t, e, ioc("x", feed.SideBuy, lot, 101e9)); got.OrdStatus != order.Filled {
			t.Errorf("after the refusals: %+v", got)
		}
		if p.name == "rest+sse" {
			return // its acks go by the id, and a late report of the first order would be one
		}
		execute(t, e, ioc("y", feed.SideBuy, lot, 101e9))
		if got := execute(t, e, ioc("y", feed.SideBuy, 2*lot, 101e9)); got.Reject != order.RejectDuplicate {
			t.Errorf("the same id with another body: %+v", got)
		}
	})
}

// TestPathsAtTheSameInstant: one id from many connections is one order, whose
// answer all get.
func TestPathsAtTheSameInstant(t *testing.T) {
	eachPath(t, func(t *testing.T, p *orderPath, enc wire.Encoding) {
		if p.name == "rest+sse" {
			t.Skip("a repeat makes no report to wait for")
		}
		v := orderVenue(t, streams.Options{}, desk.Options{Service: desk.Service{Time: 5 * time.Millisecond, Realtime: true}})
		var entries []clients.OrderEntry
		for range 4 {
			entries = append(entries, v.enter(t, p, enc, 0))
		}
		for round := range 5 {
			answers := make([]order.Execution, len(entries))
			var g sync.WaitGroup
			for i, e := range entries {
				g.Go(func() { answers[i] = execute(t, e, ioc(fmt.Sprint("o", round), feed.SideBuy, lot, 101e9)) })
			}
			g.Wait()
			for _, a := range answers {
				if a != answers[0] || a.OrdStatus != order.Filled || a.ServiceNS < int64(5*time.Millisecond) {
					t.Errorf("answers %+v and %+v", a, answers[0])
				}
			}
		}
		if got := v.desk.Stats(); got.Trades != 5 || got.Repeated != 15 {
			t.Errorf("the desk did %+v", got)
		}
	})
}

// TestPathsAtTheEnd: an order that is in flight when the exchange shuts down is
// answered; what comes later is refused or finds nobody.
func TestPathsAtTheEnd(t *testing.T) {
	eachPath(t, func(t *testing.T, p *orderPath, enc wire.Encoding) {
		v := orderVenue(t, streams.Options{}, desk.Options{Service: desk.Service{Time: 200 * time.Millisecond, Realtime: true}})
		e := v.enter(t, p, enc, 0)
		answered := make(chan order.Execution, 1)
		go func() {
			req := ioc("a", feed.SideBuy, lot, 101e9)
			ack, err := e.Execute(t.Context(), &req)
			if err != nil {
				t.Errorf("the order in flight: %v", err)
			}
			answered <- ack.Execution
		}()
		waitFor(t, "the order at the desk", func() bool { return v.desk.Stats().Requests == 1 })
		v.stop()
		if got := <-answered; got.OrdStatus != order.Filled {
			t.Errorf("the order in flight got %+v", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		req := ioc("b", feed.SideBuy, lot, 101e9)
		if ack, err := e.Execute(ctx, &req); err == nil && ack.Execution.Reject != order.RejectShuttingDown {
			t.Errorf("an order after the end: %+v", ack.Execution)
		} else if errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("an order after the end waits: %v", err)
		}
	})
}
