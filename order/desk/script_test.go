package desk

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// A script is how the tests of the rules are written: what is done, and indented
// under it all that the desk says about it. What can be done:
//
//	1 a buy 5@101          acct-1's order a, limit and day; ioc, fok or none may follow
//	1 a buy 5              at the market
//	1 b buy 5@101 of B     of another symbol than A
//	1 c cancel a           request c to cancel a; its id may be - for none
//	1 r replace a 7@101    request r to make it 7 in all, at 101
//	quote 99x5 101x5       the feed's; a missing side is -
//
// What the desk says, account#report_seq and order_id first:
//
//	1#2 o1 c<a trade partial 2@101, 2+3 of 5@101 avg 101
//	1#3 c<a rejected, 0+0 of 0@0, UNKNOWN_ORDER
//	trade 1: 2@101, sell came in
//	answer 1#2             nothing new, but the same answer as before
//
// with last_qty@last_px, cum_qty+leaves_qty of order_qty@price, and id<orig id.
func scripted(t *testing.T, opts Options, script string) *venue {
	t.Helper()
	v := newVenue(t, opts)
	var got strings.Builder
	for line := range strings.Lines(script) {
		line = strings.TrimRight(line, "\n")
		step := strings.TrimPrefix(line, "\t\t\t")
		if step == "" || step[0] == '\t' || step[0] == ' ' {
			continue
		}
		fmt.Fprintln(&got, step)
		v.step(&got, strings.Fields(step))
		if t.Failed() {
			t.Fatalf("so far:\n%s", got.String())
		}
	}
	want := strings.ReplaceAll(strings.TrimPrefix(script, "\n"), "\n\t\t\t", "\n")
	want = strings.TrimPrefix(strings.TrimRight(want, "\n\t"), "\t\t\t") + "\n"
	if got.String() != want {
		t.Errorf("the desk said\n%s\nwant\n%s", got.String(), want)
	}
	return v
}

func (v *venue) step(out *strings.Builder, f []string) {
	v.t.Helper()
	if f[0] == "quote" {
		bidPx, bidSz := v.level(f[1])
		askPx, askSz := v.level(f[2])
		reports, trades := v.quote(0, bidPx, bidSz, askPx, askSz)
		tell(out, reports, trades)
		return
	}
	answer, reports, trades := v.submit(v.request(f))
	tell(out, reports, trades)
	if len(reports) == 0 {
		fmt.Fprintf(out, "\tanswer %s#%d\n", strings.TrimPrefix(answer.Account, "acct-"), answer.ReportSeq)
	}
}

func (v *venue) request(f []string) order.Request {
	v.t.Helper()
	account, id := "acct-"+f[0], strings.TrimPrefix(f[1], "-")
	switch f[2] {
	case "cancel":
		return cancelOf(account, id, f[3])
	case "replace":
		qty, price := v.amount(f[4])
		return replaceOf(account, id, f[3], qty, price)
	}
	side := map[string]feed.Side{"buy": feed.SideBuy, "sell": feed.SideSell}[f[2]]
	qty, price := v.amount(f[3])
	req := limitOrder(account, id, side, qty, price, order.Day)
	if price == 0 {
		req = marketOrder(account, id, side, qty)
	}
	for i, word := range f[4:] {
		switch word {
		case "ioc":
			req.TimeInForce = order.IOC
		case "fok":
			req.TimeInForce = order.FOK
		case "none":
			req.TimeInForce = order.TIFNone
		case "of":
			req.Symbol = f[4+i+1]
		}
	}
	return req
}

// amount reads 5@101, level 101x5.
func (v *venue) amount(text string) (feed.Size, feed.Price) {
	v.t.Helper()
	qty, price, limit := strings.Cut(text, "@")
	q, err := feed.ParseSize(qty)
	if err != nil {
		v.t.Fatalf("%s: %v", text, err)
	}
	if !limit {
		return q, 0
	}
	p, err := feed.ParsePrice(price)
	if err != nil {
		v.t.Fatalf("%s: %v", text, err)
	}
	return q, p
}

func (v *venue) level(text string) (feed.Price, feed.Size) {
	v.t.Helper()
	if text == "-" {
		return 0, 0
	}
	price, size, _ := strings.Cut(text, "x")
	q, p := v.amount(size + "@" + price)
	return p, q
}

var (
	execNames   = map[order.ExecType]string{order.ExecNew: "new", order.ExecTrade: "trade", order.ExecCanceled: "canceled", order.ExecReplaced: "replaced", order.ExecRejected: "rejected"}
	statusNames = map[order.Status]string{order.New: "new", order.PartiallyFilled: "partial", order.Filled: "filled", order.Canceled: "canceled", order.Rejected: "rejected"}
	sideNames   = map[feed.Side]string{feed.SideBuy: "buy", feed.SideSell: "sell"}
)

func tell(out *strings.Builder, reports []order.Execution, trades []trade) {
	for _, e := range reports {
		fmt.Fprintf(out, "\t%s#%d ", strings.TrimPrefix(e.Account, "acct-"), e.ReportSeq)
		if e.OrderID > 0 {
			fmt.Fprintf(out, "o%d ", e.OrderID)
		}
		fmt.Fprint(out, e.ClOrdID)
		if e.OrigClOrdID != "" {
			fmt.Fprintf(out, "<%s", e.OrigClOrdID)
		}
		fmt.Fprintf(out, " %s", execNames[e.ExecType])
		if statusNames[e.OrdStatus] != execNames[e.ExecType] {
			fmt.Fprintf(out, " %s", statusNames[e.OrdStatus])
		}
		if e.ExecType == order.ExecTrade {
			fmt.Fprintf(out, " %s@%s", e.LastQty, e.LastPx)
		}
		fmt.Fprintf(out, ", %s+%s of %s@%s", e.CumQty, e.LeavesQty, e.OrderQty, e.Price)
		if e.AvgPx > 0 {
			fmt.Fprintf(out, " avg %s", e.AvgPx)
		}
		if e.Reject != "" {
			fmt.Fprintf(out, ", %s", e.Reject)
		}
		fmt.Fprintln(out)
	}
	for _, tr := range trades {
		fmt.Fprintf(out, "\ttrade %d: %s@%s, %s came in\n", tr.id, tr.qty, tr.px, sideNames[tr.aggressor])
	}
}
