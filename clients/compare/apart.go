package compare

import (
	"golang.org/x/perf/benchmath"

	"github.com/tickgauge/tickgauge/clients/plan"
)

// Apart compares a figure of runs that were made at two times, as in two results:
// runs that share no round.
type Apart struct {
	A, B      Side
	Ratio     float64 // of the medians, B/A; 0: not known
	P         float64
	PAdjusted float64 // for all rows of the table, by Holm
	Verdict   Verdict
}

// Side is the median of one side's runs, with its confidence interval at 95% or more.
type Side struct {
	Runs              int
	Median, Low, High float64
}

// NewApart tests whether two samples come from one distribution: by the Mann-Whitney U
// test, with medians and their intervals, as package benchmath has them where nothing
// is assumed of the distribution. Below six runs on a side it says too few: their
// medians have no interval at 95%. CallApart gives the verdict.
func NewApart(a, b []float64) Apart {
	t := Apart{A: side(a), B: side(b), P: 1, PAdjusted: 1}
	if t.A.Median != 0 && len(b) > 0 {
		t.Ratio = t.B.Median / t.A.Median
	}
	if min(len(a), len(b)) < plan.MinRounds {
		t.Verdict = TooFew
		return t
	}
	t.P = benchmath.AssumeNothing.Compare(sample(a), sample(b)).P
	return t
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(append([]float64(nil), values...), &benchmath.DefaultThresholds) // which sorts them
}

func side(values []float64) Side {
	if len(values) == 0 {
		return Side{}
	}
	s := benchmath.AssumeNothing.Summary(sample(values), 0.95)
	return Side{Runs: len(values), Median: s.Center, Low: s.Lo, High: s.Hi}
}

// CallApart adjusts the p-values of a table's rows for their number and gives each its
// verdict: the chance that any row is called different which is not is at most 5%.
func CallApart(rows []*Apart) {
	const alpha = 0.05
	var tested []*Apart
	var p []float64
	for _, row := range rows {
		if row.Verdict != TooFew {
			tested, p = append(tested, row), append(p, row.P)
		}
	}
	for i, adjusted := range Holm(p) {
		row := tested[i]
		row.PAdjusted = adjusted
		switch {
		case adjusted > alpha:
			row.Verdict = NoDifference
		case row.B.Median < row.A.Median:
			row.Verdict = Lower
		default:
			row.Verdict = Higher
		}
	}
}
