package book

import (
	"math/rand/v2"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"pgregory.net/rapid"
)

// scale makes small random numbers into prices and quantities.
type scale struct {
	px  feed.Price
	qty feed.Size
}

// The last has quantities whose sums overflow 64 bits.
var scales = []scale{{1, 1}, {1e9, 1e8}, {1e18, 1e14}, {1e18, 1e18}}

// TestBookIsItsReference checks the book against the slow one: every fill, every
// answer and the whole book after every call.
func TestBookIsItsReference(t *testing.T) {
	for range 30 { // times rapid's 100 sequences
		rapid.Check(t, testReference)
	}
}

func testReference(t *rapid.T) {
	w := newTwin()
	s := rapid.SampledFrom(scales).Draw(t, "scale")
	prices := rapid.IntRange(2, 9).Draw(t, "prices")
	px := func(name string) feed.Price { return s.px * feed.Price(rapid.IntRange(1, prices).Draw(t, name)) }
	qty := func(name string) feed.Size { return s.qty * feed.Size(rapid.IntRange(1, 9).Draw(t, name)) }
	side := rapid.SampledFrom([]feed.Side{feed.SideBuy, feed.SideSell})
	tif := rapid.SampledFrom([]order.TimeInForce{order.TIFNone, order.Day, order.IOC, order.FOK})
	step := func(o op) {
		if err := w.apply(o); err != nil {
			t.Fatalf("%c %+v: %v", o.call, o, err)
		}
	}
	limit := func(*rapid.T) {
		step(op{call: 'a', order: Order{side.Draw(t, "side"), order.Limit, order.Day, qty("qty"), px("price")}})
	}
	t.Repeat(map[string]func(*rapid.T){
		"limit":     limit,
		"moreLimit": limit,
		"inForce": func(*rapid.T) {
			step(op{call: 'a', order: Order{side.Draw(t, "side"), order.Limit, tif.Draw(t, "tif"), qty("qty"), px("price")}})
		},
		"market": func(*rapid.T) {
			step(op{call: 'a', order: Order{side.Draw(t, "side"), order.Market, tif.Draw(t, "tif"), qty("qty"), 0}})
		},
		"cancel": func(*rapid.T) { step(op{call: 'c', pick: rapid.IntRange(0, 50).Draw(t, "pick")}) },
		"replace": func(*rapid.T) {
			step(op{call: 'r', pick: rapid.IntRange(0, 20).Draw(t, "pick"), order: Order{Qty: qty("qty"), Price: px("price")}})
		},
		"quote": func(*rapid.T) {
			o := op{call: 'q', order: Order{Qty: qty("bid size"), Price: px("bid")}, askPx: px("ask"), askSz: qty("ask size")}
			switch rapid.IntRange(0, 9).Draw(t, "missing") {
			case 0:
				o.order.Price = 0
			case 1:
				o.askSz = 0
			}
			step(o)
		},
	})
}

// TestBookIsItsReferenceAtLength does the same with hundreds of orders on hundreds
// of levels, which rapid's sequences are too short for.
func TestBookIsItsReferenceAtLength(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	w := newTwin()
	sides := []feed.Side{feed.SideBuy, feed.SideSell}
	orders, levels := 0, 0
	for i := range 3_000 {
		o := op{call: "aaaaaaacrq"[r.IntN(10)], pick: r.IntN(300)}
		o.order = Order{sides[r.IntN(2)], order.Limit, order.Day, feed.Size(1 + r.IntN(9)), 0}
		// Bids mostly below 500 and asks above, so that they pile up.
		o.order.Price = feed.Price(495 + r.IntN(300))
		if o.order.Side == feed.SideBuy {
			o.order.Price = 1000 - o.order.Price
		}
		switch r.IntN(60) {
		case 0:
			o.order.Type, o.order.Qty = order.Market, o.order.Qty*50
		case 1:
			o.order.TimeInForce, o.order.Qty = order.FOK, o.order.Qty*10
		}
		if o.call == 'q' {
			o.order.Price = feed.Price(480 + r.IntN(40))
			o.askPx, o.askSz = o.order.Price+feed.Price(1+r.IntN(9)), feed.Size(1+r.IntN(20))
		}
		if err := w.apply(o); err != nil {
			t.Fatalf("call %d: %c %+v: %v", i, o.call, o, err)
		}
		orders = max(orders, w.book.Orders())
		levels = max(levels, w.book.Levels(feed.SideBuy), w.book.Levels(feed.SideSell))
	}
	if orders < 300 || levels <= 2*runLen {
		t.Errorf("never more than %d orders, and %d levels of a side: too few to say much", orders, levels)
	}
	t.Logf("up to %d orders, and %d levels of a side", orders, levels)
}
