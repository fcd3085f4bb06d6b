package book

import (
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestNothingIsAllocated checks each call in the steady state: once as many orders
// rested, on as many levels, none of them allocates.
func TestNothingIsAllocated(t *testing.T) {
	const px = feed.Price(50_000)
	b := New()
	fills := make([]Fill, 0, 64)
	rest := func(side feed.Side, qty feed.Size, px feed.Price) Handle {
		r, _, err := b.Add(Order{side, order.Limit, order.Day, qty, px}, fills)
		if err != nil || r.Handle == 0 {
			t.Fatalf("%+v, %v, want an order that rests", r, err)
		}
		return r.Handle
	}
	var handles []Handle
	for i := range feed.Price(1000) {
		handles = append(handles, rest(feed.SideBuy, 10, px-1-i), rest(feed.SideSell, 10, px+1+i))
	}
	next := 0
	for _, c := range []struct {
		name string
		call func()
	}{
		{"add and cancel at a new level", func() {
			if _, err := b.Cancel(rest(feed.SideBuy, 5, px)); err != nil {
				t.Fatal(err)
			}
		}},
		{"add and cancel at a level that stays", func() {
			if _, err := b.Cancel(rest(feed.SideSell, 5, px+500)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the oldest of many goes, a new one comes", func() {
			i := next % len(handles)
			old, _ := b.Get(handles[i])
			if _, err := b.Cancel(handles[i]); err != nil {
				t.Fatal(err)
			}
			handles[i] = rest(old.Side, old.Qty, old.Price)
			next++
		}},
		{"a market order that fills two orders", func() {
			rest(feed.SideSell, 5, px)
			rest(feed.SideSell, 5, px)
			r, f, err := b.Add(Order{feed.SideBuy, order.Market, order.IOC, 10, 0}, fills)
			if err != nil || r.Status != order.Filled || len(f) != 2 {
				t.Fatalf("%+v, %d fills, %v", r, len(f), err)
			}
		}},
		{"a market order that fills in part", func() {
			rest(feed.SideSell, 5, px)
			for range 5 {
				if r, _, err := b.Add(Order{feed.SideBuy, order.Market, order.IOC, 1, 0}, fills); err != nil || r.Status != order.Filled {
					t.Fatalf("%+v, %v", r, err)
				}
			}
		}},
		{"a fok that looks through many levels", func() {
			if r, _, err := b.Add(Order{feed.SideBuy, order.Limit, order.FOK, 1e9, px + 900}, fills); err != nil || r.Status != order.Canceled {
				t.Fatalf("%+v, %v", r, err)
			}
		}},
		{"replace to another price and a lower quantity", func() {
			h := rest(feed.SideBuy, 5, px-30)
			for _, to := range []feed.Price{px - 20, px, px} {
				if _, _, err := b.Replace(h, 5-feed.Size(px-to)/10, to, fills); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := b.Cancel(h); err != nil {
				t.Fatal(err)
			}
		}},
		{"a quote that moves and trades", func() {
			for _, at := range []feed.Price{px - 300, px - 200, px - 200} {
				if _, err := b.SetQuote(at, 1, at+400, 1, fills); err != nil {
					t.Fatal(err)
				}
			}
			rest(feed.SideSell, 5, px)
			if f, err := b.SetQuote(px, 5, px+400, 5, fills); err != nil || len(f) != 1 {
				t.Fatalf("%d fills, %v", len(f), err)
			}
		}},
	} {
		if n := testing.AllocsPerRun(1000, c.call); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
	if err := checkBook(b); err != nil {
		t.Error(err)
	}
}
