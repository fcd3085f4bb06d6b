package compare

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Test is what paired differences say of their centre.
type Test struct {
	Estimate float64 // their mean
	Low      float64 // ends of the confidence interval
	High     float64
	P        float64 // two-sided, that the centre is 0
}

// mostExact is how many pairs are tested by all their sign patterns; beyond it by a
// sample of them.
const (
	mostExact  = 16
	sampleSize = 100_000
)

// SignFlip is Fisher's randomization test for pairs (The Design of Experiments,
// 1935, §21): were there no difference, each could as well have had the other sign.
// P is the share of all sign patterns whose sum is at least as far from 0 as the one
// observed.
//
// The interval is the same test turned round: those centres that it would not
// reject. Its ends are means of subsets of the differences, which part the line into
// 2^n stretches of equal probability (Hartigan, Using Subsample Values as Typical
// Values, JASA 64, 1969), so that it excludes 0 exactly where P is at most alpha. It
// assumes that the differences are independent and symmetric about their centre.
//
// Beyond 16 pairs a sample of the patterns stands for all of them, the same under
// the same seed.
func SignFlip(d []float64, alpha float64, seed uint64) Test {
	n := len(d)
	if n == 0 {
		return Test{Low: math.Inf(-1), High: math.Inf(1), P: 1}
	}
	sums, counts := subsetSums(d, seed)
	var total float64
	for _, x := range d {
		total += x
	}
	// A pattern that turns the signs of a subset has the sum total - 2 sum(subset).
	slack := 1e-9 * absSum(d)
	extreme := 0
	means := make([]float64, 0, len(sums))
	for i, s := range sums {
		if math.Abs(total-2*s) >= math.Abs(total)-slack {
			extreme++
		}
		if counts[i] > 0 {
			means = append(means, s/float64(counts[i]))
		}
	}
	slices.Sort(means)
	t := Test{Estimate: total / float64(n), P: min(1, float64(extreme)/float64(len(sums))), Low: math.Inf(-1), High: math.Inf(1)}
	// The k-th mean from either end; k of the len(means)+1 stretches lie beyond it.
	if k := int(alpha * float64(len(means)+1) / 2); k >= 1 {
		t.Low, t.High = means[k-1], means[len(means)-k]
	}
	return t
}

func absSum(d []float64) (sum float64) {
	for _, x := range d {
		sum += math.Abs(x)
	}
	return sum
}

// subsetSums returns the sum and size of every subset of d, or of a sample of
// subsets, of which the first is empty: the pattern that was observed.
func subsetSums(d []float64, seed uint64) (sums []float64, counts []int) {
	sizes := subsets(len(d), seed)
	sums, counts = make([]float64, len(sizes)), make([]int, len(sizes))
	for i, set := range sizes {
		for rest := set; rest != 0; rest &= rest - 1 {
			sums[i] += d[bits.TrailingZeros64(rest)]
		}
		counts[i] = bits.OnesCount64(set)
	}
	return sums, counts
}

// MostPairs is how many pairs a test takes.
const MostPairs = 64

// subsets are all subsets of n things as bits, or a sample of them that begins with
// the empty one.
func subsets(n int, seed uint64) []uint64 {
	if n <= mostExact {
		all := make([]uint64, 1<<n)
		for i := range all {
			all[i] = uint64(i)
		}
		return all
	}
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	some := make([]uint64, sampleSize)
	mask := ^uint64(0) >> (MostPairs - n)
	for i := 1; i < len(some); i++ {
		some[i] = random.Uint64() & mask
	}
	return some
}
