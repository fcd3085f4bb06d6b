package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The example of the method in Aickin and Gensler, Adjusting for Multiple Testing
// when Reporting Research Results (American Journal of Public Health 86, 1996) and
// of R's p.adjust: sorted p times 4, 3, 2, 1, never falling.
func TestHolm(t *testing.T) {
	got := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("%v, want %v at %d", got, want, i)
		}
	}
	if got := Holm([]float64{0.9, 0.8}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v, want at most 1", got)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

func TestStepDown(t *testing.T) {
	clear := []float64{1, 1.1, 0.9, 1.05, 0.95, 1.02}
	noise := []float64{1, -1.1, 0.9, -0.8, 1.2, -1}
	rows := [][]float64{noise, clear, clear, noise}
	got := StepDown(rows, 1)
	// What is clear in every round stays at the smallest P that six rounds have,
	// however many rows there are; what is noise stays noise.
	if got[1] != 2.0/64 || got[2] != 2.0/64 || got[0] < 0.5 || got[3] < 0.5 {
		t.Errorf("%v", got)
	}
	if one := StepDown(rows[:1], 1); one[0] != SignFlip(noise, 0.05, 1).P {
		t.Errorf("a single row is not adjusted: %v, %v", one, SignFlip(noise, 0.05, 1).P)
	}
	if got := StepDown([][]float64{{1, 1, 1, 1, 1, 1}}, 1); got[0] != 2.0/64 {
		t.Errorf("always the same: %v", got)
	}
	missing := []float64{1, math.NaN(), 0.9, 1.05, 0.95, 1.02, 1.01}
	if got := StepDown([][]float64{missing, noise}, 1); got[0] > 4.0/64 {
		t.Errorf("a round is missing: %v", got)
	}
}

func TestStepDownProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(6, 8).Draw(rt, "rounds")
		row := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.IntRange(-9, 15).Draw(t, "d")) / 4 }), n, n)
		rows := rapid.SliceOfN(row, 1, 5).Draw(rt, "rows")
		adjusted := StepDown(rows, 1)
		for i, row := range rows {
			if p := SignFlip(row, 0.05, 1).P; adjusted[i] < p-1e-12 || adjusted[i] > 1 {
				rt.Errorf("row %d: adjusted %v, alone %v", i, adjusted[i], p)
			}
		}
	})
}

// Neither calls any of several rows wrongly more often than it says, where nothing
// differs and the rows of a round share their noise.
func TestFamilywiseError(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	const times, rounds, rowCount = 400, 7, 8
	wrong := map[string]int{}
	for range times {
		rows := make([][]float64, rowCount)
		for i := range rows {
			rows[i] = make([]float64, rounds)
		}
		for r := range rounds {
			common := random.NormFloat64()
			for i := range rows {
				rows[i][r] = common + random.NormFloat64()
			}
		}
		p := make([]float64, rowCount)
		for i, row := range rows {
			p[i] = SignFlip(row, 0.05, 1).P
		}
		for name, adjusted := range map[string][]float64{"Holm": Holm(p), "StepDown": StepDown(rows, 1)} {
			if slices.Min(adjusted) <= 0.05 {
				wrong[name]++
			}
		}
	}
	for name, n := range wrong {
		if most := int(times * (0.05 + 3*math.Sqrt(0.05*0.95/times))); n > most {
			t.Errorf("%s called something in %d of %d tables, want at most %d", name, n, times, most)
		}
	}
}

func TestRoundsFor(t *testing.T) {
	for rows, want := range map[int]int{0: 6, 1: 6, 2: 7, 4: 8, 20: 10, 25: 10, 26: 11} {
		got := RoundsFor(rows, 0.05)
		if got != want {
			t.Errorf("%d rows: %d rounds, want %d", rows, got, want)
		}
		if m := float64(max(rows, 1)); m*2/math.Pow(2, float64(got)) > 0.05 || m*2/math.Pow(2, float64(got-1)) <= 0.05 {
			t.Errorf("%d rows: %d rounds are not the fewest", rows, got)
		}
	}
}
