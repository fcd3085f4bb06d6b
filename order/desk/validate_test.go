package desk

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestRefusedOrders has every order that is refused before anything else, by what
// is wrong with a good one.
func TestRefusedOrders(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*order.Request)
		code  order.RejectCode
		field string // that the text names
	}{
		{"no action", func(r *order.Request) { r.Action = order.ActionNone }, order.RejectBadType, "neither an order"},
		{"unknown action", func(r *order.Request) { r.Action = 200 }, order.RejectBadType, "neither an order"},
		{"no id", func(r *order.Request) { r.ClOrdID = "" }, order.RejectBadID, "cl_ord_id"},
		{"id of 65 bytes", func(r *order.Request) { r.ClOrdID = strings.Repeat("i", 65) }, order.RejectBadID, "cl_ord_id"},
		{"id of 10 KB", func(r *order.Request) { r.ClOrdID = strings.Repeat("i", 10<<10) }, order.RejectBadID, "cl_ord_id"},
		{"id of 33 letters in 66 bytes", func(r *order.Request) { r.ClOrdID = strings.Repeat("ü", 33) }, order.RejectBadID, "66 bytes"},
		{"id with a NUL", func(r *order.Request) { r.ClOrdID = "a\x00b" }, order.RejectBadID, "control"},
		{"id with a line end", func(r *order.Request) { r.ClOrdID = "a\n" }, order.RejectBadID, "control"},
		{"id with a DEL", func(r *order.Request) { r.ClOrdID = "a\x7f" }, order.RejectBadID, "control"},
		{"id with a C1 control", func(r *order.Request) { r.ClOrdID = "a\u0085" }, order.RejectBadID, "control"},
		{"id not UTF-8", func(r *order.Request) { r.ClOrdID = "a\xff" }, order.RejectBadID, "UTF-8"},
		{"no symbol", func(r *order.Request) { r.Symbol = "" }, order.RejectUnknownSymbol, "symbol"},
		{"unknown symbol", func(r *order.Request) { r.Symbol = "a" }, order.RejectUnknownSymbol, `"a"`},
		{"symbol not UTF-8", func(r *order.Request) { r.Symbol = "A\xff" }, order.RejectUnknownSymbol, "symbol"},
		{"no side", func(r *order.Request) { r.Side = feed.SideNone }, order.RejectBadSide, "side"},
		{"unknown side", func(r *order.Request) { r.Side = 3 }, order.RejectBadSide, "side"},
		{"no type", func(r *order.Request) { r.Type = order.TypeNone }, order.RejectBadType, "ord_type"},
		{"unknown type", func(r *order.Request) { r.Type = 3 }, order.RejectBadType, "ord_type"},
		{"unknown time in force", func(r *order.Request) { r.TimeInForce = 4 }, order.RejectBadTIF, "time_in_force"},
		{"quantity 0", func(r *order.Request) { r.OrderQty = 0 }, order.RejectBadQty, "order_qty"},
		{"quantity -1e-8", func(r *order.Request) { r.OrderQty = -1 }, order.RejectBadQty, "order_qty"},
		{"the least quantity", func(r *order.Request) { r.OrderQty = math.MinInt64 }, order.RejectBadQty, "order_qty"},
		{"quantity 1e-8 above the most", func(r *order.Request) { r.OrderQty = 1_000_000*lot + 1 }, order.RejectBadQty, "1000000.00000001"},
		{"the largest quantity", func(r *order.Request) { r.OrderQty = math.MaxInt64 }, order.RejectBadQty, "order_qty"},
		{"no price on a limit order", func(r *order.Request) { r.Price = 0 }, order.RejectBadPrice, "price"},
		{"negative price", func(r *order.Request) { r.Price = -one }, order.RejectBadPrice, "price"},
		{"the least price", func(r *order.Request) { r.Price = math.MinInt64 }, order.RejectBadPrice, "price"},
		{"price off the grid by 1e-9", func(r *order.Request) { r.Price++ }, order.RejectOffGrid, "0.01"},
		{"price off the grid of B", func(r *order.Request) { r.Symbol, r.Price = "B", 104*one }, order.RejectOffGrid, `"B"`},
		{"the largest price", func(r *order.Request) { r.Price = math.MaxInt64 }, order.RejectOffGrid, "price"},
		{"price on a market order", func(r *order.Request) { r.Type = order.Market }, order.RejectBadPrice, "market"},
		{"negative price on a market order", func(r *order.Request) { r.Type, r.Price = order.Market, -1 }, order.RejectBadPrice, "market"},
		{"cancel that names none", func(r *order.Request) { *r = cancelOf("acct-2", "c", "") }, order.RejectBadID, "orig_cl_ord_id"},
		{"cancel that names 10 KB", func(r *order.Request) { *r = cancelOf("acct-2", "c", strings.Repeat("i", 10<<10)) }, order.RejectBadID, "orig_cl_ord_id"},
		{"cancel with a bad id", func(r *order.Request) { *r = cancelOf("acct-2", "c\x01", "rests") }, order.RejectBadID, "cl_ord_id"},
		{"replace without an id", func(r *order.Request) { *r = replaceOf("acct-2", "", "rests", lot, one) }, order.RejectBadID, "cl_ord_id"},
		{"replace that names none", func(r *order.Request) { *r = replaceOf("acct-2", "r", "", lot, one) }, order.RejectBadID, "orig_cl_ord_id"},
		{"replace to 0", func(r *order.Request) { *r = replaceOf("acct-2", "r", "rests", 0, one) }, order.RejectBadQty, "order_qty"},
		{"replace to too much", func(r *order.Request) { *r = replaceOf("acct-2", "r", "rests", MaxOrderQty+1, one) }, order.RejectBadQty, "order_qty"},
		{"replace without a price", func(r *order.Request) { *r = replaceOf("acct-2", "r", "rests", lot, 0) }, order.RejectBadPrice, "price"},
		{"replace to a negative price", func(r *order.Request) { *r = replaceOf("acct-2", "r", "rests", lot, -one) }, order.RejectBadPrice, "price"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVenue(t, Options{})
			v.submit(limitOrder("acct-2", "rests", feed.SideSell, lot, 100*one, order.Day))
			good := limitOrder("acct-2", "a", feed.SideBuy, lot, 100*one, order.Day)
			bad := good
			c.spoil(&bad)
			e, reports, trades := v.submit(bad)
			if e.Reject != c.code || !strings.Contains(e.Text, c.field) || !utf8.ValidString(e.Text) || len(e.Text) > 200 {
				t.Errorf("answer %q %q, want %s and a word of %q", e.Reject, e.Text, c.code, c.field)
			}
			want := order.Execution{
				Account: "acct-2", ClOrdID: bad.ClOrdID, OrigClOrdID: bad.OrigClOrdID, Symbol: bad.Symbol, Side: bad.Side, Type: bad.Type,
				TimeInForce: bad.TimeInForce, OrderQty: bad.OrderQty, Price: bad.Price,
				ExecID: 2, ReportSeq: 2, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: e.Reject, Text: e.Text, TransactTimeNS: e.TransactTimeNS,
			}
			if e != want || len(reports) != 1 || len(trades) != 0 {
				t.Errorf("answer\n%+v with %d reports and %d trades, want\n%+v", e, len(reports), len(trades), want)
			}
			// Neither the id nor anything else is taken.
			if _, err := v.find("acct-2", "a"); !errors.Is(err, order.ErrUnknownOrder) {
				t.Errorf("Find of the refused: %v", err)
			}
			if e, _, _ := v.submit(good); e.OrdStatus != order.Filled || e.OrderID != 2 {
				t.Errorf("the order that is good then: %+v", e)
			}
		})
	}
}

