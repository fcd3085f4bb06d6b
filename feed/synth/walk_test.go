package synth_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/synth"
)

// checker follows a source as the hub does and tests each update against the
// state of its symbol.
type checker struct {
	symbols []feed.Symbol
	opening []feed.Update
	quotes  []feed.Update // the newest quote by symbol
	trades  []uint64
	at      int64
}

func newChecker(s *synth.Source) *checker {
	return &checker{symbols: s.Symbols(), opening: s.Opening(), quotes: s.Opening(), trades: make([]uint64, len(s.Symbols()))}
}

func (c *checker) check(u *feed.Update) error {
	if u.Symbol < 0 || u.Symbol >= len(c.symbols) {
		return errors.New("unknown symbol")
	}
	if u.AtNS < c.at || u.Origin != feed.OriginSchedule || u.ExchangeTSNS != 0 {
		return errors.New("time runs back, or is not the schedule's")
	}
	c.at = u.AtNS
	if u.Quote {
		if u.LastPx != 0 || u.LastSz != 0 || u.TradeID != 0 || u.Aggressor != feed.SideNone {
			return errors.New("a quote with a trade")
		}
		c.quotes[u.Symbol] = *u
		return checkQuote(u, c.symbols[u.Symbol].TickSize, c.opening[u.Symbol].BidPx)
	}
	c.trades[u.Symbol]++
	if u.TradeID != c.trades[u.Symbol] {
		return fmt.Errorf("trade id %d, want %d", u.TradeID, c.trades[u.Symbol])
	}
	if u.BidPx != 0 || u.BidSz != 0 || u.AskPx != 0 || u.AskSz != 0 {
		return errors.New("a trade with a quote")
	}
	px, sz := c.quotes[u.Symbol].BidPx, c.quotes[u.Symbol].BidSz
	if u.Aggressor == feed.SideBuy {
		px, sz = c.quotes[u.Symbol].AskPx, c.quotes[u.Symbol].AskSz
	}
	if u.Aggressor == feed.SideNone || u.LastPx != px || u.LastSz <= 0 || u.LastSz > sz {
		return fmt.Errorf("a trade away from the touch, %s of %s", px, sz)
	}
	return nil
}

func checkQuote(u *feed.Update, grid, opened feed.Price) error {
	switch {
	case u.BidPx <= 0 || u.AskPx <= u.BidPx:
		return errors.New("bid or ask out of order")
	case u.BidPx%grid != 0 || u.AskPx%grid != 0:
		return fmt.Errorf("off the grid of %s", grid)
	case u.BidSz <= 0 || u.AskSz <= 0:
		return errors.New("a side without size")
	case u.BidPx < opened/2-grid || u.BidPx > opened*2:
		return fmt.Errorf("out of the bounds around %s", opened)
	}
	return nil
}

func TestOpening(t *testing.T) {
	s := newSource(t, synth.Options{Symbols: 500, Seed: 5})
	opening := s.Opening()
	if len(opening) != 500 {
		t.Fatalf("%d opening updates", len(opening))
	}
	grids := map[feed.Price]int{}
	for i, u := range opening {
		grid := s.Symbols()[i].TickSize
		grids[grid]++
		if err := checkQuote(&u, grid, u.BidPx); err != nil {
			t.Errorf("symbol %d: %v", i, err)
		}
		if u.Symbol != i || !u.Quote || u.AtNS != 0 || u.Origin != feed.OriginSchedule {
			t.Errorf("symbol %d opens with %+v", i, u)
		}
		if u.LastPx != u.BidPx || u.LastSz != 0 || u.TradeID != 0 || u.Aggressor != feed.SideNone {
			t.Errorf("symbol %d: want a last price without a trade: %+v", i, u)
		}
	}
	if len(grids) < 4 {
		t.Errorf("500 symbols have %d grids", len(grids))
	}
	take(t, s, 1000)
	if s.Opening()[7] != opening[7] {
		t.Error("the opening moved with the walk")
	}
}

// TestWalks puts a million updates on few symbols.
func TestWalks(t *testing.T) {
	const n = 1_000_000
	s := newSource(t, synth.Options{Symbols: 10, Seed: 2, Rate: 1000})
	c := newChecker(s)
	var u feed.Update
	trades, buys, moved := 0, 0, 0
	for i := range n {
		if err := s.Next(&u); err != nil {
			t.Fatal(err)
		}
		before := c.quotes[u.Symbol].BidPx
		if err := c.check(&u); err != nil {
			t.Fatalf("update %d: %v: %+v", i, err, u)
		}
		if !u.Quote {
			trades++
			if u.Aggressor == feed.SideBuy {
				buys++
			}
		} else if u.BidPx != before {
			moved++
		}
	}
	// Six standard deviations are 2,600 for trades and 1,500 for buys.
	if trades < 247_000 || trades > 253_000 || buys*2 < trades-3_100 || buys*2 > trades+3_100 {
		t.Errorf("%d trades of %d updates, %d by buyers; want a quarter, and half of them", trades, n, buys)
	}
	if moved < n/5 {
		t.Errorf("the bid moved in %d of %d updates", moved, n)
	}
}
