package measure

import (
	"math"
	"slices"
)

// Fairness says how evenly the subscribers of a tick were served. It counts the
// deliveries that Received does, of symbols with two subscribers or more.
//
// The rank of a delivery is its place among the subscribers of its tick, in the order
// in which the recorder got them: 0 is the first, 1 the last. Two that are received
// within the time between stamp and record (under a microsecond, unless the machine
// is busy) may change places. Where some subscribers never get a tick, the last of
// those that do has a rank below 1. A delivery that comes when its symbol is thousands
// of ticks further (16 ticks with very many symbols) counts as the last, and its tick's
// spread is without it.
type Fairness struct {
	Spread   *Spread   `json:"spread_ns"`
	MeanRank MeanRanks `json:"mean_rank"`
	// ChanceSD is the standard deviation that the mean ranks of streams would have if
	// chance alone made the order: sqrt(1/12k) for the median of k deliveries a
	// stream, from the variance 1/12 of a number that is uniform on 0 to 1. With a
	// fair exchange few streams lie beyond 0.5 ± 3 of it.
	ChanceSD float64 `json:"chance_sd"`
	// WorstStream has the greatest mean rank, MeanRank.Max.
	WorstStream StreamNumber `json:"worst_stream"`
	Late        int64        `json:"late"` // deliveries that came after the ring had moved on
}

// Spread is the time from the first receipt of a tick to the last, in ns, one value
// a tick.
type Spread struct {
	Ticks int64 `json:"ticks"`
	Quantiles
}

// MeanRanks are quantiles over streams of the mean rank of each, 0 to 1.
type MeanRanks struct {
	Min float64 `json:"min"`
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// StreamNumber names a stream of a fleet, from 0. It is no quantity, so that
// MedianRun leaves it as it is in the first run.
type StreamNumber uint32

// ranks sums the ranks of a stream's deliveries.
type ranks struct {
	sum float64
	n   int64
}

// fairness sums up after the last message; nil where no delivery had a rank.
func (r *Recorder) fairness(spread *Histogram) *Fairness {
	late := r.races.end(spread)
	var means []float64
	var counts []int64
	f := &Fairness{Late: late}
	for i := range r.streams {
		k := r.streams[i].ranks
		if k.n == 0 {
			continue
		}
		mean := k.sum / float64(k.n)
		if len(means) == 0 || mean > f.MeanRank.Max {
			f.MeanRank.Max, f.WorstStream = mean, StreamNumber(i)
		}
		means, counts = append(means, mean), append(counts, k.n)
	}
	if len(means) == 0 {
		return nil
	}
	slices.Sort(means)
	f.MeanRank.Min, f.MeanRank.P50, f.MeanRank.P99 = means[0], nearestRank(means, 0.5), nearestRank(means, 0.99)
	f.ChanceSD = 1 / math.Sqrt(12*float64(median(counts)))
	if q := spread.Quantiles(); q != nil {
		f.Spread = &Spread{spread.Count(), *q}
	}
	return f
}

// nearestRank is the quantile of sorted values by the nearest-rank method: the
// smallest value that at least so large a part of them does not exceed.
func nearestRank(sorted []float64, part float64) float64 {
	return sorted[max(int(math.Ceil(part*float64(len(sorted)))), 1)-1]
}