// TestUnknownAccount: nobody has a report of it, and there is an answer.
func TestUnknownAccount(t *testing.T) {
	v := newVenue(t, Options{Accounts: 2})
	for _, name := range []string{"acct-3", "acct-0", "acct-01", "ACCT-1", "acct-1 ", "acct-1\x00", "\xff", strings.Repeat("a", 10<<10)} {
		req := limitOrder(name, "a", feed.SideBuy, lot, 100*one, order.Day)
		e, reports, _ := v.submit(req)
		want := order.Execution{
			Account: name, ClOrdID: "a", Symbol: "A", Side: feed.SideBuy, Type: order.Limit, TimeInForce: order.Day, OrderQty: lot, Price: 100 * one,
			ExecID: e.ExecID, ExecType: order.ExecRejected, OrdStatus: order.Rejected, Reject: order.RejectUnknownAccount, Text: e.Text, TransactTimeNS: e.TransactTimeNS,
		}
		if e != want || len(reports) != 0 || !strings.Contains(e.Text, "acct-1 to acct-2") || !utf8.ValidString(e.Text) || len(e.Text) > 200 {
			t.Errorf("account %.20q: %+v, %d reports", name, e, len(reports))
		}
		if _, err := v.find(name, "a"); !errors.Is(err, order.ErrUnknownAccount) {
			t.Errorf("Find in account %.20q: %v", name, err)
		}
		if _, err := v.desk.Watch(name, 0); !errors.Is(err, order.ErrUnknownAccount) {
			t.Errorf("Watch of account %.20q: %v", name, err)
		}
	}
	// None named is the first.
	if e, _, _ := v.submit(limitOrder("", "a", feed.SideBuy, lot, 100*one, order.Day)); e.Account != "acct-1" || e.OrderID != 1 {
		t.Errorf("the order without an account: %+v", e)
	}
	if e, err := v.find("", "a"); err != nil || e.Account != "acct-1" {
		t.Errorf("Find without an account: %+v, %v", e, err)
	}
}

// TestGoodIDs are those at the edge of what is refused.
func TestGoodIDs(t *testing.T) {
	v := newVenue(t, Options{})
	for _, id := range []string{"0", " ", "9007199254740993", strings.Repeat("i", 64), strings.Repeat("ü", 32), "\u00a0", "\"<&>", "日本"} {
		if e, _, _ := v.submit(limitOrder("acct-1", id, feed.SideBuy, lot, 100*one, order.Day)); e.Reject != "" || e.ClOrdID != id {
			t.Errorf("id %q: %+v", id, e)
		}
	}
}
