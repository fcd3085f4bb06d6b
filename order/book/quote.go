package book

import "github.com/tickgauge/tickgauge/feed"

// MarketMaker is the Resting of a Fill whose resting order was the feed's quote.
// As a handle it is refused, so that nobody cancels or replaces the quote.
const MarketMaker Handle = 0

// SetQuote puts the feed's best bid and ask in the place of the market maker's two
// orders, each with its whole size again. Where the price is the same and something
// of the order still stands, it keeps its place, with more as with less; otherwise
// it goes behind all that rests at the new price. A side whose price or size is not
// positive is missing: that order is taken away.
//
// A quote that crosses resting orders trades with them at their price, as an
// incoming order does, and what is left of it rests; the trades are appended to
// fills. The market maker never trades with itself: both old orders go before either
// new one comes.
//
// A quote whose bid is not below its ask is refused with ErrCrossedQuote and leaves
// the one before; whoever wants no quote then takes it away with zeros.
func (b *Book) SetQuote(bidPx feed.Price, bidSz feed.Size, askPx feed.Price, askSz feed.Size, fills []Fill) ([]Fill, error) {
	hasBid, hasAsk := bidPx > 0 && bidSz > 0, askPx > 0 && askSz > 0
	if hasBid && hasAsk && bidPx >= askPx {
		return fills, ErrCrossedQuote
	}
	newBid := !b.refresh(makerBid, hasBid, bidPx, bidSz) && hasBid
	newAsk := !b.refresh(makerAsk, hasAsk, askPx, askSz) && hasAsk
	if newBid {
		fills = b.enter(makerBid, feed.SideBuy, bidPx, bidSz, fills)
	}
	if newAsk {
		fills = b.enter(makerAsk, feed.SideSell, askPx, askSz, fills)
	}
	b.settle()
	return fills, nil
}

// refresh restores the size of the market maker's order if it stands at that price
// and is wanted there; else it takes the order away and reports false.
func (b *Book) refresh(slot int32, wanted bool, price feed.Price, size feed.Size) bool {
	if b.nodes[slot].level == 0 {
		return false
	}
	if wanted && b.price(slot) == price {
		b.resize(slot, size, size)
		return true
	}
	b.unlink(slot)
	return false
}

// enter brings in one side of a quote. It cannot meet the other side of the same
// quote, which is at a worse price than all that it crosses.
func (b *Book) enter(slot int32, side feed.Side, price feed.Price, size feed.Size, fills []Fill) []Fill {
	leaves, fills := b.cross(side, rank(opposite(side), price), size, fills)
	if leaves > 0 {
		b.rest(slot, side, price, size, leaves)
	}
	return fills
}
