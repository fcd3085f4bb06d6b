package desk

import (
	"fmt"
	"slices"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/account"
	"github.com/tickgauge/tickgauge/order/book"
)

// twin is a venue and its reference, which are asked the same things; what they
// say is compared, whole.
type twin struct {
	*venue
	ref *reference
}

// options are those of which the reference knows.
type options struct {
	ids, open int
	service   time.Duration
}

const twinAccounts = 3

func newTwin(t tester, o options) *twin {
	t.Helper()
	v := newVenue(t, Options{Accounts: twinAccounts, IDs: o.ids, OpenOrders: o.open, Service: Service{Time: o.service}})
	ref := &reference{accounts: v.desk.Accounts(), ids: o.ids, open: o.open, service: int64(o.service), seqs: map[string]uint64{}}
	if ref.ids == 0 {
		ref.ids = account.DefaultIDs
	}
	if ref.open == 0 {
		ref.open = DefaultOpenOrders
	}
	return &twin{venue: v, ref: ref}
}

func (w *twin) submit(req order.Request) order.Execution {
	w.t.Helper()
	got, reports, trades := w.venue.submit(req)
	if want := w.ref.submit(req); bare(got) != bare(want) {
		w.t.Fatalf("Submit %+v:\nanswer %+v\n  want %+v", req, got, want)
	}
	w.compare(fmt.Sprintf("Submit %+v", req), reports, trades)
	return got
}

func (w *twin) quote(symbol int, bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size) {
	w.t.Helper()
	reports, trades := w.venue.quote(symbol, bidPx, bidSz, askPx, askSz)
	w.ref.quote(symbol, bidPx, bidSz, askPx, askSz)
	w.compare(fmt.Sprint("Quote ", symbol, bidPx, bidSz, askPx, askSz), reports, trades)
}

// compare takes what the reference has said since the last call, and looks whether
// the books have the same in them.
func (w *twin) compare(call string, reports []order.Execution, trades []trade) {
	w.t.Helper()
	wantReports, wantTrades := w.ref.said, w.ref.traded
	w.ref.said, w.ref.traded = nil, nil
	if !slices.EqualFunc(reports, wantReports, func(a, b order.Execution) bool { return bare(a) == bare(kept(b)) }) {
		w.t.Fatalf("%s:\nreports %+v\n   want %+v", call, reports, wantReports)
	}
	if !slices.Equal(trades, wantTrades) {
		w.t.Fatalf("%s:\ntrades %+v\n  want %+v", call, trades, wantTrades)
	}
	for i := range symbols {
		for _, side := range []feed.Side{feed.SideBuy, feed.SideSell} {
			got := w.desk.markets[i].book.Depth(side, 1<<20, nil)
			if want := w.ref.depth(symbols[i].Name, side); !slices.Equal(got, want) {
				w.t.Fatalf("%s:\nthe book of %s has %+v\nwant %+v", call, symbols[i].Name, got, want)
			}
		}
	}
}

// find asks both for an order.
func (w *twin) find(account, id string) {
	w.t.Helper()
	got, err := w.venue.find(account, id)
	want := w.ref.byID(account, id)
	for _, a := range w.ref.memory {
		if want == nil && a.req.Account == account && a.req.ClOrdID == id {
			want = a.subject
		}
	}
	switch {
	case want == nil && err == nil:
		w.t.Fatalf("Find %s of %s: %+v, want none", id, account, got)
	case want != nil && (err != nil || bare(got) != bare(want.last)):
		w.t.Fatalf("Find %s of %s: %+v, %v\nwant %+v", id, account, got, err, want.last)
	}
}

func (r *reference) depth(symbol string, side feed.Side) []book.Level {
	var levels []book.Level
	for _, o := range r.resting {
		if o.last.Symbol != symbol || o.last.Side != side {
			continue
		}
		i := slices.IndexFunc(levels, func(l book.Level) bool { return l.Price == o.last.Price })
		if i < 0 {
			i, levels = len(levels), append(levels, book.Level{Price: o.last.Price})
		}
		levels[i].Size += o.last.LeavesQty
		levels[i].Orders++
	}
	slices.SortFunc(levels, func(a, b book.Level) int {
		if side == feed.SideBuy {
			a, b = b, a
		}
		return int(a.Price - b.Price)
	})
	return levels
}

// kept is a report as the ring of an account has it.
func kept(e order.Execution) order.Execution {
	e.ClOrdID, e.OrigClOrdID, e.Symbol = clipped(e.ClOrdID), clipped(e.OrigClOrdID), clipped(e.Symbol)
	return e
}

// bare is a report without what the reference knows nothing of.
func bare(e order.Execution) order.Execution {
	e.TransactTimeNS, e.Text = 0, ""
	return e
}
