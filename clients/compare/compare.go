package compare

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Options are the choices of New; zero fields take what their comment says.
type Options struct {
	Alpha    float64 // chance of a wrong call in the whole table; 0: 0.05
	Seed     uint64  // of what is drawn
	AllPairs bool    // else every cell against the first
	Welch    bool    // unpaired too, for runs that are not of the same rounds
}

// Input is a cell with its runs.
type Input struct {
	Cell plan.Cell
	Runs []*measure.Run
}

// Verdict is what a row says.
type Verdict string

// The verdicts.
const (
	Lower        Verdict = "lower"         // B is lower than A
	Higher       Verdict = "higher"        // B is higher than A
	NoDifference Verdict = "no difference" // that could be told from chance
	TooFew       Verdict = "too few valid runs"
)

// Comparison is the table of differences between cells.
type Comparison struct {
	Confidence float64  `json:"confidence"` // of the intervals, and against wrong calls over all rows
	Rows       []Row    `json:"rows"`
	TwoWay     []TwoWay `json:"two_way"` // what encoding and what transport does
	Notes      []string `json:"notes"`
}

// Row is one metric of two cells. Ratios are B by A.
type Row struct {
	CellA   string  `json:"a"` // labels
	CellB   string  `json:"b"`
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit"`     // of the medians: ns, bytes or none
	MedianA float64 `json:"median_a"` // over the usable runs; 0: not known
	MedianB float64 `json:"median_b"`
	Effect
	Bootstrap *Interval `json:"bootstrap"` // from 10 pairs on
	Welch     *Unpaired `json:"welch"`     // where it was asked for
}

// Interval is a confidence interval of a ratio.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Effect is a ratio with its interval, and what chance would do.
type Effect struct {
	Pairs     int       `json:"pairs"`    // rounds that have all the runs it takes
	Ratio     float64   `json:"ratio"`    // geometric mean over the rounds; 0: not known
	Interval  *Interval `json:"interval"` // nil: without ends, for want of rounds
	P         float64   `json:"p"`
	PHolm     float64   `json:"p_holm"`     // for all rows of the table, by Holm
	PAdjusted float64   `json:"p_adjusted"` // for all rows, by StepDown: what the verdict goes by
	Verdict   Verdict   `json:"verdict"`
}

// Unpaired is Welch's test of the logarithms of all usable runs.
type Unpaired struct {
	Ratio    float64   `json:"ratio"`
	Interval *Interval `json:"interval"`
	P        float64   `json:"p"`
}

// New compares the cells. The runs of a cell are matched with those of another by
// their round; only those that are valid and not saturated count.
func New(cells []Input, opts Options) *Comparison {
	if opts.Alpha == 0 {
		opts.Alpha = 0.05
	}
	c := &Comparison{Confidence: 1 - opts.Alpha, Rows: []Row{}, Notes: []string{}}
	var differences [][]float64
	for _, pair := range pairsOf(cells, opts.AllPairs) {
		for _, m := range Compared() {
			row, d := newRow(pair, m, opts)
			c.Rows, differences = append(c.Rows, row), append(differences, d)
		}
	}
	effects := make([]*Effect, len(c.Rows))
	for i := range c.Rows {
		effects[i] = &c.Rows[i].Effect
	}
	tested, fewest := call(effects, differences, opts)
	if need := RoundsFor(tested, opts.Alpha); tested > 0 && fewest < need {
		c.Notes = append(c.Notes, fmt.Sprintf("Holm's adjustment over %d rows can call none of them below %d rounds; the verdicts go by the step-down adjustment (docs/statistics.md).", tested, need))
	}
	var left []string
	if c.TwoWay, left = twoWay(cells, opts); len(left) > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("What the encoding does is of the other transports: %s has fewer than %d rounds with usable runs of both.", strings.Join(left, " and "), plan.MinRounds))
	}
	return c
}

// pair are two cells by round.
type pair struct {
	nameA, nameB string
	a, b         map[int]*measure.Run
	rounds       []int // in which both are usable, ascending
}

func pairsOf(cells []Input, all bool) []pair {
	plain := make([]plan.Cell, len(cells))
	byRound := make([]map[int]*measure.Run, len(cells))
	for i, c := range cells {
		plain[i] = c.Cell
		byRound[i] = usable(c.Runs)
	}
	labels := plan.Labels(plain)
	var pairs []pair
	for i := range cells {
		for j := i + 1; j < len(cells); j++ {
			if i > 0 && !all {
				continue
			}
			pairs = append(pairs, pair{labels[i], labels[j], byRound[i], byRound[j], shared(byRound[i], byRound[j])})
		}
	}
	return pairs
}

