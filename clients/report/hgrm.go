package report

import (
	"fmt"
	"io"
	"math/bits"
)

// nsPerUS scales the values of a percentile file.
const nsPerUS = 1000

// hgrmTicks is how many lines a percentile file has for each halving of what is
// left to 100%, as HdrHistogram's own programs have them.
const hgrmTicks = 5

// WriteHGRM writes the percentiles of a run in us as HdrHistogram's Java library
// prints them (AbstractHistogram.outputPercentileDistribution), which plotters of
// .hgrm files read. What it is stands above in a comment.
func WriteHGRM(w io.Writer, l Latencies) error {
	h := l.Histogram
	text := fmt.Appendf(nil, "# tickgauge: latency in us of %s, started %s\n", l.Name, l.Started)
	text = fmt.Appendf(text, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)")
	digits := int(h.SignificantFigures())
	for _, b := range h.CumulativeDistributionWithTicks(hgrmTicks) {
		text = fmt.Appendf(text, "%12.*f %2.12f %10d", digits, float64(b.ValueAt)/nsPerUS, b.Quantile/100, b.Count)
		if b.Quantile < 100 { // the last line has no way to go
			text = fmt.Appendf(text, " %14.2f", 1/(1-b.Quantile/100))
		}
		text = append(text, '\n')
	}
	buckets, subBuckets := geometry(len(h.Export().Counts), digits)
	text = fmt.Appendf(text, "#[Mean    = %12.*f, StdDeviation   = %12.*f]\n", digits, h.Mean()/nsPerUS, digits, h.StdDev()/nsPerUS)
	text = fmt.Appendf(text, "#[Max     = %12.*f, Total count    = %12d]\n", digits, float64(h.Max())/nsPerUS, h.TotalCount())
	text = fmt.Appendf(text, "#[Buckets = %12d, SubBuckets     = %12d]\n", buckets, subBuckets)
	if _, err := w.Write(text); err != nil {
		return fmt.Errorf("write percentiles: %w", err)
	}
	return nil
}

// geometry is how HdrHistogram divides so many counts at so many digits: the
// smallest power of two of sub-buckets that tells 2*10^digits values apart, and
// buckets of which each has the upper half of its own, the first one both.
func geometry(counts, digits int) (buckets, subBuckets int) {
	resolved := uint(2)
	for range digits {
		resolved *= 10
	}
	subBuckets = 1 << bits.Len(resolved-1)
	return counts/(subBuckets/2) - 1, subBuckets
}
