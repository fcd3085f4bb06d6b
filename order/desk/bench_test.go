package desk

import (
	"context"
	"strconv"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/account"
)

// benchIDs are more ids than a desk remembers, so that going round is no repeat.
func benchIDs(b *testing.B) []string {
	ids := make([]string, min(b.N+1, account.DefaultIDs*5/4))
	for i := range ids {
		ids[i] = "bench-" + strconv.Itoa(i)
	}
	return ids
}

func benchSubmit(b *testing.B, d *Desk, req order.Request, want order.Status) {
	e, err := d.Submit(context.Background(), req)
	if err != nil || e.OrdStatus != want {
		b.Fatalf("Submit %+v: %+v, %v", req, e, err)
	}
}

// BenchmarkIOCAtTheTouch is the trader's default order: an IOC that the market
// maker fills, the sides in turn.
func BenchmarkIOCAtTheTouch(b *testing.B) {
	d, ids := newDesk(b, Options{}), benchIDs(b)
	d.Quote(0, 99*one, 1<<62, 101*one, 1<<62)
	sides := [2]order.Request{
		limitOrder("acct-1", "", feed.SideBuy, lot, 101*one, order.IOC), limitOrder("acct-1", "", feed.SideSell, lot, 99*one, order.IOC),
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		req := sides[i%2]
		req.ClOrdID = ids[i%len(ids)]
		benchSubmit(b, d, req, order.Filled)
	}
}

// BenchmarkRestAndCancel is a limit order that rests, and its cancel under an id
// of its own: two requests.
func BenchmarkRestAndCancel(b *testing.B) {
	d, ids := newDesk(b, Options{}), benchIDs(b)
	place, cancel := limitOrder("acct-1", "", feed.SideBuy, lot, 99*one, order.Day), cancelOf("acct-1", "", "")
	cancels := make([]string, len(ids))
	for i := range cancels {
		cancels[i] = ids[i] + "c"
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		place.ClOrdID = ids[i%len(ids)]
		cancel.ClOrdID, cancel.OrigClOrdID = cancels[i%len(ids)], place.ClOrdID
		benchSubmit(b, d, place, order.New)
		benchSubmit(b, d, cancel, order.Canceled)
	}
}

// BenchmarkIOCInParallel has an account and a symbol a goroutine.
func BenchmarkIOCInParallel(b *testing.B) {
	d := newDesk(b, Options{})
	for i := range symbols {
		d.Quote(i, 95*one, 1<<62, 105*one, 1<<62)
	}
	goroutines := make(chan int, 100)
	for i := range cap(goroutines) {
		goroutines <- i
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		g := <-goroutines
		req := limitOrder(d.Accounts()[g%10], "", feed.SideBuy, lot, 105*one, order.IOC)
		req.Symbol = symbols[g%len(symbols)].Name
		for i := 0; pb.Next(); i++ {
			req.ClOrdID = strconv.Itoa(g) + "-" + strconv.Itoa(i)
			benchSubmit(b, d, req, order.Filled)
		}
	})
}

// BenchmarkRepeat is an order that the memory knows.
func BenchmarkRepeat(b *testing.B) {
	d := newDesk(b, Options{})
	req := limitOrder("acct-1", "a", feed.SideBuy, lot, 99*one, order.Day)
	b.ReportAllocs()
	for range b.N {
		benchSubmit(b, d, req, order.New)
	}
}
