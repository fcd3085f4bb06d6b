package desk

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// TestCrowd has many traders, of whom two share each account and some ids, in two
// symbols, beside a market maker.
func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		name   string
		quotes bool
		cross  bool // quotes come in and trade
	}{{name: "without quotes"}, {name: "with quotes", quotes: true}, {name: "with quotes that cross", quotes: true, cross: true}} {
		t.Run(c.name, func(t *testing.T) {
			crowd := newCrowd(t, Options{OpenOrders: 60, IDs: 500})
			var traders sync.WaitGroup
			crowd.trade(t, &traders, crowdRequest)
			done := make(chan struct{})
			var maker sync.WaitGroup
			if c.quotes {
				maker.Go(func() { crowd.quote(done, c.cross) })
			}
			traders.Wait()
			close(done)
			maker.Wait()
			crowd.end()
			crowd.check(t, !c.cross)
		})
	}
}

// quote restores the market maker's orders until the end. Outside of all resting
// orders they cross nothing.
func (c *crowd) quote(done <-chan struct{}, cross bool) {
	r := rand.New(rand.NewPCG(6, 6))
	for i := 0; ; i++ {
		select {
		case <-done:
			return
		default:
		}
		tick, away, mid := symbols[i%2].TickSize, feed.Price(10), 100*one
		if cross {
			away, mid = 1, mid+feed.Price(r.IntN(5)-2)*tick
		}
		c.desk.Quote(i%2, mid-away*tick, feed.Size(r.IntN(9))*lot, mid+away*tick, feed.Size(r.IntN(9))*lot)
	}
}

// crowdRequest keeps what may rest within 3 steps of 100.
func crowdRequest(trader, i int, r *rand.Rand) order.Request {
	account, id := fmt.Sprint("acct-", 1+trader%crowdAccounts), fmt.Sprint(trader/crowdAccounts, ".", i)
	if r.IntN(20) == 0 {
		id = fmt.Sprint("shared", i) // with the other trader of the account, as it is for both
		r = rand.New(rand.NewPCG(uint64(i), uint64(trader%crowdAccounts)))
	}
	recent := fmt.Sprint(r.IntN(2), ".", max(0, i-r.IntN(30)))
	symbol := r.IntN(len(symbols))
	price := 100*one + feed.Price(r.IntN(7)-3)*symbols[symbol].TickSize
	qty := feed.Size(1+r.IntN(9)) * lot
	req := limitOrder(account, id, feed.SideBuy+feed.Side(r.IntN(2)), qty, price, order.Day)
	req.Symbol = symbols[symbol].Name
	switch r.IntN(10) {
	case 0:
		req.TimeInForce = order.FOK
	case 1:
		req.TimeInForce = order.IOC
	case 2:
		req.Type, req.Price = order.Market, 0
	case 3, 4:
		// On A's grid, for it may be A's: of B's prices that is 100 alone.
		req = replaceOf(account, id, recent, qty, 100*one+feed.Price(r.IntN(7)-3)*symbols[0].TickSize)
	case 5:
		req = cancelOf(account, id, recent)
	case 6:
		req = cancelOf(account, "", recent)
	case 7:
		if r.IntN(8) == 0 {
			req.OrderQty = 0
		}
	}
	return req
}

// TestOpenOrdersAtOnce has orders of one account come in two symbols at the same
// instant where there is room for one.
func TestOpenOrdersAtOnce(t *testing.T) {
	d := newDesk(t, Options{OpenOrders: 1})
	for round := range 2000 {
		start := make(chan struct{})
		var wg sync.WaitGroup
		var open [2]bool
		for i := range symbols {
			wg.Go(func() {
				req := limitOrder("", fmt.Sprint(round, symbols[i].Name), feed.SideBuy, lot, 100*one, order.Day)
				req.Symbol = symbols[i].Name
				<-start
				e, err := d.Submit(context.Background(), req)
				open[i] = err == nil && e.Reject == ""
			})
		}
		close(start)
		wg.Wait()
		if open[0] == open[1] {
			t.Fatalf("round %d: let in %v", round, open)
		}
		for i, s := range symbols {
			if e, err := d.Submit(t.Context(), cancelOf("", "", fmt.Sprint(round, s.Name))); (e.Reject == "") != open[i] || err != nil {
				t.Fatalf("round %d: cancel in %s: %+v, %v", round, s.Name, e, err)
			}
		}
	}
}
