package book

import (
	"fmt"
	"math/big"

	"github.com/tickgauge/tickgauge/feed"
)

// checkBook looks through all of a book for what must always hold.
func checkBook(b *Book) error {
	used, levels, orders := 0, 0, 0
	for _, side := range []feed.Side{feed.SideBuy, feed.SideSell} {
		if err := checkLadder(b.ladder(side)); err != nil {
			return err
		}
		for at := range b.ladder(side).fromBest {
			levels++
			l := &b.levels[at]
			if price := rank(side, l.rank); price <= 0 {
				return fmt.Errorf("level at price %d", price)
			}
			sum, count, before := new(big.Int), int32(0), int32(0)
			for slot := l.head; slot != 0; slot = b.nodes[slot].next {
				n := &b.nodes[slot]
				switch {
				case n.side != side || n.level != at || n.prev != before:
					return fmt.Errorf("slot %d is not where its level has it: %+v", slot, *n)
				case n.leaves <= 0 || n.leaves > n.qty || n.cum()+n.leaves != n.qty:
					return fmt.Errorf("slot %d rests with %d of %d", slot, n.leaves, n.qty)
				case (slot <= makerAsk) != (n.handle == MarketMaker):
					return fmt.Errorf("slot %d has handle %x", slot, n.handle)
				case slot > makerAsk && b.lookup(n.handle) != slot:
					return fmt.Errorf("handle %x does not name slot %d", n.handle, slot)
				}
				if slot > makerAsk {
					orders++
				}
				sum.Add(sum, big.NewInt(int64(n.leaves)))
				count, before = count+1, slot
				used++
			}
			if l.tail != before || l.orders != count || count == 0 {
				return fmt.Errorf("level %d: tail %d, %d orders, walked %d to %d", at, l.tail, l.orders, count, before)
			}
			if sum.Cmp(l.size.big()) != 0 {
				return fmt.Errorf("level %d: size %v, its orders have %v", at, l.size.big(), sum)
			}
		}
	}
	bid, hasBid := b.Best(feed.SideBuy)
	ask, hasAsk := b.Best(feed.SideSell)
	if hasBid && hasAsk && bid.Price >= ask.Price {
		return fmt.Errorf("crossed: %d and %d", bid.Price, ask.Price)
	}
	if orders != b.Orders() || levels != b.Levels(feed.SideBuy)+b.Levels(feed.SideSell) {
		return fmt.Errorf("%d orders, %d levels, the book says %d, %d+%d",
			orders, levels, b.Orders(), b.Levels(feed.SideBuy), b.Levels(feed.SideSell))
	}
	return checkIdle(b, used, levels)
}

// checkIdle checks that what is not in use waits for use, so that nothing is lost.
func checkIdle(b *Book, used, levels int) error {
	idle := 0
	for slot := b.idleNode; slot != 0; slot = b.nodes[slot].next {
		if n := &b.nodes[slot]; n.handle != 0 || n.level != 0 {
			return fmt.Errorf("idle slot %d: %+v", slot, *n)
		}
		idle++
	}
	for _, slot := range []int32{makerBid, makerAsk} {
		if b.nodes[slot].level == 0 {
			idle++
		}
	}
	if 1+used+idle != len(b.nodes) {
		return fmt.Errorf("%d slots, %d used, %d idle", len(b.nodes), used, idle)
	}
	idle = 0
	for at := b.idleLevel; at != 0; at = b.levels[at].head {
		idle++
	}
	if 1+levels+idle != len(b.levels) {
		return fmt.Errorf("%d levels, %d used, %d idle", len(b.levels), levels, idle)
	}
	return nil
}

func checkLadder(l *ladder) error {
	n := 0
	var last feed.Price
	for i, r := range l.runs {
		if len(r.ranks) == 0 || len(r.ranks) != len(r.levels) || len(r.ranks) > runLen || cap(r.ranks) != runLen {
			return fmt.Errorf("run %d: %d ranks of %d, %d levels", i, len(r.ranks), cap(r.ranks), len(r.levels))
		}
		for _, rank := range r.ranks {
			if n > 0 && rank <= last {
				return fmt.Errorf("run %d: rank %d after %d", i, rank, last)
			}
			last, n = rank, n+1
		}
	}
	for _, r := range l.idle {
		if len(r.ranks) != 0 || len(r.levels) != 0 {
			return fmt.Errorf("an idle run has %d levels", len(r.levels))
		}
	}
	if n != l.len {
		return fmt.Errorf("%d levels, the ladder says %d", n, l.len)
	}
	return nil
}

func (s *sum128) big() *big.Int {
	v := new(big.Int).SetUint64(s.high)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(s.low))
}
