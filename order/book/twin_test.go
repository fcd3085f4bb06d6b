package book

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// op is one random call of a Book.
type op struct {
	call  byte // add, cancel, replace, quote
	order Order
	pick  int // which of the handles ever given, counted from the newest
	askPx feed.Price
	askSz feed.Size // the bid is the order's price and quantity
}

// twin drives a book and the reference through the same calls and keeps, as a desk
// would, what it was told of each order.
type twin struct {
	book    *Book
	ref     reference
	handles []Handle
	told    map[Handle]*ledger // of the orders that rest
	fills   []Fill
}

type ledger struct{ qty, cum feed.Size }

func newTwin() *twin { return &twin{book: New(), told: map[Handle]*ledger{}} }

// mark stands before the fills of each call, which may only append.
var mark = Fill{Qty: -1}

// apply does one call on both sides and compares all that can be seen.
func (w *twin) apply(o op) error {
	before := w.open()
	w.fills = append(w.fills[:0], mark)
	var (
		got, want   Result
		wantFills   []Fill
		err, refErr error
		h           Handle
		side        feed.Side
	)
	if n := len(w.handles); n > 0 && o.call != 'q' {
		h = w.handles[n-1-o.pick%n]
	}
	switch o.call {
	case 'a':
		var rests *refOrder
		side = o.order.Side
		got, w.fills, err = w.book.Add(o.order, w.fills)
		if refErr = o.order.check(); refErr == nil {
			want, wantFills, rests = w.ref.add(o.order)
		}
		if rests != nil && got.Handle != 0 {
			want.Handle, rests.handle = got.Handle, got.Handle
			w.handles = append(w.handles, got.Handle)
			w.told[got.Handle] = &ledger{qty: o.order.Qty}
		}
		h = got.Handle
	case 'c':
		got, err = w.book.Cancel(h)
		want, refErr = w.ref.cancel(h)
	case 'r':
		if r, ok := w.book.Get(h); ok {
			side = r.Side
		}
		got, w.fills, err = w.book.Replace(h, o.order.Qty, o.order.Price, w.fills)
		want, wantFills, refErr = w.ref.replace(h, o.order.Qty, o.order.Price)
		if l := w.told[h]; err == nil && l != nil {
			l.qty = o.order.Qty
		}
	case 'q':
		w.fills, err = w.book.SetQuote(o.order.Price, o.order.Qty, o.askPx, o.askSz, w.fills)
		wantFills, refErr = w.ref.quote(o.order.Price, o.order.Qty, o.askPx, o.askSz)
	}
	if w.fills[0] != mark || !slices.Equal(w.fills[1:], wantFills) {
		return fmt.Errorf("fills %+v, want %+v", w.fills[1:], wantFills)
	}
	if got != want || !errors.Is(err, refErr) {
		return fmt.Errorf("%+v, %w, want %+v, %w", got, err, want, refErr)
	}
	if err := w.tell(o, h, got, side, before); err != nil {
		return err
	}
	if err := w.compare(); err != nil {
		return err
	}
	return checkBook(w.book)
}

// tell takes the fills into the ledgers. Nothing is made or lost: what came in
// bought is what rested sold.
func (w *twin) tell(o op, h Handle, got Result, side feed.Side, before [2]*big.Int) error {
	traded := new(big.Int)
	for _, f := range w.fills[1:] {
		traded.Add(traded, big.NewInt(int64(f.Qty)))
		if l := w.told[f.Resting]; l != nil {
			l.cum += f.Qty
			if l.cum+f.RestingLeaves != l.qty {
				return fmt.Errorf("fill %+v of an order of %d with %d filled", f, l.qty, l.cum)
			}
		}
		if l := w.told[h]; l != nil {
			l.cum += f.Qty
		}
	}
	if l := w.told[h]; l != nil && got.Status != order.StatusNone && l.cum != got.CumQty {
		return fmt.Errorf("%d filled, told %d", got.CumQty, l.cum)
	}
	if side != feed.SideNone {
		other := opposite(side)
		gone := before[other-feed.SideBuy].Sub(before[other-feed.SideBuy], w.open()[other-feed.SideBuy])
		if gone.Cmp(traded) != 0 {
			return fmt.Errorf("%v traded, %v gone from the other side", traded, gone)
		}
	}
	if o.call == 'a' && got.Status != order.StatusNone && traded.Cmp(big.NewInt(int64(got.CumQty))) != 0 {
		return fmt.Errorf("%v traded of an order that has %d", traded, got.CumQty)
	}
	return nil
}

// compare checks that both have the same orders in the same places, and that what
// they say of each order is what was told of it.
func (w *twin) compare() error {
	for _, side := range []feed.Side{feed.SideBuy, feed.SideSell} {
		var want []refOrder
		for _, r := range w.ref.orders {
			if r.side == side {
				want = append(want, *r)
			}
		}
		slices.SortStableFunc(want, func(a, b refOrder) int { return int(min(max(rank(side, b.price)-rank(side, a.price), -1), 1)) })
		var got []refOrder
		for at := range w.book.ladder(side).fromBest {
			for slot := w.book.levels[at].head; slot != 0; slot = w.book.nodes[slot].next {
				n := &w.book.nodes[slot]
				got = append(got, refOrder{n.handle, n.side, w.book.price(slot), n.qty, n.leaves})
			}
		}
		if !slices.Equal(got, want) {
			return fmt.Errorf("side %d has %+v, want %+v", side, got, want)
		}
	}
	for _, h := range w.handles {
		r, rests := w.book.Get(h)
		if rests != (w.ref.find(h) != nil) {
			return fmt.Errorf("handle %x rests: %t", h, rests)
		}
		if l := w.told[h]; rests && (l.cum != r.CumQty || l.qty != r.Qty || r.CumQty+r.LeavesQty != r.Qty) {
			return fmt.Errorf("%+v, told %+v", r, *l)
		}
	}
	if n := len(w.handles); n > 300 {
		w.handles = slices.Delete(w.handles, 0, n-200)
	}
	return nil
}

// open is all that rests on each side.
func (w *twin) open() (sums [2]*big.Int) {
	for i, side := range []feed.Side{feed.SideBuy, feed.SideSell} {
		sums[i] = new(big.Int)
		for at := range w.book.ladder(side).fromBest {
			sums[i].Add(sums[i], w.book.levels[at].size.big())
		}
	}
	return sums
}
