package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// delivered is one delivery of a script, in the order of the recorder.
type delivered struct {
	stream     int
	symbol     string
	seq        uint64
	receivedNS int64
}

// fairnessOf works fairness out the slow way: all deliveries of a tick are kept.
func fairnessOf(script []delivered, streams int, subscribers map[string]int) (spreads []int64, means []float64) {
	type tick struct {
		symbol string
		seq    uint64
	}
	byTick := make(map[tick][]int64)
	sum, n := make([]float64, streams), make([]float64, streams)
	for _, d := range script {
		k := tick{d.symbol, d.seq}
		if subscribers[d.symbol] < 2 {
			continue
		}
		sum[d.stream] += float64(len(byTick[k])) / float64(subscribers[d.symbol]-1)
		n[d.stream]++
		byTick[k] = append(byTick[k], d.receivedNS)
	}
	for _, at := range byTick {
		if len(at) > 1 {
			spreads = append(spreads, slices.Max(at)-slices.Min(at))
		}
	}
	for i := range sum {
		if n[i] > 0 {
			means = append(means, sum[i]/n[i])
		}
	}
	slices.Sort(spreads)
	slices.Sort(means)
	return spreads, means
}

// playRace has every stream subscribe to its symbols and then delivers the script.
func playRace(r *Recorder, holds [][]string, script []delivered) {
	r.SetWindow(0, 1<<40)
	for i, symbols := range holds {
		r.Opening(i, symbols...)
		r.Message(i, 0, 0, subscribedTo(symbols...))
	}
	for _, d := range script {
		t := tickOf(d.symbol, d.seq)
		r.Message(d.stream, d.receivedNS, d.receivedNS, &feed.Message{Ticks: []feed.Tick{t}})
	}
}

// Streams hold several symbols each; every tick comes to its subscribers in an order
// of its own, and some of them never get it.
func TestFairnessAgainstTheReference(t *testing.T) {
	const streams, ticks = 24, 300
	rng := rand.New(rand.NewPCG(3, 4))
	symbols := []string{"A", "B", "C", "ALONE"}
	holds := make([][]string, streams)
	subscribers := make(map[string]int)
	for i := range holds {
		holds[i] = []string{symbols[i%3], symbols[(i+1)%3]}
		if i == 0 {
			holds[i] = append(holds[i], "ALONE")
		}
		for _, s := range holds[i] {
			subscribers[s]++
		}
	}
	var script []delivered
	for seq := uint64(1); seq <= ticks; seq++ {
		for _, symbol := range symbols {
			for _, stream := range rng.Perm(streams) {
				if slices.Contains(holds[stream], symbol) && rng.IntN(10) > 0 {
					script = append(script, delivered{stream, symbol, seq, 1000*int64(seq) + rng.Int64N(500)})
				}
			}
		}
	}
	r := NewRecorder(streams)
	playRace(r, holds, script)
	f := r.Finish(nil).Fairness
	spreads, means := fairnessOf(script, streams, subscribers)
	if f == nil || f.Spread == nil || f.Late != 0 {
		t.Fatalf("fairness %+v", f)
	}
	n := len(spreads)
	if f.Spread.Ticks != int64(n) || f.Spread.Max != spreads[n-1] || f.Spread.P50 != spreads[(n+1)/2-1] {
		t.Errorf("spread %+v; want %d ticks, median %d, at most %d", f.Spread, n, spreads[(n+1)/2-1], spreads[n-1])
	}
	want := MeanRanks{means[0], means[streams/2-1], means[streams-1], means[streams-1]}
	if got := f.MeanRank; math.Abs(got.Min-want.Min)+math.Abs(got.P50-want.P50)+math.Abs(got.P99-want.P99)+math.Abs(got.Max-want.Max) > 1e-9 {
		t.Errorf("mean ranks %+v, want %+v", got, want)
	}
}

// One of a hundred is always last, and shows.
func TestWhoIsAlwaysLastShows(t *testing.T) {
	const streams, last, ticks = 100, 17, 50
	rng := rand.New(rand.NewPCG(1, 2))
	holds := make([][]string, streams)
	for i := range holds {
		holds[i] = []string{"A"}
	}
	var script []delivered
	for seq := uint64(1); seq <= ticks; seq++ {
		at := 1000 * int64(seq)
		for _, i := range rng.Perm(streams) {
			if at++; i != last {
				script = append(script, delivered{i, "A", seq, at})
			}
		}
		script = append(script, delivered{last, "A", seq, 1000*int64(seq) + 700})
	}
	r := NewRecorder(streams)
	playRace(r, holds, script)
	f := r.Finish(nil).Fairness
	if f.WorstStream != last || f.MeanRank.Max != 1 || f.MeanRank.P50 < 0.3 || f.MeanRank.P50 > 0.7 {
		t.Errorf("fairness %+v, want stream %d with 1 and the others about 0.5", f, last)
	}
	if want := 1 / math.Sqrt(12*ticks); f.ChanceSD != want || f.MeanRank.Max < 0.5+3*f.ChanceSD {
		t.Errorf("by chance %v, want %v", f.ChanceSD, want)
	}
}

