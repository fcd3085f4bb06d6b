package book

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func add(t testing.TB, b *Book, o Order) Result {
	t.Helper()
	r, _, err := b.Add(o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAddRefusesWhatIsNoOrder(t *testing.T) {
	good := Order{feed.SideBuy, order.Limit, order.Day, 1, 1}
	for _, c := range []struct {
		name string
		with func(o *Order)
		want error
	}{
		{"no side", func(o *Order) { o.Side = feed.SideNone }, errSide},
		{"unknown side", func(o *Order) { o.Side = 3 }, errSide},
		{"no type", func(o *Order) { o.Type = order.TypeNone }, errType},
		{"unknown type", func(o *Order) { o.Type = 3 }, errType},
		{"unknown time in force", func(o *Order) { o.TimeInForce = 4 }, errTimeInForce},
		{"no quantity", func(o *Order) { o.Qty = 0 }, errQty},
		{"negative quantity", func(o *Order) { o.Qty = -1 }, errQty},
		{"no price", func(o *Order) { o.Price = 0 }, errPrice},
		{"negative price", func(o *Order) { o.Price = math.MinInt64 }, errPrice},
		{"none", func(*Order) {}, nil},
		{"no time in force", func(o *Order) { o.TimeInForce = order.TIFNone }, nil},
		{"market with a price", func(o *Order) { o.Type = order.Market }, nil},
	} {
		o := good
		c.with(&o)
		b := New()
		if _, _, err := b.Add(o, nil); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
		if c.want != nil && b.Orders() != 0 {
			t.Errorf("%s: rests", c.name)
		}
	}
}

func TestQueries(t *testing.T) {
	b := New()
	if _, ok := b.Best(feed.SideBuy); ok {
		t.Error("an empty book has a best bid")
	}
	if _, err := b.SetQuote(99, 7, 101, 8, nil); err != nil {
		t.Fatal(err)
	}
	h := add(t, b, Order{feed.SideSell, order.Limit, order.Day, 5, 101}).Handle
	add(t, b, Order{feed.SideSell, order.Limit, order.Day, 5, 103})
	add(t, b, Order{feed.SideBuy, order.Limit, order.Day, 10, 101})
	if best, ok := b.Best(feed.SideSell); !ok || best != (Level{101, 3, 1}) {
		t.Errorf("best ask %+v, %t", best, ok)
	}
	if best, ok := b.Best(feed.SideBuy); !ok || best != (Level{99, 7, 1}) {
		t.Errorf("best bid %+v, %t", best, ok)
	}
	if got := b.Depth(feed.SideSell, 9, nil); !slices.Equal(got, []Level{{101, 3, 1}, {103, 5, 1}}) {
		t.Errorf("asks %+v", got)
	}
	if got := b.Depth(feed.SideSell, 1, []Level{{}}); !slices.Equal(got, []Level{{}, {101, 3, 1}}) {
		t.Errorf("one level of asks, appended: %+v", got)
	}
	if got := b.Depth(feed.SideSell, 0, nil); len(got) != 0 {
		t.Errorf("no levels of asks: %+v", got)
	}
	if r, ok := b.Get(h); !ok || r != (Resting{feed.SideSell, 101, 5, 2, 3}) {
		t.Errorf("order %+v, %t", r, ok)
	}
	for _, h := range []Handle{MarketMaker, 1, 2, 3, h + 1, h + 1<<32, math.MaxUint64} {
		if r, ok := b.Get(h); ok {
			t.Errorf("handle %x gives %+v", h, r)
		}
	}
	if b.Orders() != 2 || b.Levels(feed.SideBuy) != 1 || b.Levels(feed.SideSell) != 2 {
		t.Errorf("%d orders, %d bids, %d asks", b.Orders(), b.Levels(feed.SideBuy), b.Levels(feed.SideSell))
	}
}

func TestLevelSizeDoesNotOverflow(t *testing.T) {
	b := New()
	for range 3 {
		add(t, b, Order{feed.SideSell, order.Limit, order.Day, math.MaxInt64, math.MaxInt64})
	}
	if best, _ := b.Best(feed.SideSell); best != (Level{math.MaxInt64, math.MaxInt64, 3}) {
		t.Errorf("best ask %+v", best)
	}
	for range 3 {
		o := Order{feed.SideBuy, order.Market, order.FOK, math.MaxInt64, 0}
		if r := add(t, b, o); r.Status != order.Filled {
			t.Errorf("%+v", r)
		}
	}
	if b.Levels(feed.SideSell) != 0 {
		t.Error("something still rests")
	}
}

// TestLargeBookGivesItsMemoryBack also checks that the quote stays and that handles
// from before are refused.
func TestLargeBookGivesItsMemoryBack(t *testing.T) {
	b := New()
	if _, err := b.SetQuote(50, 7, 100_000, 8, nil); err != nil {
		t.Fatal(err)
	}
	var handles []Handle
	slots := map[int]bool{}
	for i := range 2 * keep {
		h := add(t, b, Order{feed.SideSell, order.Limit, order.Day, 5, feed.Price(1000 + i)}).Handle
		if s := h.Slot(); s < 3 || s >= 3+2*keep || slots[s] {
			t.Fatalf("slot %d of order %d", s, i)
		}
		slots[h.Slot()] = true
		handles = append(handles, h)
	}
	if r := add(t, b, Order{feed.SideBuy, order.Market, order.IOC, 7, 0}); r.CumQty != 7 {
		t.Fatalf("%+v", r)
	}
	for _, h := range handles[1:] {
		if _, err := b.Cancel(h); err != nil {
			t.Fatal(err)
		}
	}
	if err := checkBook(b); err != nil {
		t.Fatal(err)
	}
	if len(b.nodes) != 3 || cap(b.nodes) > keep || cap(b.levels) > keep || len(b.asks.runs)+len(b.asks.idle) != 1 {
		t.Errorf("%d of %d nodes, %d of %d levels, %d runs are left",
			len(b.nodes), cap(b.nodes), len(b.levels), cap(b.levels), len(b.asks.runs)+len(b.asks.idle))
	}
	if bid, _ := b.Best(feed.SideBuy); bid != (Level{50, 7, 1}) {
		t.Errorf("best bid %+v", bid)
	}
	if ask, _ := b.Best(feed.SideSell); ask != (Level{100_000, 8, 1}) {
		t.Errorf("best ask %+v", ask)
	}
	for range 2 * keep {
		add(t, b, Order{feed.SideBuy, order.Limit, order.Day, 5, 40})
	}
	for _, h := range handles {
		if _, err := b.Cancel(h); !errors.Is(err, ErrNotResting) {
			t.Fatalf("stale handle %x: %v", h, err)
		}
	}
}
