package book

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

const benchPx = feed.Price(1_000_000)

// flow is random calls on a book that has about as many orders as it started with:
// 45% limit orders that rest, 45% cancels, 5% limit orders at prices that may cross,
// 5% market orders.
type flow struct {
	book    *Book
	handles []Handle // some stale, of orders that were filled
	fills   []Fill
	rand    *rand.Rand
	spread  float64 // mean distance of a price from the middle; 0: uniform over as many prices as orders
	orders  int
	trades  int
}

func newFlow(orders int, spread float64) *flow {
	f := &flow{book: New(), fills: make([]Fill, 0, 1024), rand: rand.New(rand.NewPCG(1, 1)), spread: spread, orders: orders}
	for f.book.Orders() < orders {
		f.limit(1)
	}
	return f
}

func (f *flow) order(away feed.Price) Order {
	distance := feed.Price(f.rand.IntN(f.orders))
	if f.spread > 0 {
		distance = feed.Price(f.rand.ExpFloat64() * f.spread)
	}
	o := Order{feed.SideBuy, order.Limit, order.Day, feed.Size(1 + f.rand.IntN(100)), benchPx - away - distance}
	if f.rand.IntN(2) == 0 {
		o.Side, o.Price = feed.SideSell, benchPx+away+distance
	}
	return o
}

func (f *flow) limit(away feed.Price) {
	r, fills, _ := f.book.Add(f.order(away), f.fills)
	f.trades += len(fills)
	if r.Handle != 0 {
		f.handles = append(f.handles, r.Handle)
	}
}

// cancel takes out an order that still rests.
func (f *flow) cancel() {
	for len(f.handles) > 0 {
		i, last := f.rand.IntN(len(f.handles)), len(f.handles)-1
		h := f.handles[i]
		f.handles[i] = f.handles[last]
		f.handles = f.handles[:last]
		if _, err := f.book.Cancel(h); err == nil {
			return
		}
	}
}

func (f *flow) step() {
	switch n := f.rand.IntN(100); {
	case f.book.Orders() < f.orders*9/10 || (n < 45 && f.book.Orders() < f.orders*11/10):
		f.limit(1)
	case n < 90:
		f.cancel()
	case n < 95:
		f.limit(-2)
	default:
		o := f.order(0)
		o.Type, o.TimeInForce = order.Market, order.IOC
		_, fills, _ := f.book.Add(o, f.fills)
		f.trades += len(fills)
	}
}

func perSecond(b *testing.B, calls int) {
	b.ReportMetric(float64(calls)*float64(b.N)/b.Elapsed().Seconds(), "orders/s")
}

// BenchmarkFlow is the random flow: prices near the touch, a mean of 20 steps away,
// and prices spread evenly over as many levels as there are orders.
func BenchmarkFlow(b *testing.B) {
	for _, orders := range []int{1_000, 10_000} {
		for _, shape := range []struct {
			name   string
			spread float64
		}{{"touch", 20}, {"spread", 0}} {
			b.Run(fmt.Sprintf("%d/%s", orders, shape.name), func(b *testing.B) {
				f := newFlow(orders, shape.spread)
				b.ReportAllocs()
				for b.Loop() {
					f.step()
				}
				perSecond(b, 1)
				b.ReportMetric(float64(f.trades)/float64(b.N), "trades/order")
				b.ReportMetric(float64(f.book.Orders()), "resting")
				b.ReportMetric(float64(f.book.Levels(feed.SideBuy)+f.book.Levels(feed.SideSell)), "levels")
			})
		}
	}
}

// BenchmarkAddCancel rests an order and takes it out again, two calls.
func BenchmarkAddCancel(b *testing.B) {
	for _, orders := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(orders), func(b *testing.B) {
			f := newFlow(orders, 20)
			b.ReportAllocs()
			for b.Loop() {
				r, _, _ := f.book.Add(Order{feed.SideBuy, order.Limit, order.Day, 5, benchPx - 10}, f.fills)
				if _, err := f.book.Cancel(r.Handle); err != nil {
					b.Fatal(err)
				}
			}
			perSecond(b, 2)
		})
	}
}

// BenchmarkMatch rests an order at the best price and fills it, two calls.
func BenchmarkMatch(b *testing.B) {
	for _, orders := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(orders), func(b *testing.B) {
			f := newFlow(orders, 20)
			b.ReportAllocs()
			for b.Loop() {
				_, _, _ = f.book.Add(Order{feed.SideSell, order.Limit, order.Day, 5, benchPx}, f.fills)
				if r, _, _ := f.book.Add(Order{feed.SideBuy, order.Market, order.IOC, 5, 0}, f.fills); r.Status != order.Filled {
					b.Fatalf("%+v", r)
				}
			}
			perSecond(b, 2)
		})
	}
}

// BenchmarkQuote moves the quote by a step each time, as the feed does.
func BenchmarkQuote(b *testing.B) {
	f := newFlow(1_000, 20)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		px := benchPx - feed.Price(i%2)
		if _, err := f.book.SetQuote(px-1, 100, px+1, 100, f.fills); err != nil {
			b.Fatal(err)
		}
	}
}
