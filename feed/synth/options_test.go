package synth_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/synth"
)

func TestZeroOptions(t *testing.T) {
	s := newSource(t, synth.Options{})
	symbols := s.Symbols()
	if len(symbols) != synth.DefaultSymbols || symbols[0].Name != "SYM001" || symbols[99].Name != "SYM100" {
		t.Errorf("%d symbols, %v to %v", len(symbols), symbols[0], symbols[len(symbols)-1])
	}
	if !slices.IsSortedFunc(symbols, func(a, b feed.Symbol) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("names do not sort in their order")
	}
	if u := take(t, s, 201)[200]; u.AtNS != 1e9 {
		t.Errorf("update 200 at %d ns, want 200 ticks/s", u.AtNS)
	}
}

func TestNames(t *testing.T) {
	own := []string{"BTC/USD", "a,b", "100% x", "é ", "SYM001"}
	s := newSource(t, synth.Options{Names: own})
	for i, symbol := range s.Symbols() {
		if symbol.Name != own[i] {
			t.Errorf("symbol %d is %q, want %q", i, symbol.Name, own[i])
		}
	}
	if _, err := feed.NewHub(s.Symbols(), feed.HubOptions{}); err != nil {
		t.Error(err)
	}
	if last := newSource(t, synth.Options{Symbols: 1000}).Symbols()[999].Name; last != "SYM1000" {
		t.Errorf("symbol 1000 is %q", last)
	}
}

func TestBadOptions(t *testing.T) {
	tests := []struct {
		opts synth.Options
		want string
	}{
		{synth.Options{Rate: -1}, "rate: -1 ticks/s; want 1e-06 to 1e+06"},
		{synth.Options{Rate: math.NaN()}, "rate: NaN"},
		{synth.Options{Rate: math.Inf(1)}, "rate: +Inf"},
		{synth.Options{Rate: 1e10}, "rate: 1e+10"},
		{synth.Options{Rate: 1e-300}, "rate: 1e-300"},
		{synth.Options{Arrivals: 3}, "arrivals 3: want"},
		{synth.Options{Zipf: -0.1}, "zipf: exponent -0.1"},
		{synth.Options{Zipf: math.NaN()}, "zipf: exponent NaN"},
		{synth.Options{Zipf: math.Inf(1)}, "zipf: exponent +Inf"},
		{synth.Options{Symbols: -1}, "symbols: -1; want 1 to"},
		{synth.Options{Symbols: synth.MaxSymbols + 1}, "symbols: 100001"},
		{synth.Options{Names: []string{}}, "names: the list is empty"},
		{synth.Options{Names: make([]string, synth.MaxSymbols+1)}, "names: 100001 of them"},
		{synth.Options{Names: []string{"A", ""}}, "name 2 of 2 is empty"},
		{synth.Options{Names: []string{"A", "B", "A"}}, `"A" is both name 1 and name 3`},
		{synth.Options{Names: []string{"\xff"}}, "is not UTF-8"},
		{synth.Options{Names: []string{"A"}, Symbols: 2}, "symbols: 2, but there are 1 names"},
		{synth.Options{Limit: -1}, "limit: -1 ticks"},
	}
	for _, test := range tests {
		s, err := synth.New(test.opts)
		if s != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one with %q", err, test.want)
		}
	}
}
