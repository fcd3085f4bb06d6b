package synth

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// names returns the symbols' names: own ones, which must be distinct and not
// empty, or SYM001 and so on, which sort in their order.
func names(opts Options) ([]string, error) {
	if opts.Names == nil {
		return numbered(opts.Symbols)
	}
	switch n := len(opts.Names); {
	case n == 0:
		return nil, fmt.Errorf("names: the list is empty; want 1 or more, or nil for SYM001 and so on")
	case n > MaxSymbols:
		return nil, fmt.Errorf("names: %d of them; want at most %d", n, MaxSymbols)
	case opts.Symbols != 0 && opts.Symbols != n:
		return nil, fmt.Errorf("symbols: %d, but there are %d names; leave it 0 beside names", opts.Symbols, n)
	}
	seen := make(map[string]int, len(opts.Names))
	for i, name := range opts.Names {
		if name == "" {
			return nil, fmt.Errorf("names: name %d of %d is empty", i+1, len(opts.Names))
		}
		if !utf8.ValidString(name) {
			return nil, fmt.Errorf("names: name %d of %d, %q, is not UTF-8", i+1, len(opts.Names), name)
		}
		if first, ok := seen[name]; ok {
			return nil, fmt.Errorf("names: %q is both name %d and name %d", name, first+1, i+1)
		}
		seen[name] = i
	}
	return slices.Clone(opts.Names), nil
}

func numbered(n int) ([]string, error) {
	if n == 0 {
		n = DefaultSymbols
	}
	if n < 0 || n > MaxSymbols {
		return nil, fmt.Errorf("symbols: %d; want 1 to %d", n, MaxSymbols)
	}
	width := max(3, len(fmt.Sprint(n)))
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("SYM%0*d", width, i+1)
	}
	return out, nil
}

// picker draws the symbols of updates.
type picker struct {
	rng random
	// below[i] is the chance, in units of 2^-53, that a draw falls on one of the
	// symbols up to i.
	below []int64
}

// newPicker gives symbol i, from 0, a weight of (i+1)^-exponent. Exponent 0 is
// uniform. It must be finite and not negative.
func newPicker(n int, exponent float64, rng random) (*picker, error) {
	if !(exponent >= 0) || math.IsInf(exponent, 0) {
		return nil, fmt.Errorf("zipf: exponent %v; want 0 (uniform) or a positive number", exponent)
	}
	cumulative := make([]float64, n)
	total := 0.0
	for i := range cumulative {
		// A product beyond float64 is -Inf, and its weight 0.
		total += exp(float64(-exponent * log(float64(i+1))))
		cumulative[i] = total
	}
	p := &picker{rng: rng, below: make([]int64, n)}
	for i, c := range cumulative {
		p.below[i] = int64(c / total * (1 << drawBits))
	}
	return p, nil
}

// pick returns the index of a symbol. The last entry of below is 2^53, above any
// draw.
func (p *picker) pick() int {
	i, _ := slices.BinarySearch(p.below, p.rng.bits53()+1)
	return i
}
