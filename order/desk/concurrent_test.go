package desk

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// crowd is a desk with many traders at once, and what it said.
type crowd struct {
	desk    *Desk
	trades  [][]trade           // by symbol: Traded is called under the lock of its book
	reports [][]order.Execution // by account, as a watch took them while they came
	answers [][]answered        // by trader
	readers sync.WaitGroup
	ended   chan struct{}
}

type answered struct {
	req    order.Request
	answer order.Execution
}

const crowdAccounts, crowdTraders, crowdOrders = 4, 8, 2500

func newCrowd(t *testing.T, opts Options) *crowd {
	c := &crowd{trades: make([][]trade, len(symbols)), answers: make([][]answered, crowdTraders), ended: make(chan struct{})}
	opts.Accounts, opts.Reports = crowdAccounts, 1<<20
	opts.Traded = func(symbol int, px feed.Price, qty feed.Size, id uint64, aggressor feed.Side) {
		c.trades[symbol] = append(c.trades[symbol], trade{symbol, px, qty, id, aggressor})
	}
	c.desk = newDesk(t, opts)
	c.reports = make([][]order.Execution, crowdAccounts)
	for i, name := range c.desk.Accounts() {
		w, err := c.desk.Watch(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		c.readers.Go(func() {
			defer w.Close()
			for open := true; open; {
				select {
				case <-w.Ready():
				case <-c.ended:
					open = false // all is there to take
				}
				c.reports[i] = w.Take(c.reports[i], 1<<20)
			}
		})
	}
	return c
}

// trade has all traders at it, each pair of which shares an account, by requests
// that make gives.
func (c *crowd) trade(t *testing.T, traders *sync.WaitGroup, next func(trader, i int, r *rand.Rand) order.Request) {
	for g := range crowdTraders {
		traders.Go(func() {
			r := rand.New(rand.NewPCG(uint64(g), 5))
			for i := range crowdOrders {
				req := next(g, i, r)
				e, err := c.desk.Submit(context.Background(), req)
				if err != nil {
					t.Errorf("Submit %+v: %v", req, err)
					return
				}
				c.answers[g] = append(c.answers[g], answered{req, e})
			}
		})
	}
}

// end waits for the last report.
func (c *crowd) end() {
	close(c.ended)
	c.readers.Wait()
}

// check looks through all that the desk said. told says that what came in, in each
// trade, was an account's order and no quote.
func (c *crowd) check(t *testing.T, told bool) {
	t.Helper()
	var all []order.Execution
	for i, reports := range c.reports {
		for j, e := range reports {
			if e.ReportSeq != uint64(j+1) || e.Account != c.desk.Accounts()[i] {
				t.Fatalf("report %d of account %d is %+v", j+1, i+1, e)
			}
		}
		all = append(all, reports...)
	}
	for _, answers := range c.answers {
		for _, a := range answers {
			i := slices.Index(c.desk.Accounts(), a.answer.Account)
			if e := c.reports[i][a.answer.ReportSeq-1]; e != a.answer {
				t.Fatalf("%+v was answered\n%+v and reported as\n%+v", a.req, a.answer, e)
			}
		}
	}
	slices.SortFunc(all, func(a, b order.Execution) int { return int(a.ExecID) - int(b.ExecID) })
	audit := newAudit()
	bySymbol := map[string][]order.Execution{}
	for i, e := range all {
		if e.ExecID != uint64(i+1) {
			t.Fatalf("exec_id %d is missing, or is there twice", i+1)
		}
		if err := audit.follow(e); err != nil {
			t.Fatalf("report %+v: %v", e, err)
		}
		bySymbol[e.Symbol] = append(bySymbol[e.Symbol], e)
	}
	ids := map[uint64]bool{}
	for i, s := range symbols {
		for _, tr := range c.trades[i] {
			ids[tr.id] = true
		}
		c.checkTape(t, s.Name, bySymbol[s.Name], c.trades[i], told)
	}
	n := uint64(len(c.trades[0]) + len(c.trades[1]))
	for id := range n {
		if !ids[id+1] {
			t.Fatalf("of %d trades number %d is missing", n, id+1)
		}
	}
	if s := c.desk.Stats(); s.Trades != int64(n) || n < crowdOrders {
		t.Errorf("%d trades, stats %+v", n, s)
	}
	if err := checkDesk(c.desk); err != nil {
		t.Error(err)
	}
}

// checkTape checks one symbol's trades with the reports on them. Where quotes
// come in as well as orders only the sums tell.
func (c *crowd) checkTape(t *testing.T, symbol string, reports []order.Execution, trades []trade, told bool) {
	t.Helper()
	if told {
		if err := newAudit().sides(reports, trades, true); err != nil {
			t.Fatalf("%s: %v", symbol, err)
		}
		return
	}
	var bought, sold, all feed.Size
	for _, e := range reports {
		if e.Side == feed.SideBuy {
			bought += e.LastQty
		} else {
			sold += e.LastQty
		}
	}
	for _, tr := range trades {
		all += tr.qty
	}
	if bought > all || sold > all || bought+sold < all {
		t.Errorf("%s: accounts bought %s and sold %s of the %s that traded", symbol, bought, sold, all)
	}
}
