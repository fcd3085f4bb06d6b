package book

import (
	"math"
	"math/big"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"pgregory.net/rapid"
)

func TestAverage(t *testing.T) {
	type trade struct {
		px  feed.Price
		qty feed.Size
	}
	for _, c := range []struct {
		name   string
		trades []trade
		want   feed.Price
	}{
		{"none", nil, 0},
		{"one", []trade{{61_837_630_000_000, 1e8}}, 61_837_630_000_000},
		{"weighted", []trade{{10, 3}, {20, 1}}, 12}, // 12.5 to the even 12
		{"half to even, up", []trade{{11, 1}, {12, 1}}, 12},
		{"half to even, down", []trade{{10, 1}, {11, 1}}, 10},
		{"below half", []trade{{10, 2}, {11, 1}}, 10},
		{"above half", []trade{{10, 1}, {11, 2}}, 11},
		{"the largest", []trade{{math.MaxInt64, math.MaxInt64}}, math.MaxInt64},
		{"the largest in two", []trade{{math.MaxInt64, math.MaxInt64 - 1}, {math.MaxInt64, 1}}, math.MaxInt64},
		{"what is no trade", []trade{{10, 1}, {-5, 1}, {5, -1}, {0, 7}, {7, 0}}, 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a Average
			for _, tr := range c.trades {
				a.Add(tr.px, tr.qty)
			}
			if got := a.Price(); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

// TestAverageIsExact compares with math/big, over all that fits.
func TestAverageIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Average
		value, qty := new(big.Int), new(big.Int)
		room := feed.Size(math.MaxInt64)
		small := rapid.Bool().Draw(t, "small") // so that halves come up
		for range rapid.IntRange(1, 20).Draw(t, "trades") {
			top, most := feed.Price(math.MaxInt64), room
			if small {
				top, most = 5, 3
			}
			if most < 1 {
				break
			}
			px := feed.Price(rapid.Int64Range(1, int64(top)).Draw(t, "px"))
			q := feed.Size(rapid.Int64Range(1, int64(most)).Draw(t, "qty"))
			room -= q
			a.Add(px, q)
			value.Add(value, new(big.Int).Mul(big.NewInt(int64(px)), big.NewInt(int64(q))))
			qty.Add(qty, big.NewInt(int64(q)))
			if want := halfEven(value, qty); int64(a.Price()) != want {
				t.Fatalf("%v / %v: got %d, want %d", value, qty, a.Price(), want)
			}
		}
	})
}

func halfEven(value, qty *big.Int) int64 {
	px, rest := new(big.Int).QuoRem(value, qty, new(big.Int))
	twice := rest.Lsh(rest, 1)
	if c := twice.Cmp(qty); c > 0 || (c == 0 && px.Bit(0) == 1) {
		px.Add(px, big.NewInt(1))
	}
	return px.Int64()
}

func TestSum128(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sum128
		want := new(big.Int)
		var in []uint64
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				v := rapid.Uint64().Draw(t, "v")
				s.add(v)
				in = append(in, v)
				want.Add(want, new(big.Int).SetUint64(v))
			},
			"sub": func(t *rapid.T) {
				if len(in) == 0 {
					t.Skip()
				}
				v := in[len(in)-1]
				in = in[:len(in)-1]
				s.sub(v)
				want.Sub(want, new(big.Int).SetUint64(v))
			},
			"": func(t *rapid.T) {
				if s.big().Cmp(want) != 0 {
					t.Fatalf("sum %v, want %v", s.big(), want)
				}
				size := rapid.Int64Range(0, math.MaxInt64).Draw(t, "size")
				if s.atLeast(feed.Size(size)) != (want.Cmp(big.NewInt(size)) >= 0) {
					t.Fatalf("%v at least %d: %t", want, size, s.atLeast(feed.Size(size)))
				}
				if fits := want.IsInt64(); (fits && int64(s.size()) != want.Int64()) || (!fits && s.size() != math.MaxInt64) {
					t.Fatalf("%v as a size is %d", want, s.size())
				}
			},
		})
	})
}
