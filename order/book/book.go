// Package book matches the orders of one symbol by price and time. It knows
// orders by handle alone: accounts, ids, reports and clocks are the desk's.
//
// The rules:
//
//   - The best price trades first, and at one price the order that came first.
//   - A trade is at the resting order's price.
//   - An order that trades in part keeps its place.
//   - A limit order of Day rests with what it could not trade; of IOC, what could
//     not trade is canceled; of FOK it trades whole or not at all, which is decided
//     before anything trades.
//   - A market order takes any price and never rests, whatever its time in force.
//   - The feed's quote stands in the book as the market maker's two orders, see
//     [Book.SetQuote].
//
// Orders of one account may trade with each other: the book does not know whose
// they are, and a desk that minds has to look before it sends the order here.
package book

import (
	"errors"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// The refusals that a caller tells apart. They leave the book as it was.
var (
	// ErrNotResting is for a handle that is stale, or never was one.
	ErrNotResting = errors.New("book: no such order rests")
	// ErrBelowCum is for a replace with OrderQty (38) below CumQty (14).
	ErrBelowCum = errors.New("book: quantity is below what is filled")
	// ErrCrossedQuote is for a quote whose bid is not below its ask.
	ErrCrossedQuote = errors.New("book: bid of the quote is not below its ask")
)

// What a desk has checked before.
var (
	errSide        = errors.New("book: side is neither buy nor sell")
	errType        = errors.New("book: type is neither limit nor market")
	errTimeInForce = errors.New("book: time in force is neither day, ioc nor fok")
	errQty         = errors.New("book: quantity is not positive")
	errPrice       = errors.New("book: limit price is not positive")
)

// Book has the resting orders of one symbol. It is used by one goroutine at a
// time: the caller locks, queries included.
//
// Nothing is allocated for an order where one like it rested before: what goes
// leaves its place to what comes. So the memory is that of the most orders, and
// the most price levels, that ever rested at once, under 100 bytes an order on
// levels of several, about 1 KB at worst; a book that had more than 4,096 gives it
// back when the last order of a customer goes.
type Book struct {
	bids, asks ladder
	levels     []level
	nodes      []node
	idleLevel  int32  // first of the levels that are not used
	idleNode   int32  // first of the nodes that are not used
	orders     int    // that rest, the market maker's not counted
	serial     uint32 // of the newest handle
}

// New gives an empty book.
func New() *Book {
	return &Book{
		levels: make([]level, 1, 16),                  // 0 stands for none
		nodes:  make([]node, makerAsk+1, makerAsk+16), // 0 stands for none
	}
}

// Order is what Add takes: FIX Side (54), OrdType (40), TimeInForce (59), OrderQty
// (38) and Price (44). A TimeInForce of none counts as Day.
type Order struct {
	Side        feed.Side
	Type        order.Type
	TimeInForce order.TimeInForce
	Qty         feed.Size  // positive; the book has no upper limit of its own
	Price       feed.Price // positive; not looked at on a market order
}

func (o *Order) check() error {
	switch {
	case o.Side != feed.SideBuy && o.Side != feed.SideSell:
		return errSide
	case o.Type != order.Limit && o.Type != order.Market:
		return errType
	case o.TimeInForce > order.FOK:
		return errTimeInForce
	case o.Qty <= 0:
		return errQty
	case o.Type == order.Limit && o.Price <= 0:
		return errPrice
	}
	return nil
}

// Result is the state of an order after a call. While it rests, CumQty + LeavesQty
// is its quantity; once Status is terminal, LeavesQty is 0.
type Result struct {
	Handle    Handle       // of the order if it rests, else 0
	Status    order.Status // New, PartiallyFilled, Filled or Canceled
	CumQty    feed.Size    // traded in all its life: FIX CumQty (14)
	LeavesQty feed.Size    // open: FIX LeavesQty (151)
}

// Add matches an order as it comes in and lets the rest of a Day limit order rest.
// Its trades are appended to fills, in the order in which they happened. The error
// is for an order that is none; no desk that validates sees it.
func (b *Book) Add(o Order, fills []Fill) (Result, []Fill, error) {
	if err := o.check(); err != nil {
		return Result{}, fills, err
	}
	bound := anyPrice
	if o.Type == order.Limit {
		bound = rank(opposite(o.Side), o.Price)
	}
	if o.TimeInForce == order.FOK && !b.covers(o.Side, bound, o.Qty) {
		return Result{Status: order.Canceled}, fills, nil
	}
	leaves, fills := b.cross(o.Side, bound, o.Qty, fills)
	if leaves > 0 && o.Type == order.Limit && o.TimeInForce != order.IOC {
		slot := b.takeNode()
		b.rest(slot, o.Side, o.Price, o.Qty, leaves)
		return b.result(slot), fills, nil
	}
	b.settle()
	r := Result{Status: order.Filled, CumQty: o.Qty - leaves}
	if leaves > 0 {
		r.Status = order.Canceled
	}
	return r, fills, nil
}

// Cancel takes a resting order out of the book: the Status is Canceled and CumQty
// what it had traded. The error is ErrNotResting.
func (b *Book) Cancel(h Handle) (Result, error) {
	slot := b.lookup(h)
	if slot == 0 {
		return Result{}, ErrNotResting
	}
	cum := b.nodes[slot].cum()
	b.unlink(slot)
	b.dropNode(slot)
	b.settle()
	return Result{Status: order.Canceled, CumQty: cum}, nil
}

// Replace gives a resting order another quantity (all of it, what is filled
// included) and another price; it keeps its handle. A quantity that falls keeps
// the order's place, and so does a replace that changes nothing. A new price or a
// higher quantity moves it behind all that rests at the price, and it may trade at
// once, as an order that just came in; those trades are appended to fills.
//
// A quantity below CumQty is refused with ErrBelowCum. A quantity of exactly
// CumQty ends the order, whatever the price: it is Filled, which in FIX goes before
// Canceled and Replaced (FIX 4.2 Appendix D, case D11; FIX 4.3, case 13). The other
// errors are ErrNotResting, and those for a quantity or price that is not positive.
func (b *Book) Replace(h Handle, qty feed.Size, price feed.Price, fills []Fill) (Result, []Fill, error) {
	slot := b.lookup(h)
	switch {
	case slot == 0:
		return Result{}, fills, ErrNotResting
	case qty <= 0:
		return Result{}, fills, errQty
	case price <= 0:
		return Result{}, fills, errPrice
	}
	n := &b.nodes[slot]
	side, cum := n.side, n.cum()
	if qty < cum {
		return Result{}, fills, ErrBelowCum
	}
	leaves := qty - cum
	if leaves > 0 && qty <= n.qty && b.price(slot) == price {
		b.resize(slot, qty, leaves)
		return b.result(slot), fills, nil
	}
	b.unlink(slot)
	leaves, fills = b.cross(side, rank(opposite(side), price), leaves, fills)
	if leaves == 0 {
		b.dropNode(slot)
		b.settle()
		return Result{Status: order.Filled, CumQty: qty}, fills, nil
	}
	b.rest(slot, side, price, qty, leaves)
	return b.result(slot), fills, nil
}

// result is the state of an order that rests.
func (b *Book) result(slot int32) Result {
	n := &b.nodes[slot]
	r := Result{Handle: n.handle, Status: order.New, CumQty: n.cum(), LeavesQty: n.leaves}
	if r.CumQty > 0 {
		r.Status = order.PartiallyFilled
	}
	return r
}

func opposite(side feed.Side) feed.Side {
	if side == feed.SideBuy {
		return feed.SideSell
	}
	return feed.SideBuy
}
