package book

import "github.com/tickgauge/tickgauge/feed"

// Level is what rests at one price of one side, the market maker's order included.
type Level struct {
	Price  feed.Price
	Size   feed.Size // open, over all orders; at most the largest Size
	Orders int
}

// Best gives the best level of a side; false if nothing rests there.
func (b *Book) Best(side feed.Side) (Level, bool) {
	at := b.ladder(side).best()
	if at == 0 {
		return Level{}, false
	}
	return b.level(side, at), true
}

// Depth appends up to limit levels of a side to dst, the best first.
func (b *Book) Depth(side feed.Side, limit int, dst []Level) []Level {
	for at := range b.ladder(side).fromBest {
		if limit--; limit < 0 {
			break
		}
		dst = append(dst, b.level(side, at))
	}
	return dst
}

func (b *Book) level(side feed.Side, at int32) Level {
	l := &b.levels[at]
	return Level{Price: rank(side, l.rank), Size: l.size.size(), Orders: int(l.orders)}
}

// Resting is an order that rests.
type Resting struct {
	Side      feed.Side
	Price     feed.Price
	Qty       feed.Size // CumQty + LeavesQty
	CumQty    feed.Size
	LeavesQty feed.Size
}

// Get gives the order of a handle; false if it does not rest (any more).
func (b *Book) Get(h Handle) (Resting, bool) {
	slot := b.lookup(h)
	if slot == 0 {
		return Resting{}, false
	}
	n := &b.nodes[slot]
	return Resting{Side: n.side, Price: b.price(slot), Qty: n.qty, CumQty: n.cum(), LeavesQty: n.leaves}, true
}

// Orders is how many orders rest, the market maker's not counted.
func (b *Book) Orders() int { return b.orders }

// Levels is how many prices of a side have something resting at them.
func (b *Book) Levels(side feed.Side) int { return b.ladder(side).len }
