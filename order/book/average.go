package book

import (
	"math"
	"math/bits"

	"github.com/tickgauge/tickgauge/feed"
)

// Average is the mean price of an order's trades, weighted by their quantities: FIX
// AvgPx (6). The sum is kept exact in 128 bits and rounded only when asked. The zero
// value has no trades and is ready; a copy goes on by itself.
type Average struct {
	value sum128 // price times quantity
	qty   uint64
}

// Add takes in one trade. Price and quantity are positive (else nothing is added), and
// all quantities together fit a Size, as those of one order do.
func (a *Average) Add(px feed.Price, qty feed.Size) {
	if px <= 0 || qty <= 0 {
		return
	}
	high, low := bits.Mul64(uint64(px), uint64(qty))
	a.value.addWide(high, low)
	a.qty += uint64(qty)
}

// Price is the average, rounded to 1e-9, a half to the even neighbor; 0 before the
// first trade.
func (a *Average) Price() feed.Price {
	if a.qty == 0 {
		return 0
	}
	// No average is above the highest price, so the quotient fits.
	px, rest := bits.Div64(a.value.high, a.value.low, a.qty)
	half := a.qty - rest // against rest, without doubling it
	if rest > half || (rest == half && px%2 == 1) {
		px++
	}
	return feed.Price(px)
}

// sum128 is an unsigned sum of 128 bits: no number of orders, and no price times a
// quantity, makes it overflow.
type sum128 struct{ high, low uint64 }

func (s *sum128) add(v uint64) { s.addWide(0, v) }

func (s *sum128) addWide(high, low uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high, _ = bits.Add64(s.high, high, carry)
}

// sub takes off what was added before.
func (s *sum128) sub(v uint64) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, v, 0)
	s.high -= borrow
}

func (s *sum128) atLeast(v feed.Size) bool { return s.high > 0 || s.low >= uint64(v) }

// size is the sum, or the largest Size if that is less.
func (s *sum128) size() feed.Size {
	if s.atLeast(math.MaxInt64) {
		return math.MaxInt64
	}
	return feed.Size(s.low)
}
