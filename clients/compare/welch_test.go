package compare

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// Student's sleep data (The Probable Error of a Mean, 1908), as R's t.test has them:
// t = -1.8608, df = 17.776, p = 0.07939, interval -3.3654832 to 0.2054832.
func TestWelchOfStudentsSleep(t *testing.T) {
	one := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	two := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	got, degrees := Welch(two, one, 0.05)
	if !near(got.P, 0.07939, 5e-6) || !near(degrees, 17.776, 5e-4) || !near(got.Low, -3.3654832, 5e-7) || !near(got.High, 0.2054832, 5e-7) || !near(got.Estimate, -1.58, 1e-12) {
		t.Errorf("%+v, %v degrees", got, degrees)
	}
}

func TestWelchOfTooLittle(t *testing.T) {
	for _, c := range [][2][]float64{{nil, nil}, {{1}, {2}}, {{1, 1}, {2, 2}}} {
		if got, _ := Welch(c[0], c[1], 0.05); got.P != 1 || !math.IsInf(got.Low, -1) {
			t.Errorf("%v: %+v", c, got)
		}
	}
}

// The treated mice of Efron and Tibshirani, An Introduction to the Bootstrap, table
// 2.1: the standard error of their mean by the bootstrap is 23.36 in the limit
// (table 2.2).
func TestBootstrapOfTheMice(t *testing.T) {
	mice := []float64{94, 197, 16, 38, 99, 141, 23}
	if se := stat.StdDev(bootstrapMeans(mice, 1), nil); !near(se, 23.36, 0.5) {
		t.Errorf("standard error %v", se)
	}
	low, high := Bootstrap(mice, 0.05, 1)
	if again, _ := Bootstrap(mice, 0.05, 1); again != low || low >= high || low < 16 || high > 197 {
		t.Errorf("%v to %v", low, high)
	}
}
