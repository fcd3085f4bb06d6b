package compare

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// Holm adjusts the p-values of a table's rows for their number: where the rows whose
// adjusted p is at most alpha are called different, the chance that any of them is
// called so wrongly is at most alpha (Holm, A Simple Sequentially Rejective Multiple
// Test Procedure, Scandinavian Journal of Statistics 6, 1979).
func Holm(p []float64) []float64 {
	order := ascending(p)
	adjusted := make([]float64, len(p))
	var so float64
	for i, row := range order {
		so = max(so, min(1, float64(len(p)-i)*p[row]))
		adjusted[row] = so
	}
	return adjusted
}

func ascending(p []float64) []int {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	return order
}

// StepDown adjusts for the number of rows as Holm does and promises the same, but
// knows that the rows come from the same rounds: it turns the signs of all rows of a
// round together and compares each row with the largest of those not yet called
// (Westfall and Young, Resampling-Based Multiple Testing, 1993, algorithm 4.1). Holm
// cannot call anything in a table of several rows from six rounds, whose smallest p
// is 2/64; this can.
//
// rows[i][r] is the difference of row i in round r, NaN where it has none.
func StepDown(rows [][]float64, seed uint64) []float64 {
	rounds := 0
	for _, row := range rows {
		rounds = max(rounds, len(row))
	}
	patterns := subsets(rounds, seed)
	observed := make([]float64, len(rows))
	for i, row := range rows {
		observed[i] = studentized(row, 0)
	}
	order := ascending(observed)
	slices.Reverse(order) // the largest first
	atLeast := make([]int, len(rows))
	for _, set := range patterns {
		largest := 0.0
		for i := len(order) - 1; i >= 0; i-- { // over this row and all smaller ones
			row := order[i]
			largest = max(largest, studentized(rows[row], set))
			if largest >= observed[row]*(1-1e-9) {
				atLeast[row]++
			}
		}
	}
	adjusted := make([]float64, len(rows))
	var so float64
	for _, row := range order {
		so = max(so, float64(atLeast[row])/float64(len(patterns)))
		adjusted[row] = so
	}
	return adjusted
}

// studentized is |mean| by its standard error with the signs of the rounds in set
// turned; infinite where the differences are all the same.
func studentized(d []float64, turned uint64) float64 {
	var sum, squares, n float64
	for r, x := range d {
		if math.IsNaN(x) {
			continue
		}
		if turned&(1<<r) != 0 {
			x = -x
		}
		sum += x
		squares += x * x
		n++
	}
	if n < 2 || sum == 0 {
		return 0
	}
	mean := sum / n
	variance := (squares - n*mean*mean) / (n - 1)
	if variance <= 1e-18*squares {
		return math.Inf(1)
	}
	return math.Abs(mean) / math.Sqrt(variance/n)
}

// RoundsFor is how many rounds it takes until the exact test can call a single row
// of so many after Holm.
func RoundsFor(rows int, alpha float64) int {
	return bits.Len(uint(math.Ceil(2*float64(max(rows, 1))/alpha)) - 1)
}
