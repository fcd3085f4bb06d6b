package compare

import (
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
)

// MinBootstrap is the fewest pairs of which a bootstrap interval is given: with
// fewer it is too short.
const MinBootstrap = 10

const resamples = 10_000

// Bootstrap returns the percentile interval of the mean (Efron and Tibshirani, An
// Introduction to the Bootstrap, 1993, chapter 13): the differences are drawn again
// with replacement, 10,000 times, the same under the same seed.
func Bootstrap(d []float64, alpha float64, seed uint64) (low, high float64) {
	means := bootstrapMeans(d, seed)
	slices.Sort(means)
	return stat.Quantile(alpha/2, stat.Empirical, means, nil), stat.Quantile(1-alpha/2, stat.Empirical, means, nil)
}

func bootstrapMeans(d []float64, seed uint64) []float64 {
	random := rand.New(rand.NewPCG(seed, uint64(len(d))))
	means := make([]float64, resamples)
	for i := range means {
		var sum float64
		for range d {
			sum += d[random.IntN(len(d))]
		}
		means[i] = sum / float64(len(d))
	}
	return means
}
