package compare

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The library's p is that of the definition (Mann and Whitney, Annals of Mathematical
// Statistics 18, 1947): of all orders of the values, the share that is as far apart.
func TestApartCountsAllOrders(t *testing.T) {
	for _, c := range []struct {
		name string
		a, b []float64
		p    float64
	}{
		// 6 of 12 ranks: 924 ways, and one at each end is as far apart.
		{"all below", []float64{1, 2, 3, 4, 5, 6}, []float64{7, 8, 9, 10, 11, 12}, 2.0 / 924},
		{"all above", []float64{7, 8, 9, 10, 11, 12}, []float64{1, 2, 3, 4, 5, 6}, 2.0 / 924},
		// One pair of neighbours changed places: one more way at each end.
		{"all but two", []float64{1, 2, 3, 4, 5, 7}, []float64{6, 8, 9, 10, 11, 12}, 4.0 / 924},
		{"a comb", []float64{1, 3, 5, 7, 9, 11}, []float64{2, 4, 6, 8, 10, 12}, exact([]float64{1, 3, 5, 7, 9, 11}, []float64{2, 4, 6, 8, 10, 12})},
		{"of unlike size", []float64{3, 1, 4, 1.5, 9, 2.6, 5}, []float64{5.5, 8, 9.7, 9.3, 2.3, 8.4}, exact([]float64{3, 1, 4, 1.5, 9, 2.6, 5}, []float64{5.5, 8, 9.7, 9.3, 2.3, 8.4})},
	} {
		got := NewApart(c.a, c.b)
		if !near(got.P, c.p, 1e-12) {
			t.Errorf("%s: p %v, want %v", c.name, got.P, c.p)
		}
	}
}

// exact is the two-sided p of the U test by definition: the share of all ways to
// divide the values in which U is at least as far from its mean.
func exact(a, b []float64) float64 {
	all := append(append([]float64(nil), a...), b...)
	u := func(in uint) (u float64) {
		for i := range all {
			for j := range all {
				if in>>i&1 == 1 && in>>j&1 == 0 && all[i] < all[j] {
					u++
				}
			}
		}
		return u
	}
	mean := float64(len(a)*len(b)) / 2
	observed := math.Abs(u(1<<len(a)-1) - mean)
	var far, ways float64
	for in := range uint(1) << len(all) {
		n := 0
		for i := range all {
			n += int(in >> i & 1)
		}
		if n != len(a) {
			continue
		}
		ways++
		if math.Abs(u(in)-mean) >= observed {
			far++
		}
	}
	return far / ways
}

func TestCallApart(t *testing.T) {
	low, high := []float64{1, 2, 3, 4, 5, 6}, []float64{17, 18, 19, 20, 21, 22}
	rows := []Apart{NewApart(low, high), NewApart(high, low), NewApart(low, []float64{1.5, 2.5, 3.5, 4.5, 5.5, 6.5}), NewApart(low[:5], high), NewApart(nil, high), NewApart(low, low)}
	var all []*Apart
	for i := range rows {
		all = append(all, &rows[i])
	}
	CallApart(all)
	for i, want := range []Verdict{Higher, Lower, NoDifference, TooFew, TooFew, NoDifference} {
		if rows[i].Verdict != want || rows[i].PAdjusted < rows[i].P {
			t.Errorf("row %d: %+v, want %s", i, rows[i], want)
		}
	}
	if a := rows[0].A; a != (Side{Runs: 6, Median: 3.5, Low: 1, High: 6}) || rows[0].Ratio != 19.5/3.5 {
		t.Errorf("%+v", rows[0])
	}
	if rows[4].Ratio != 0 || rows[4].A != (Side{}) {
		t.Errorf("%+v", rows[4])
	}
	if !near(rows[0].PAdjusted, 4*2.0/924, 1e-12) { // of four that could be tested
		t.Errorf("adjusted %v", rows[0].PAdjusted)
	}
}

// Two results of the same thing differ in at most 18 of 200 tables.
func TestAAApart(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	alarms := 0
	for range 200 {
		rows := make([]Apart, 20)
		var all []*Apart
		for i := range rows {
			draw := func() (v []float64) {
				for range 8 {
					v = append(v, math.Exp(0.3*random.NormFloat64()))
				}
				return v
			}
			rows[i] = NewApart(draw(), draw())
			all = append(all, &rows[i])
		}
		CallApart(all)
		for _, row := range rows {
			if row.Verdict != NoDifference {
				alarms++
				break
			}
		}
	}
	if alarms > 18 {
		t.Errorf("%d false alarms in 200 tables", alarms)
	}
}
