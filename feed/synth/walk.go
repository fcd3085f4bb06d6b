package synth

import "github.com/tickgauge/tickgauge/feed"

// instrument is a kind of symbol: its grid, its lot, and where in steps of the
// grid its opening price may lie.
type instrument struct {
	grid      feed.Price
	lot       feed.Size
	from, to  int64
	maxSpread int64 // steps
}

// kinds returns the instruments that symbols are drawn from.
func kinds() [5]instrument {
	return [5]instrument{
		// A share: 10 to 500 by 0.01, in units of 100.
		{grid: 10_000_000, lot: 10_000_000_000, from: 1_000, to: 50_000, maxSpread: 4},
		// A dear coin: 20,000 to 90,000 by 0.01, in units of 0.01.
		{grid: 10_000_000, lot: 1_000_000, from: 2_000_000, to: 9_000_000, maxSpread: 9},
		// A perpetual: 1,000 to 5,000 by 0.1, in units of 0.1.
		{grid: 100_000_000, lot: 10_000_000, from: 10_000, to: 50_000, maxSpread: 3},
		// A cheap coin: 0.2 to 4 by 0.0001, in units of 1.
		{grid: 100_000, lot: 100_000_000, from: 2_000, to: 40_000, maxSpread: 3},
		// A currency pair: 0.5 to 2 by 0.00001, in units of 1,000.
		{grid: 10_000, lot: 100_000_000_000, from: 50_000, to: 200_000, maxSpread: 6},
	}
}

// Out of 100 updates of a symbol, so many are trades; out of 100 others, so many
// move the price, so many draw a new spread, and the rest only change a size.
const (
	tradePercent  = 25
	movePercent   = 30
	spreadPercent = 10
)

// walk is one symbol's price. Its bid does a random walk of whole steps of the
// grid between two bounds that reflect it, at half and twice where it opened: it
// stays on the grid, positive and far from overflow however long it goes on.
// Everything is integer arithmetic.
type walk struct {
	rng       random
	kind      instrument
	low, high int64 // bounds of bid, in steps
	bid       int64 // in steps
	spread    int64 // in steps, at least 1
	bidSz     int64 // in lots, at least 1
	askSz     int64
	lastTrade uint64 // id
}

func newWalk(rng random) walk {
	w := walk{rng: rng}
	all := kinds()
	w.kind = all[w.rng.below(int64(len(all)))]
	w.bid = w.kind.from + w.rng.below(w.kind.to-w.kind.from)
	w.low, w.high = w.bid/2, w.bid*2
	w.spread = w.newSpread()
	w.bidSz, w.askSz = w.newSize(), w.newSize()
	return w
}

// opening fills u with a quote and a last price, without a trade.
func (w *walk) opening(u *feed.Update) {
	w.quote(u)
	u.LastPx = u.BidPx
}

// step moves the walk by one update and fills u with it: a quote, or a trade at
// the touch, which leaves the quote to the next update.
func (w *walk) step(u *feed.Update) {
	if w.rng.below(100) < tradePercent {
		w.trade(u)
		return
	}
	switch what := w.rng.below(100); {
	case what < movePercent:
		w.move()
		w.bidSz, w.askSz = w.newSize(), w.newSize()
	case what < movePercent+spreadPercent:
		w.spread = w.newSpread()
		w.askSz = w.newSize()
	case what%2 == 0:
		w.bidSz = w.newSize()
	default:
		w.askSz = w.newSize()
	}
	w.quote(u)
}

func (w *walk) trade(u *feed.Update) {
	w.lastTrade++
	u.TradeID = w.lastTrade
	size := w.bidSz
	if w.rng.below(2) == 0 {
		u.Aggressor, u.LastPx = feed.SideSell, w.price(w.bid)
	} else {
		u.Aggressor, u.LastPx = feed.SideBuy, w.price(w.bid+w.spread)
		size = w.askSz
	}
	u.LastSz = w.size(1 + w.rng.below(size))
}

func (w *walk) quote(u *feed.Update) {
	u.Quote = true
	u.BidPx, u.BidSz = w.price(w.bid), w.size(w.bidSz)
	u.AskPx, u.AskSz = w.price(w.bid+w.spread), w.size(w.askSz)
}

// move takes the bid 1 to 3 steps up or down, short moves being likelier.
func (w *walk) move() {
	by := 1 + w.rng.below(1+w.rng.below(3))
	if w.rng.below(2) == 0 {
		by = -by
	}
	w.bid += by
	if w.bid < w.low {
		w.bid = 2*w.low - w.bid
	}
	if w.bid > w.high {
		w.bid = 2*w.high - w.bid
	}
}

// newSpread draws 1 to maxSpread steps, tight ones being likelier.
func (w *walk) newSpread() int64 { return 1 + w.rng.below(1+w.rng.below(w.kind.maxSpread)) }

// newSize draws 1 to 500 lots, small sizes being likelier.
func (w *walk) newSize() int64 { return 1 + w.rng.below(1+w.rng.below(500)) }

func (w *walk) price(steps int64) feed.Price { return feed.Price(steps) * w.kind.grid }

func (w *walk) size(lots int64) feed.Size { return feed.Size(lots) * w.kind.lot }
