package book

import (
	"math"

	"github.com/tickgauge/tickgauge/feed"
)

// Fill is one trade: the incoming order, or the market maker's new quote, met one
// resting order. A feed takes its last price, size and aggressor from it.
type Fill struct {
	Resting         Handle     // MarketMaker (0) where it is the quote that rested
	Aggressor       feed.Side  // the side of what came in
	Qty             feed.Size  // FIX LastQty (32) of both
	Price           feed.Price // FIX LastPx (31) of both: the resting order's
	RestingLeaves   feed.Size  // what is left of the resting order; at 0 its handle is stale
	AggressorLeaves feed.Size  // what is left of what came in
}

// anyPrice is the bound of a market order.
const anyPrice feed.Price = math.MinInt64

// cross trades up to leaves (0 is allowed) with the orders opposite to side whose
// rank is at least bound. It gives back what could not trade.
func (b *Book) cross(side feed.Side, bound feed.Price, leaves feed.Size, fills []Fill) (feed.Size, []Fill) {
	against := b.ladder(opposite(side))
	for leaves > 0 {
		at := against.best()
		if at == 0 || b.levels[at].rank < bound {
			break
		}
		slot := b.levels[at].head
		n := &b.nodes[slot]
		qty := min(leaves, n.leaves)
		leaves -= qty
		fills = append(fills, Fill{
			Resting:         n.handle,
			Aggressor:       side,
			Qty:             qty,
			Price:           b.price(slot),
			RestingLeaves:   n.leaves - qty,
			AggressorLeaves: leaves,
		})
		if qty < n.leaves {
			b.resize(slot, n.qty, n.leaves-qty)
			break
		}
		b.unlink(slot)
		if slot > makerAsk {
			b.dropNode(slot)
		}
	}
	return leaves, fills
}

// covers reports whether cross could trade all of qty.
func (b *Book) covers(side feed.Side, bound feed.Price, qty feed.Size) bool {
	for at := range b.ladder(opposite(side)).fromBest {
		l := &b.levels[at]
		if l.rank < bound {
			return false
		}
		if l.size.atLeast(qty) {
			return true
		}
		qty -= l.size.size()
	}
	return false
}
