package compare

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Welch is Welch's t-test of two samples that are not paired and may differ in
// variance (Welch, The Generalization of Student's Problem when Several Different
// Population Variances are Involved, Biometrika 34, 1947), of mean(b) - mean(a). It
// assumes normal values. Fewer than two values on a side, or no variance at all,
// give an interval without ends and a P of 1.
func Welch(a, b []float64, alpha float64) (t Test, degrees float64) {
	t = Test{Low: math.Inf(-1), High: math.Inf(1), P: 1}
	if len(a) < 2 || len(b) < 2 {
		return t, 0
	}
	meanA, varA := stat.MeanVariance(a, nil)
	meanB, varB := stat.MeanVariance(b, nil)
	t.Estimate = meanB - meanA
	va, vb := varA/float64(len(a)), varB/float64(len(b))
	if va+vb == 0 {
		return t, 0
	}
	degrees = (va + vb) * (va + vb) / (va*va/float64(len(a)-1) + vb*vb/float64(len(b)-1))
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: degrees}
	se := math.Sqrt(va + vb)
	t.P = 2 * student.CDF(-math.Abs(t.Estimate)/se)
	half := student.Quantile(1-alpha/2) * se
	t.Low, t.High = t.Estimate-half, t.Estimate+half
	return t, degrees
}
