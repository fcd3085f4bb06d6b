package book

import "github.com/tickgauge/tickgauge/feed"

// Handle names an order that rests in one Book, from the Add that let it rest until
// it is filled or canceled; a replace keeps it. It is a slot and, above it, the
// serial number of the order, so that a handle whose slot has gone to another order
// is refused. Serial numbers come round after 2^32 orders that rested. 0 names none.
type Handle uint64

// Slot is the place of the order in the book, from 3 up and below 3 plus the most
// orders that ever rested at once. No two orders have it at the same time, so that it
// suits a slice of what the caller knows of the orders.
func (h Handle) Slot() int { return int(uint32(h)) }

// The market maker's two orders have slots of their own, and no handle.
const (
	makerBid int32 = 1
	makerAsk int32 = 2
)

// keep is how many nodes a book without orders keeps.
const keep = 4096

// node is an order that rests, or one of the market maker's, or idle.
type node struct {
	handle     Handle
	qty        feed.Size
	leaves     feed.Size
	level      int32 // 0: does not rest
	prev, next int32 // in the level; of an idle node next is the next idle one
	side       feed.Side
}

func (n *node) cum() feed.Size { return n.qty - n.leaves }

// level is all that rests at one price of one side, the oldest first.
type level struct {
	rank       feed.Price
	size       sum128
	head, tail int32 // of an idle level head is the next idle one
	orders     int32
}

// lookup gives the slot of a handle, 0 if it names no order that rests.
func (b *Book) lookup(h Handle) int32 {
	slot := uint32(h)
	if h == MarketMaker || uint64(slot) >= uint64(len(b.nodes)) || b.nodes[slot].handle != h {
		return 0
	}
	return int32(slot)
}

func (b *Book) ladder(side feed.Side) *ladder {
	if side == feed.SideBuy {
		return &b.bids
	}
	return &b.asks
}

// price is that of an order that rests.
func (b *Book) price(slot int32) feed.Price {
	n := &b.nodes[slot]
	return rank(n.side, b.levels[n.level].rank)
}

// rest puts a node at the back of its price. What it crosses is gone by now.
func (b *Book) rest(slot int32, side feed.Side, price feed.Price, qty, leaves feed.Size) {
	key, ladder := rank(side, price), b.ladder(side)
	at, place, ok := ladder.find(key)
	if !ok {
		at = b.takeLevel(key)
		ladder.insert(place, key, at)
	}
	l, n := &b.levels[at], &b.nodes[slot]
	n.side, n.qty, n.leaves = side, qty, leaves
	n.level, n.prev, n.next = at, l.tail, 0
	if l.tail == 0 {
		l.head = slot
	} else {
		b.nodes[l.tail].next = slot
	}
	l.tail = slot
	l.orders++
	l.size.add(uint64(leaves))
}

// unlink takes a node out of its level, and the level away with the last one.
func (b *Book) unlink(slot int32) {
	n := &b.nodes[slot]
	at := n.level
	l := &b.levels[at]
	if n.prev == 0 {
		l.head = n.next
	} else {
		b.nodes[n.prev].next = n.next
	}
	if n.next == 0 {
		l.tail = n.prev
	} else {
		b.nodes[n.next].prev = n.prev
	}
	l.orders--
	l.size.sub(uint64(n.leaves))
	n.level = 0
	if l.orders == 0 {
		b.ladder(n.side).remove(l.rank)
		l.head, b.idleLevel = b.idleLevel, at
	}
}

// resize changes quantities and keeps the place.
func (b *Book) resize(slot int32, qty, leaves feed.Size) {
	n := &b.nodes[slot]
	size := &b.levels[n.level].size
	size.sub(uint64(n.leaves))
	size.add(uint64(leaves))
	n.qty, n.leaves = qty, leaves
}

func (b *Book) takeLevel(key feed.Price) int32 {
	at := b.idleLevel
	if at == 0 {
		at = int32(len(b.levels))
		b.levels = append(b.levels, level{})
	} else {
		b.idleLevel = b.levels[at].head
	}
	b.levels[at] = level{rank: key}
	return at
}

// takeNode gives the slot of an order that is about to rest, with a new handle.
func (b *Book) takeNode() int32 {
	slot := b.idleNode
	if slot == 0 {
		slot = int32(len(b.nodes))
		b.nodes = append(b.nodes, node{})
	} else {
		b.idleNode = b.nodes[slot].next
	}
	b.serial++
	b.nodes[slot].handle = Handle(b.serial)<<32 | Handle(slot)
	b.orders++
	return slot
}

// dropNode ends an order that was unlinked.
func (b *Book) dropNode(slot int32) {
	b.nodes[slot] = node{next: b.idleNode}
	b.idleNode = slot
	b.orders--
}

// settle ends an operation that took orders away: a large book that is empty of
// them starts anew with what the market maker has in it.
func (b *Book) settle() {
	if b.orders > 0 || len(b.nodes) <= keep {
		return
	}
	small := New()
	small.serial = b.serial
	for _, slot := range []int32{makerBid, makerAsk} {
		if n := &b.nodes[slot]; n.level != 0 {
			small.rest(slot, n.side, b.price(slot), n.qty, n.leaves)
		}
	}
	*b = *small
}