// usable are the runs that may be compared, by round, up to round 64. Of two of one
// round the first counts.
func usable(runs []*measure.Run) map[int]*measure.Run {
	by := make(map[int]*measure.Run, len(runs))
	for i, r := range runs {
		if !r.Valid || r.Saturated {
			continue
		}
		round := r.Round
		if round == 0 {
			round = i + 1
		}
		if round <= MostPairs && by[round] == nil {
			by[round] = r
		}
	}
	return by
}

func shared(a, b map[int]*measure.Run) (rounds []int) {
	for round := 1; round <= MostPairs; round++ {
		if a[round] != nil && b[round] != nil {
			rounds = append(rounds, round)
		}
	}
	return rounds
}

// newRow tests one metric of a pair, and returns the differences ln(B/A) by round,
// NaN where a round has none.
func newRow(p pair, m Metric, opts Options) (Row, []float64) {
	row := Row{CellA: p.nameA, CellB: p.nameB, Metric: m.Name, Unit: m.Unit, MedianA: medianOf(p.a, m), MedianB: medianOf(p.b, m)}
	var byRound []float64
	for _, round := range p.rounds {
		for len(byRound) < round {
			byRound = append(byRound, math.NaN())
		}
		a, okA := m.Of(p.a[round])
		b, okB := m.Of(p.b[round])
		if okA && okB && a > 0 && b > 0 { // else there is no ratio
			byRound[round-1] = math.Log(b / a)
		}
	}
	d := row.test(byRound, opts)
	if row.Verdict != TooFew && len(d) >= MinBootstrap {
		low, high := Bootstrap(d, opts.Alpha, opts.Seed)
		row.Bootstrap = &Interval{math.Exp(low), math.Exp(high)}
	}
	if opts.Welch {
		row.Welch = welch(p, m, opts.Alpha)
	}
	return row, byRound
}

// test tests the differences of all rounds that have one, and returns those.
func (e *Effect) test(byRound []float64, opts Options) (d []float64) {
	for _, x := range byRound {
		if !math.IsNaN(x) {
			d = append(d, x)
		}
	}
	*e = Effect{Pairs: len(d), P: 1, PHolm: 1, PAdjusted: 1}
	if len(d) < plan.MinRounds {
		e.Verdict = TooFew
		return d
	}
	t := SignFlip(d, opts.Alpha, opts.Seed)
	e.Ratio, e.P, e.Interval = math.Exp(t.Estimate), t.P, ratios(t)
	return d
}

// ratios are the ends of an interval of logarithms, nil where it has none.
func ratios(t Test) *Interval {
	if math.IsInf(t.Low, 0) || math.IsInf(t.High, 0) {
		return nil
	}
	return &Interval{math.Exp(t.Low), math.Exp(t.High)}
}

func medianOf(runs map[int]*measure.Run, m Metric) float64 {
	var v []float64
	for _, r := range runs {
		if x, ok := m.Of(r); ok {
			v = append(v, x)
		}
	}
	return median(v)
}

// median returns 0 of nothing, the middle one, or the mean of the two.
func median(v []float64) float64 {
	n := len(v)
	if n == 0 {
		return 0
	}
	stat.SortWeighted(v, nil)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}

func welch(p pair, m Metric, alpha float64) *Unpaired {
	logs := func(runs map[int]*measure.Run) (v []float64) {
		for _, r := range runs {
			if x, ok := m.Of(r); ok && x > 0 {
				v = append(v, math.Log(x))
			}
		}
		return v
	}
	t, _ := Welch(logs(p.a), logs(p.b), alpha)
	return &Unpaired{math.Exp(t.Estimate), ratios(t), t.P}
}

// call adjusts the p-values of a table's rows for their number and says what they
// show. It returns how many rows could be tested, and the fewest rounds of one.
func call(rows []*Effect, differences [][]float64, opts Options) (tested, fewest int) {
	var p []float64
	var d [][]float64
	var called []*Effect
	fewest = MostPairs
	for i, row := range rows {
		if row.Verdict == TooFew {
			continue
		}
		called, p, d = append(called, row), append(p, row.P), append(d, differences[i])
		fewest = min(fewest, row.Pairs)
	}
	holm, adjusted := Holm(p), StepDown(d, opts.Seed)
	for i, row := range called {
		row.PHolm, row.PAdjusted = holm[i], max(adjusted[i], p[i])
		switch {
		case row.PAdjusted > opts.Alpha:
			row.Verdict = NoDifference
		case row.Ratio < 1:
			row.Verdict = Lower
		default:
			row.Verdict = Higher
		}
	}
	return len(called), fewest
}
