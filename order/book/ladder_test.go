package book

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// TestLadder lets thousands of levels come and go, in waves so that runs split,
// empty and are used again, and compares with a map.
func TestLadder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var l ladder
	ref := map[feed.Price]int32{}
	for i := range 60_000 {
		rank := feed.Price(r.IntN(6000) - 3000)
		level, p, ok := l.find(rank)
		if want := ref[rank]; level != want || ok != (want != 0) {
			t.Fatalf("step %d: rank %d has level %d, %t, want %d", i, rank, level, ok, want)
		}
		grow := i/15_000%2 == 0
		switch {
		case ok && (!grow || r.IntN(4) == 0):
			l.remove(rank)
			delete(ref, rank)
		case !ok && (grow || r.IntN(4) == 0):
			l.insert(p, rank, int32(i+1))
			ref[rank] = int32(i + 1)
		}
		if i%500 == 0 {
			compareLadder(t, &l, ref)
		}
	}
	compareLadder(t, &l, ref)
	for _, rank := range slices.Sorted(maps.Keys(ref)) {
		l.remove(rank)
	}
	compareLadder(t, &l, nil)
	if len(l.runs) != 0 || len(l.idle) == 0 {
		t.Errorf("an empty ladder has %d runs and %d idle", len(l.runs), len(l.idle))
	}
}

func compareLadder(t *testing.T, l *ladder, ref map[feed.Price]int32) {
	t.Helper()
	if err := checkLadder(l); err != nil {
		t.Fatal(err)
	}
	var want []int32
	for _, rank := range slices.Backward(slices.Sorted(maps.Keys(ref))) {
		want = append(want, ref[rank])
	}
	if got := slices.Collect(l.fromBest); !slices.Equal(got, want) {
		t.Fatalf("ladder has %d levels, want %d", len(got), len(want))
	}
	best := int32(0)
	if len(want) > 0 {
		best = want[0]
	}
	if l.best() != best {
		t.Fatalf("best is %d, want %d", l.best(), best)
	}
}
