package synth

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// The streams of one seed. Each part of the source has a generator of its own,
// so that a change to one (the arrivals, the rate, the symbol skew) leaves what
// the others draw as it was. The walk of symbol i has streamWalks + i.
const (
	streamArrivals = iota
	streamPicks
	streamWalks
)

// random is a PCG-DXSM generator with the draws that the package needs. The
// methods of rand.Rand are avoided where what they return may differ between
// architectures (bounded integers on 32 bit, exponentials through math.Log).
type random struct{ pcg rand.PCG }

// newRandom returns the generator of one stream of a seed. Both halves of its
// state are outputs of SplitMix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014), so that neighbouring seeds and streams
// have nothing in common.
func newRandom(seed, stream uint64) random {
	const golden = 0x9e3779b97f4a7c15
	state := mix(seed+golden) + 2*stream*golden
	var r random
	r.pcg.Seed(mix(state+golden), mix(state+golden+golden))
	return r
}

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number of [0, n). Its bias, below n/2^64, is out of reach.
func (r *random) below(n int64) int64 {
	hi, _ := bits.Mul64(r.pcg.Uint64(), uint64(n))
	return int64(hi)
}

// drawBits is the resolution of bits53 and of what is compared with it.
const drawBits = 53

// bits53 returns a number of [0, 2^53).
func (r *random) bits53() int64 { return int64(r.pcg.Uint64() >> (64 - drawBits)) }

// exponential returns a number of the exponential distribution with mean 1. It
// is never negative and at most 53 ln 2.
func (r *random) exponential() float64 {
	return -log(float64(r.bits53()+1) / (1 << drawBits))
}

// log and exp stand in for those of package math, whose assembly differs in the
// last bit between architectures; and compilers may fuse x*y + z into one
// rounding, which an explicit conversion of the product forbids. With both out
// of the way, one seed gives the same nanoseconds everywhere. They are right to
// about 1e-15.

// log returns the natural logarithm of a positive, finite x.
func log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = m*2, e-1
	}
	// With s = (m-1)/(m+1): ln m = 2 (s + s^3/3 + s^5/5 + ...), |s| < 0.172.
	s := (m - 1) / (m + 1)
	s2 := float64(s * s)
	sum := 0.0
	for k := 19; k >= 1; k -= 2 {
		sum = float64(sum*s2) + 1/float64(k)
	}
	return float64(float64(e)*math.Ln2) + float64(2*s*sum)
}

// exp returns e to the power of an x that is not positive.
func exp(x float64) float64 {
	if x < -700 {
		return 0
	}
	// x = k ln 2 + r with |r| < 0.35; the logarithm is in two parts, of which
	// the first leaves k times it exact.
	const (
		ln2Hi = 6.93147180369123816490e-01
		ln2Lo = 1.90821492927058770002e-10
	)
	k := math.Floor(float64(x/math.Ln2) + 0.5)
	r := x - float64(k*ln2Hi) - float64(k*ln2Lo)
	sum := 1.0
	for n := 13.0; n >= 1; n-- {
		sum = 1 + float64(sum*r)/n
	}
	return math.Ldexp(sum, int(k))
}
