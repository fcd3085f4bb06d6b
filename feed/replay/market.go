package replay

import (
	"errors"
	"fmt"
	"math"

	"github.com/tickgauge/tickgauge/feed"
)

// market is what a decoder knows of the capture's symbols. Names, grids and
// indexes stay from one pass to the next; books do not.
type market struct {
	tickSize feed.Price // 0: the grids are found from the prices
	byName   map[string]*instrument
	listed   []*instrument // those with ticks, in order of the first one
	sealed   bool          // the first pass is over
}

// instrument is one symbol of a capture.
type instrument struct {
	name     string
	index    int        // in market.listed; -1 before the first tick
	tickSize feed.Price // of the market
	grid     feed.Price // the greatest power of ten, 1 at most, that divides every price so far
	book     book
	lastPx   feed.Price // a last price that the next tick is to carry; 0: none
}

// instrument returns the symbol of that name, making it when it is new.
func (m *market) instrument(name []byte) (*instrument, error) {
	if in := m.byName[string(name)]; in != nil {
		return in, nil
	}
	if len(name) == 0 {
		return nil, errors.New("names no symbol")
	}
	in := &instrument{name: string(name), index: -1, tickSize: m.tickSize, grid: 1e9}
	m.byName[in.name] = in
	return in, nil
}

// list gives the symbol its index at its first tick.
func (m *market) list(in *instrument) error {
	if in.index >= 0 {
		return nil
	}
	if m.sealed {
		return errChanged
	}
	in.index = len(m.listed)
	m.listed = append(m.listed, in)
	return nil
}

// reset forgets what a pass has built up.
func (m *market) reset() {
	for _, in := range m.byName {
		in.book, in.lastPx = book{}, 0
	}
}

func (m *market) symbols() []feed.Symbol {
	out := make([]feed.Symbol, len(m.listed))
	for i, in := range m.listed {
		out[i] = feed.Symbol{Name: in.name, TickSize: in.grid}
		if m.tickSize != 0 {
			out[i].TickSize = m.tickSize
		}
	}
	return out
}

func (in *instrument) onGrid(px feed.Price) error {
	if in.tickSize != 0 && px%in.tickSize != 0 {
		return fmt.Errorf("price %s of %s is not on the grid of %s; give a finer tick size, or none to have it found", px, in.name, in.tickSize)
	}
	return nil
}

func (in *instrument) learn(px feed.Price) {
	for px%in.grid != 0 {
		in.grid /= 10
	}
}

// replace makes levels the book. After an error the old one stands.
func (in *instrument) replace(levels []change) error {
	b, err := snapshot(levels)
	if err == nil {
		in.book = b
	}
	return err
}

// update changes the book. After an error it stands as before.
func (in *instrument) update(changes []change) error {
	if !in.book.known {
		return fmt.Errorf("the book of %s is updated before its snapshot, so its best is not known; start the capture at a snapshot", in.name)
	}
	return in.book.apply(changes)
}

// event is what one line says.
type event struct {
	kind   string      // what it is counted as
	at     int64       // when it was received, ns since 1970
	in     *instrument // nil: the line is no tick
	far    int64       // levels that the line adds to a book and that are left out
	update feed.Update
}

// quote makes the event a tick with a new best bid and ask.
func (e *event) quote(in *instrument, q quote) {
	e.in = in
	e.update.Quote = true
	e.update.BidPx, e.update.BidSz, e.update.AskPx, e.update.AskSz = q.bidPx, q.bidSz, q.askPx, q.askSz
	e.update.LastPx, in.lastPx = in.lastPx, 0
}

// book makes the changes, by (*instrument).replace or update, and makes the event
// a tick if that changes the best. After an error nothing has changed.
func (e *event) book(in *instrument, changes []change, apply func([]change) error) error {
	for _, c := range changes {
		if c.far && c.bid {
			return fmt.Errorf("a bid beyond %s: %w", feed.Price(math.MaxInt64), feed.ErrRange)
		}
		if err := in.onGrid(c.px); err != nil {
			return err
		}
		if c.far && c.sz != 0 {
			e.far++
		}
	}
	before := in.book.best()
	if err := apply(changes); err != nil {
		return err
	}
	for _, c := range changes {
		in.learn(c.px)
	}
	if now := in.book.best(); now != before {
		e.quote(in, now)
	}
	return nil
}

// trade makes the event a tick that is a trade.
func (e *event) trade(in *instrument, px feed.Price, sz feed.Size, id uint64, aggressor feed.Side) error {
	if err := in.onGrid(px); err != nil {
		return err
	}
	in.learn(px)
	in.lastPx = 0
	e.in = in
	e.update.LastPx, e.update.LastSz, e.update.TradeID, e.update.Aggressor = px, sz, id, aggressor
	return nil
}
