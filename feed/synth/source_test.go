package synth_test

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/synth"
	"pgregory.net/rapid"
)

func newSource(t testing.TB, opts synth.Options) *synth.Source {
	t.Helper()
	s, err := synth.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func take(t testing.TB, s *synth.Source, n int) []feed.Update {
	t.Helper()
	out := make([]feed.Update, n)
	for i := range out {
		if err := s.Next(&out[i]); err != nil {
			t.Fatalf("update %d: %v", i, err)
		}
	}
	return out
}

func allArrivals() []synth.Arrivals {
	return []synth.Arrivals{synth.Steady, synth.Poisson, synth.Bursty}
}

// TestGolden pins the updates: a change here makes another feed of every seed,
// and a failure on one platform alone means that runs there cannot be compared.
func TestGolden(t *testing.T) {
	for i, want := range []uint64{0x2fbe8a866796cf19, 0x5c868665bf75929a, 0xbfc720726da5baa9} {
		opts := synth.Options{Seed: 7, Arrivals: allArrivals()[i], Zipf: 0.8, Rate: 333.3}
		s := newSource(t, opts)
		sum := fnv.New64a()
		var record []byte
		for _, u := range append(s.Opening(), take(t, s, 100_000)...) {
			record = record[:0]
			for _, v := range []int64{int64(u.Symbol), u.AtNS, u.ExchangeTSNS, int64(u.Origin),
				int64(u.BidPx), int64(u.BidSz), int64(u.AskPx), int64(u.AskSz),
				int64(u.LastPx), int64(u.LastSz), int64(u.TradeID), int64(u.Aggressor)} {
				record = binary.LittleEndian.AppendUint64(record, uint64(v))
			}
			sum.Write(record)
		}
		if got := sum.Sum64(); got != want {
			t.Errorf("%s: updates hash to %#x, want %#x", opts.Arrivals, got, want)
		}
	}
}

func TestSeeds(t *testing.T) {
	for _, a := range allArrivals() {
		first := take(t, newSource(t, synth.Options{Arrivals: a}), 1000)
		if again := take(t, newSource(t, synth.Options{Arrivals: a}), 1000); !slices.Equal(first, again) {
			t.Errorf("%s: seed 0 gives two feeds", a)
		}
		other := take(t, newSource(t, synth.Options{Arrivals: a, Seed: 1}), 1000)
		same := 0
		for i := range other {
			if other[i].Symbol == first[i].Symbol {
				same++
			}
		}
		if same > 40 { // 10 by chance
			t.Errorf("%s: seeds 0 and 1 agree in %d of 1000 symbols", a, same)
		}
	}
}

// TestTimesApart checks that arrivals and rate set the times and nothing else,
// and that a symbol's walk does not depend on how often it is drawn.
func TestTimesApart(t *testing.T) {
	want := take(t, newSource(t, synth.Options{Seed: 3}), 5000)
	for _, a := range allArrivals() {
		for _, rate := range []float64{1, 5000} {
			got := take(t, newSource(t, synth.Options{Seed: 3, Arrivals: a, Rate: rate}), 5000)
			for i := range got {
				got[i].AtNS = want[i].AtNS
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s at %v ticks/s: other updates, not only other times", a, rate)
			}
		}
	}
	walk := func(us []feed.Update) (out []feed.Update) {
		for _, u := range us {
			if u.Symbol == 2 {
				u.AtNS = 0
				out = append(out, u)
			}
		}
		return out
	}
	skewed := walk(take(t, newSource(t, synth.Options{Seed: 3, Symbols: 5, Zipf: 1.5}), 5000))
	if plain := walk(want); len(plain) < 20 || !slices.Equal(plain, skewed[:len(plain)]) {
		t.Error("the walk of a symbol changes with the skew and the number of symbols")
	}
}

func TestLimit(t *testing.T) {
	s := newSource(t, synth.Options{Limit: 3})
	last := take(t, s, 3)[2]
	for range 2 {
		if u := last; !errors.Is(s.Next(&u), io.EOF) || u != last {
			t.Error("after the limit: want io.EOF and the update left alone")
		}
	}
}

func TestEndOfClock(t *testing.T) {
	for _, a := range allArrivals() {
		s := newSource(t, synth.Options{Arrivals: a, Rate: synth.MinRate})
		var n int
		var u feed.Update
		for last := int64(0); ; n++ {
			if err := s.Next(&u); err != nil {
				break
			}
			if u.AtNS < last {
				t.Fatalf("%s: %d ns after %d ns", a, u.AtNS, last)
			}
			last = u.AtNS
		}
		if want := 9224; n < want/3 || n > want*3 || (a == synth.Steady && n != want) {
			t.Errorf("%s: %d updates in 292 years at 1e-6/s, want %d", a, n, want)
		}
		if err := s.Next(&u); !errors.Is(err, io.EOF) {
			t.Errorf("%s: %v past the end, want io.EOF", a, err)
		}
	}
}

// TestAnyOptions checks what holds for every source.
func TestAnyOptions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		opts := synth.Options{
			Symbols:  rapid.IntRange(1, 300).Draw(rt, "symbols"),
			Rate:     math.Pow(10, rapid.Float64Range(-6, 6).Draw(rt, "log rate")),
			Arrivals: rapid.SampledFrom(allArrivals()).Draw(rt, "arrivals"),
			Zipf:     rapid.Float64Range(0, 5).Draw(rt, "zipf"),
			Seed:     rapid.Uint64().Draw(rt, "seed"),
			Limit:    rapid.Int64Range(1, 500).Draw(rt, "limit"),
		}
		s, err := synth.New(opts)
		if err != nil {
			rt.Fatal(err)
		}
		c := newChecker(s)
		var u feed.Update
		n := int64(0)
		for ; s.Next(&u) == nil; n++ {
			if err := c.check(&u); err != nil {
				rt.Fatalf("update %d: %v: %+v", n, err, u)
			}
		}
		if n != opts.Limit {
			rt.Fatalf("%d updates, want %d", n, opts.Limit)
		}
	})
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, a := range allArrivals() {
		s := newSource(t, synth.Options{Arrivals: a, Zipf: 1})
		var u feed.Update
		if n := testing.AllocsPerRun(10_000, func() { _ = s.Next(&u) }); n != 0 {
			t.Errorf("%s: %v allocations per update", a, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, a := range allArrivals() {
		b.Run(a.String(), func(b *testing.B) {
			s := newSource(b, synth.Options{Arrivals: a, Zipf: 1})
			b.ReportAllocs()
			var u feed.Update
			for b.Loop() {
				if err := s.Next(&u); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
