package replay

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// quote is the best of both sides; a missing side is 0 px and 0 size.
type quote struct {
	bidPx feed.Price
	bidSz feed.Size
	askPx feed.Price
	askSz feed.Size
}

// crossed returns an error where no venue would trade on.
func (q quote) crossed() error {
	if q.bidSz != 0 && q.askSz != 0 && q.bidPx >= q.askPx {
		return fmt.Errorf("crossed: bid %s is not below ask %s", q.bidPx, q.askPx)
	}
	return nil
}

// change sets the size of one level; size 0 removes it.
type change struct {
	bid bool
	px  feed.Price
	sz  feed.Size
	far bool // the price is larger than feed.Price can be; px is 0
}

// book holds the levels of one symbol as its venue publishes them. The zero
// value is empty and not known.
//
// Venues take asks at prices such as 9999999997 that feed.Price cannot hold.
// They are left out, which makes no difference while there is a better ask.
type book struct {
	known      bool // has had a snapshot
	far        bool // asks have been left out
	bids, asks half
}

// half is one side of a book. Levels are sorted by rank with the best last:
// most changes come near the best, where few levels have to move.
type half []level

// level has the price as its rank: negated on the asks, so that more is better
// on both sides.
type level struct {
	rank int64
	sz   feed.Size
}

func rank(bid bool, px feed.Price) int64 {
	if bid {
		return int64(px)
	}
	return -int64(px)
}

func (b *book) best() (q quote) {
	if n := len(b.bids); n > 0 {
		q.bidPx, q.bidSz = feed.Price(b.bids[n-1].rank), b.bids[n-1].sz
	}
	if n := len(b.asks); n > 0 {
		q.askPx, q.askSz = feed.Price(-b.asks[n-1].rank), b.asks[n-1].sz
	}
	return q
}

// check returns an error if the best is not as it should be, or not known.
func (b *book) check() error {
	if b.far && len(b.asks) == 0 {
		return fmt.Errorf("the best ask may be beyond %s: %w", feed.Price(math.MaxInt64), feed.ErrRange)
	}
	return b.best().crossed()
}

// snapshot returns a book of the levels given. A level twice and a crossed book
// are errors; a level of size 0 is none.
func snapshot(levels []change) (book, error) {
	b := book{known: true}
	for _, c := range levels {
		switch {
		case c.sz == 0:
		case c.far:
			b.far = true
		default:
			h := b.half(c.bid)
			*h = append(*h, level{rank: rank(c.bid, c.px), sz: c.sz})
		}
	}
	for _, h := range []half{b.bids, b.asks} {
		slices.SortFunc(h, func(x, y level) int { return cmp.Compare(x.rank, y.rank) })
		for i := 1; i < len(h); i++ {
			if h[i].rank == h[i-1].rank {
				return book{}, fmt.Errorf("the snapshot has the level %s twice", feed.Price(max(h[i].rank, -h[i].rank)))
			}
		}
	}
	return b, b.check()
}

// apply makes the changes in order. If they leave the book crossed it takes them
// all back and returns an error. It uses the sizes in changes up.
func (b *book) apply(changes []change) error {
	far := b.far
	for i := range changes {
		b.swap(&changes[i])
	}
	err := b.check()
	if err != nil {
		for i := range slices.Backward(changes) {
			b.swap(&changes[i])
		}
		b.far = far
	}
	return err
}

// swap makes one change and leaves its reverse in c.
func (b *book) swap(c *change) {
	if c.far {
		b.far = b.far || c.sz != 0
		return
	}
	h := b.half(c.bid)
	r := rank(c.bid, c.px)
	i, found := slices.BinarySearchFunc(*h, r, func(l level, r int64) int { return cmp.Compare(l.rank, r) })
	switch {
	case found && c.sz == 0:
		c.sz = (*h)[i].sz
		*h = slices.Delete(*h, i, i+1)
	case found:
		c.sz, (*h)[i].sz = (*h)[i].sz, c.sz
	case c.sz != 0:
		*h = slices.Insert(*h, i, level{rank: r, sz: c.sz})
		c.sz = 0
	}
}

// trim drops what lies deeper than depth levels: the venue no longer says what
// becomes of it.
func (b *book) trim(depth int) {
	for _, h := range []*half{&b.bids, &b.asks} {
		if over := len(*h) - depth; over > 0 {
			*h = slices.Delete(*h, 0, over)
		}
	}
}

func (b *book) half(bid bool) *half {
	if bid {
		return &b.bids
	}
	return &b.asks
}