// What comes after the ring has moved on is the last of its tick.
func TestLateDeliveriesRankLast(t *testing.T) {
	holds := [][]string{{"A"}, {"A"}}
	var script []delivered
	for seq := uint64(1); seq <= mostTicks+1; seq++ {
		script = append(script, delivered{0, "A", seq, 1000*int64(seq) + 10})
	}
	script = append(script, delivered{1, "A", 1, 1 << 30}, delivered{1, "A", 2, 2030})
	r := NewRecorder(2)
	playRace(r, holds, script)
	f := r.Finish(nil).Fairness
	if f.Late != 1 || f.MeanRank.Max != 1 || f.WorstStream != 1 || f.MeanRank.Min != 0 {
		t.Errorf("fairness %+v, want one that was late, and stream 1 always last", f)
	}
	if f.Spread == nil || f.Spread.Ticks != 1 || f.Spread.Max != 20 {
		t.Errorf("spread %+v, want that of the second tick alone", f.Spread)
	}
}

func TestNobodyToCompareWith(t *testing.T) {
	r := NewRecorder(3)
	playRace(r, [][]string{{"A"}, {"B"}, {"C"}}, []delivered{{0, "A", 1, 1010}, {1, "B", 1, 1020}})
	if f := r.Finish(nil).Fairness; f != nil {
		t.Errorf("fairness %+v, want none", f)
	}
}

// A subscriber counts from the answer to its subscribe until it ends or
// unsubscribes, once.
func TestSubscribersOfARace(t *testing.T) {
	r := NewRecorder(4)
	c := r.races.of("A")
	for i := range 3 {
		r.Opening(i, "A")
	}
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"asked, not answered", func() {}, 0},
		{"answered", func() {
			for i := range 3 {
				r.Message(i, 0, 0, subscribedTo("A"))
			}
		}, 3},
		{"resumed", func() { r.Message(0, 0, 0, subscribedTo("A")) }, 3},
		{"unsubscribed", func() {
			for range 2 {
				r.Message(0, 0, 0, &feed.Message{Unsubscribed: &feed.Unsubscribed{Symbols: []feed.SymbolSeq{{Symbol: "A"}}}})
			}
		}, 2},
		{"ended, which had unsubscribed", func() { r.Ended(0, nil) }, 2},
		{"ended twice", func() { r.Ended(1, nil); r.Ended(1, nil) }, 1},
		{"answered after the end", func() { r.Message(1, 0, 0, subscribedTo("A")) }, 1},
		{"another symbol", func() { r.Opening(3, "B"); r.Message(3, 0, 0, subscribedTo("B")) }, 1},
	} {
		if step.do(); c.subscribers != step.want {
			t.Errorf("%s: %d subscribers, want %d", step.what, c.subscribers, step.want)
		}
	}
}

func TestRacesAreBounded(t *testing.T) {
	for _, c := range []struct{ symbols, want int }{{1, mostTicks}, {32, mostTicks}, {100, 1024}, {5000, fewestTicks}, {50_000, fewestTicks}} {
		r := races{bySymbol: make(map[string]*race)}
		for i := range c.symbols {
			r.of(strconv.Itoa(i))
		}
		if got := r.share(); got != c.want {
			t.Errorf("%d symbols: %d ticks each, want %d", c.symbols, got, c.want)
		}
	}
}

// Readers that deliver at once give each tick's subscribers the ranks 0 to n-1, each
// once, so that they sum up to half of n.
func TestRanksOfReadersAtOnce(t *testing.T) {
	const streams, readers, ticks = 64, 8, 500
	r := NewRecorder(streams)
	playRace(r, slices.Repeat([][]string{{"A"}}, streams), nil)
	var g sync.WaitGroup
	for reader := range readers {
		g.Go(func() {
			for seq := uint64(1); seq <= ticks; seq++ {
				tick := tickOf("A", seq)
				m := &feed.Message{Ticks: []feed.Tick{tick}}
				for i := reader; i < streams; i += readers {
					r.Message(i, tick.DueNS+int64(i), tick.DueNS+int64(i), m)
				}
			}
		})
	}
	g.Wait()
	var all ranks
	for i := range r.streams {
		all.sum += r.streams[i].ranks.sum
		all.n += r.streams[i].ranks.n
	}
	if all.n != streams*ticks || math.Abs(all.sum-streams*ticks/2) > 1e-6 {
		t.Errorf("%d ranks sum up to %v, want %d and %d", all.n, all.sum, streams*ticks, streams*ticks/2)
	}
	if s := r.Finish(nil).Fairness.Spread; s.Ticks != ticks || s.P50 != streams-1 || s.Max != streams-1 {
		t.Errorf("spread %+v, want %d ns for each of %d ticks", s, streams-1, ticks)
	}
}
