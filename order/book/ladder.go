package book

import (
	"slices"

	"github.com/tickgauge/tickgauge/feed"
)

// runLen is how many levels a run holds.
const runLen = 64

// ladder has the levels of one side in the order of their ranks, the best last.
//
// They are in runs of at most runLen, sorted, and the runs in a sorted slice, so
// that a level that comes or goes moves some dozens of its neighbors and not all.
// One plain sorted slice is faster where all happens at the best prices (34 ns
// against 47 to look for a level and let it come or go), but moves ever more where it
// does not: with 1,000 levels of random prices it takes 1.4 times as long, with 5,000
// three times, with 20,000 twelve times. A skip list was slower than runs at every
// size, and a map from price to level only added to the work, since nearly all that
// is looked for is in the last run.
type ladder struct {
	runs []*run // none of them empty
	idle []*run // emptied, for use again
	len  int    // levels
}

// run has levels of neighboring ranks; ranks and levels go in step.
type run struct {
	ranks  []feed.Price // ascending
	levels []int32
}

// place is where a rank is in a ladder or would be inserted.
type place struct{ run, i int }

// rank makes one order of both sides: the higher the better. It is its own inverse.
func rank(side feed.Side, price feed.Price) feed.Price {
	if side == feed.SideBuy {
		return price
	}
	return -price
}

// best gives the best level, 0 if there is none.
func (l *ladder) best() int32 {
	if len(l.runs) == 0 {
		return 0
	}
	levels := l.runs[len(l.runs)-1].levels
	return levels[len(levels)-1]
}

// fromBest yields the levels, the best first.
func (l *ladder) fromBest(yield func(level int32) bool) {
	for _, r := range slices.Backward(l.runs) {
		for _, level := range slices.Backward(r.levels) {
			if !yield(level) {
				return
			}
		}
	}
}

// find gives the level of a rank and its place, or the place where it belongs.
func (l *ladder) find(rank feed.Price) (level int32, p place, ok bool) {
	if len(l.runs) == 0 {
		return 0, place{}, false
	}
	// The run is the last that starts at or below the rank, or the first.
	low, high := 0, len(l.runs)
	if l.runs[high-1].ranks[0] <= rank {
		low = high - 1
	}
	for low+1 < high {
		if mid := (low + high) / 2; l.runs[mid].ranks[0] <= rank {
			low = mid
		} else {
			high = mid
		}
	}
	r := l.runs[low]
	i, ok := slices.BinarySearch(r.ranks, rank)
	if ok {
		level = r.levels[i]
	}
	return level, place{low, i}, ok
}

// insert puts a level in the place that find gave for its rank.
func (l *ladder) insert(p place, rank feed.Price, level int32) {
	l.len++
	if len(l.runs) == 0 {
		l.runs = append(l.runs, l.takeRun())
	}
	r := l.runs[p.run]
	if len(r.ranks) == runLen {
		half := runLen / 2
		upper := l.takeRun()
		upper.ranks = append(upper.ranks, r.ranks[half:]...)
		upper.levels = append(upper.levels, r.levels[half:]...)
		r.ranks, r.levels = r.ranks[:half], r.levels[:half]
		l.runs = slices.Insert(l.runs, p.run+1, upper)
		if p.i > half {
			r, p.i = upper, p.i-half
		}
	}
	r.ranks = slices.Insert(r.ranks, p.i, rank)
	r.levels = slices.Insert(r.levels, p.i, level)
}

// remove takes away the level of a rank, which is there.
func (l *ladder) remove(rank feed.Price) {
	_, p, _ := l.find(rank)
	l.len--
	r := l.runs[p.run]
	r.ranks = slices.Delete(r.ranks, p.i, p.i+1)
	r.levels = slices.Delete(r.levels, p.i, p.i+1)
	if len(r.ranks) == 0 {
		l.runs = slices.Delete(l.runs, p.run, p.run+1)
		l.idle = append(l.idle, r)
	}
}

func (l *ladder) takeRun() *run {
	if n := len(l.idle) - 1; n >= 0 {
		r := l.idle[n]
		l.idle = l.idle[:n]
		return r
	}
	return &run{ranks: make([]feed.Price, 0, runLen), levels: make([]int32, 0, runLen)}
}
