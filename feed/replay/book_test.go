package replay

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// plain is a book by the letter: a map a side, searched whole for its best.
type plain struct{ bids, asks map[feed.Price]feed.Size }

func (p plain) best() (q quote) {
	for px, sz := range p.bids {
		if px > q.bidPx {
			q.bidPx, q.bidSz = px, sz
		}
	}
	for px, sz := range p.asks {
		if q.askPx == 0 || px < q.askPx {
			q.askPx, q.askSz = px, sz
		}
	}
	return q
}

func (p plain) apply(changes []change) (plain, error) {
	next := plain{maps.Clone(p.bids), maps.Clone(p.asks)}
	for _, c := range changes {
		side := next.asks
		if c.bid {
			side = next.bids
		}
		side[c.px] = c.sz
		if c.sz == 0 {
			delete(side, c.px)
		}
	}
	if err := next.best().crossed(); err != nil {
		return p, err
	}
	return next, nil
}

func (p plain) same(b *book) bool {
	for i, side := range []map[feed.Price]feed.Size{p.asks, p.bids} {
		h := b.half(i == 1)
		if len(*h) != len(side) || !slices.IsSortedFunc(*h, func(x, y level) int { return int(x.rank - y.rank) }) {
			return false
		}
		for px, sz := range side {
			if !slices.Contains(*h, level{rank: rank(i == 1, px), sz: sz}) {
				return false
			}
		}
	}
	return true
}

func TestBookAgainstMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b := book{known: true}
	model := plain{map[feed.Price]feed.Size{}, map[feed.Price]feed.Size{}}
	refused := 0
	for range 20_000 {
		changes := make([]change, 1+rng.IntN(4))
		for i := range changes {
			changes[i] = change{bid: rng.IntN(2) == 0, sz: feed.Size(rng.IntN(3))}
			changes[i].px = feed.Price(15 + rng.IntN(20))
			if changes[i].bid {
				changes[i].px -= 14 // 1..20, the asks being 15..34
			}
		}
		var err error
		model, err = model.apply(changes)
		got := b.apply(slices.Clone(changes))
		if (err == nil) != (got == nil) {
			t.Fatalf("%v: %v, want %v", changes, got, err)
		}
		if err != nil {
			refused++
		}
		if b.best() != model.best() || !model.same(&b) {
			t.Fatalf("after %v: %+v, want %+v", changes, b, model)
		}
	}
	if refused < 100 || refused > 19_000 {
		t.Errorf("%d changes refused: the test tests little", refused)
	}
}

func TestTrim(t *testing.T) {
	b, err := snapshot([]change{{bid: true, px: 1, sz: 1}, {bid: true, px: 3, sz: 3}, {bid: true, px: 2, sz: 2}, {px: 5, sz: 5}, {px: 4, sz: 4}})
	if err != nil {
		t.Fatal(err)
	}
	b.trim(2)
	if want := (half{{2, 2}, {3, 3}}); !slices.Equal(b.bids, want) {
		t.Errorf("bids %v, want %v", b.bids, want)
	}
	if want := (half{{-5, 5}, {-4, 4}}); !slices.Equal(b.asks, want) {
		t.Errorf("asks %v, want %v", b.asks, want)
	}
	b.trim(1)
	if want := (quote{3, 3, 4, 4}); b.best() != want {
		t.Errorf("best %v, want %v", b.best(), want)
	}
}
