package book

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// A script is how the tests of the rules are written: lines of "call -> answer".
// Quantities are in units of 1e-8 and prices in units of 1e-9. The calls:
//
//	a buy 5@101         order a, limit and day; ioc or fok may follow
//	a buy 5             order a, market
//	cancel a
//	replace a 3@102     to quantity 3 in all, at price 102
//	quote 99x7 101x7    a missing side is -
//	bids, asks          the answer is the side, the best price first
//
// An answer has the trades (resting order, quantity@price; mm is the market maker),
// then the status with CumQty+LeavesQty, or the refusal.
type script struct {
	book    *Book
	handles map[string]Handle
	names   map[Handle]string
}

// scripted runs a script and checks each answer.
func scripted(t *testing.T, lines string) {
	t.Helper()
	s := &script{book: New(), handles: map[string]Handle{}, names: map[Handle]string{MarketMaker: "mm"}}
	for line := range strings.Lines(lines) {
		call, want, ok := strings.Cut(strings.TrimSpace(line), " -> ")
		if !ok {
			continue
		}
		if got := s.call(t, strings.Fields(call)); got != strings.TrimSpace(want) {
			t.Errorf("%s\n got %s\nwant %s", call, got, want)
		}
		if err := checkBook(s.book); err != nil {
			t.Errorf("after %s: %v", call, err)
		}
	}
}

func (s *script) call(t *testing.T, f []string) string {
	t.Helper()
	switch f[0] {
	case "bids":
		return s.side(feed.SideBuy)
	case "asks":
		return s.side(feed.SideSell)
	case "quote":
		bidPx, bidSz := pair(t, f[1], "x")
		askPx, askSz := pair(t, f[2], "x")
		fills, err := s.book.SetQuote(feed.Price(bidPx), feed.Size(bidSz), feed.Price(askPx), feed.Size(askSz), nil)
		return s.answer(fills, Result{}, err)
	case "cancel":
		r, err := s.book.Cancel(s.handles[f[1]])
		return s.answer(nil, r, err)
	case "replace":
		qty, px := pair(t, f[2], "@")
		r, fills, err := s.book.Replace(s.handles[f[1]], feed.Size(qty), feed.Price(px), nil)
		return s.answer(fills, r, err)
	}
	o := Order{Side: feed.SideBuy, Type: order.Market}
	if f[1] == "sell" {
		o.Side = feed.SideSell
	}
	qty, px := pair(t, f[2], "@")
	o.Qty, o.Price = feed.Size(qty), feed.Price(px)
	if strings.Contains(f[2], "@") {
		o.Type = order.Limit
	}
	if len(f) > 3 {
		o.TimeInForce = map[string]order.TimeInForce{"day": order.Day, "ioc": order.IOC, "fok": order.FOK}[f[3]]
	}
	r, fills, err := s.book.Add(o, nil)
	if r.Handle != 0 {
		s.handles[f[0]], s.names[r.Handle] = r.Handle, f[0]
	}
	return s.answer(fills, r, err)
}

func (s *script) answer(fills []Fill, r Result, err error) string {
	var parts []string
	for _, f := range fills {
		parts = append(parts, fmt.Sprintf("%s %d@%d", s.names[f.Resting], f.Qty, f.Price))
	}
	switch {
	case errors.Is(err, ErrNotResting):
		parts = append(parts, "not resting")
	case errors.Is(err, ErrBelowCum):
		parts = append(parts, "below cum")
	case errors.Is(err, ErrCrossedQuote):
		parts = append(parts, "crossed quote")
	case err != nil:
		parts = append(parts, err.Error())
	case r.Status != order.StatusNone:
		status := map[order.Status]string{
			order.New: "new", order.PartiallyFilled: "partial", order.Filled: "filled", order.Canceled: "canceled",
		}[r.Status]
		parts = append(parts, fmt.Sprintf("%s %d+%d", status, r.CumQty, r.LeavesQty))
	case len(fills) == 0:
		parts = append(parts, "ok")
	}
	return strings.Join(parts, ", ")
}

// side writes one side as "101: a5 mm7, 102: b3", with what is left of each order.
func (s *script) side(side feed.Side) string {
	var levels []string
	for at := range s.book.ladder(side).fromBest {
		var b strings.Builder
		fmt.Fprintf(&b, "%d:", rank(side, s.book.levels[at].rank))
		for slot := s.book.levels[at].head; slot != 0; slot = s.book.nodes[slot].next {
			fmt.Fprintf(&b, " %s%d", s.names[s.book.nodes[slot].handle], s.book.nodes[slot].leaves)
		}
		levels = append(levels, b.String())
	}
	if levels == nil {
		return "none"
	}
	return strings.Join(levels, ", ")
}

// pair reads two numbers with something between; one that is not there is 0.
func pair(t *testing.T, text, between string) (int64, int64) {
	t.Helper()
	if text == "-" {
		return 0, 0
	}
	var v [2]int64
	for i, part := range strings.SplitN(text, between, 2) {
		n, err := strconv.ParseInt(part, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		v[i] = n
	}
	return v[0], v[1]
}
