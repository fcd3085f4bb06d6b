package compare

import (
	"math"
	"slices"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// TwoWay parts what the encoding does from what the transport does, of cells that
// have every transport in both encodings and are alike in all else. Each effect is a
// contrast of logarithms within a round, tested over the rounds as a row is.
type TwoWay struct {
	Metric string `json:"metric"`
	Factor string `json:"factor"` // encoding, transport or interaction
	// What is compared, as ratios of the second by the first: two encodings over the
	// mean of the transports, two transports over the mean of the encodings; or, of the
	// interaction, how much more the second encoding costs on the second transport.
	A string `json:"a"`
	B string `json:"b"`
	Effect
}

// grid is the cells of a two-way table: runs[transport][encoding] by round.
type grid struct {
	transports, encodings []string
	runs                  map[string]map[string]map[int]*measure.Run
	rounds                int // the last
}

// gridOf finds the cells that differ from the first in transport, HTTP version and
// sharing of connections, and in encoding, but in nothing else.
func gridOf(cells []Input) *grid {
	if len(cells) == 0 {
		return nil
	}
	alike := func(c plan.Cell) plan.Cell {
		c.Transport, c.HTTPVersion, c.Encoding, c.Connections = "", "", "", 0
		return c
	}
	g := &grid{runs: make(map[string]map[string]map[int]*measure.Run)}
	for _, in := range cells {
		if alike(in.Cell) != alike(cells[0].Cell) {
			continue
		}
		t, e := in.Cell.Name(), in.Cell.Encoding
		if g.runs[t] == nil {
			g.runs[t] = make(map[string]map[int]*measure.Run)
			g.transports = append(g.transports, t)
		}
		if !slices.Contains(g.encodings, e) {
			g.encodings = append(g.encodings, e)
		}
		runs := usable(in.Runs)
		g.runs[t][e] = runs
		for round := range runs {
			g.rounds = min(max(g.rounds, round), MostPairs)
		}
	}
	g.transports = slices.DeleteFunc(g.transports, func(t string) bool { return len(g.runs[t]) != len(g.encodings) })
	if len(g.transports) < 2 || len(g.encodings) != 2 {
		return nil
	}
	return g
}

// log returns the logarithm of a metric, false where there is none.
func (g *grid) log(transport, encoding string, round int, m Metric) (float64, bool) {
	v, ok := m.Of(g.runs[transport][encoding][round])
	return math.Log(v), ok && v > 0
}

// contrasts returns weighted sums of logarithms by round, NaN where a round has not
// all of them.
func (g *grid) contrasts(m Metric, weight func(transport, encoding string) float64) []float64 {
	byRound := make([]float64, g.rounds)
	for i := range byRound {
		for _, t := range g.transports {
			for _, e := range g.encodings {
				w := weight(t, e)
				if w == 0 {
					continue
				}
				v, ok := g.log(t, e, i+1, m)
				if !ok {
					v = math.NaN()
				}
				byRound[i] += w * v
			}
		}
	}
	return byRound
}

// complete counts the rounds in which the transports given have usable runs of every
// encoding.
func (g *grid) complete(transports ...string) (n int) {
	for round := 1; round <= g.rounds; round++ {
		if !slices.ContainsFunc(transports, func(t string) bool {
			return slices.ContainsFunc(g.encodings, func(e string) bool { return g.runs[t][e][round] == nil })
		}) {
			n++
		}
	}
	return n
}

// narrow leaves out transports, those with the fewest complete rounds first, until the
// others have enough rounds together: one that is too much for the machine would cost
// all their answers. Where that leaves fewer than two, none is left out.
func (g *grid) narrow() (left []string) {
	kept := slices.Clone(g.transports)
	for len(kept) > 2 && g.complete(kept...) < plan.MinRounds {
		worst := slices.MinFunc(kept, func(a, b string) int { return g.complete(a) - g.complete(b) })
		kept = slices.DeleteFunc(kept, func(t string) bool { return t == worst })
		left = append(left, worst)
	}
	if g.complete(kept...) < plan.MinRounds {
		return nil
	}
	g.transports = kept
	return left
}

// twoWay returns the table, and which transports it leaves out.
func twoWay(cells []Input, opts Options) (table []TwoWay, left []string) {
	table = []TwoWay{}
	g := gridOf(cells)
	if g == nil {
		return table, nil
	}
	left = g.narrow()
	first, second := g.encodings[0], g.encodings[1]
	sign := func(e string) float64 {
		if e == second {
			return 1
		}
		return -1
	}
	n := float64(len(g.transports))
	var differences [][]float64
	for _, m := range Compared() {
		add := func(factor, a, b string, weight func(transport, encoding string) float64) {
			d := g.contrasts(m, weight)
			row := TwoWay{Metric: m.Name, Factor: factor, A: a, B: b}
			row.test(d, opts)
			table, differences = append(table, row), append(differences, d)
		}
		add("encoding", first, second, func(_, e string) float64 { return sign(e) / n })
		base := g.transports[0]
		for _, other := range g.transports[1:] {
			side := func(t string) float64 {
				switch t {
				case other:
					return 1
				case base:
					return -1
				}
				return 0
			}
			add("transport", base, other, func(t, _ string) float64 { return side(t) / 2 })
			add("interaction", base+" "+first, other+" "+second, func(t, e string) float64 { return side(t) * sign(e) })
		}
	}
	effects := make([]*Effect, len(table))
	for i := range table {
		effects[i] = &table[i].Effect
	}
	call(effects, differences, opts)
	return table, left
}
