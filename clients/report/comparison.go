package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tickgauge/tickgauge/clients/compare"
)

// Inputs are the cells as package compare takes them. Those with orders beside are
// left out: their figures are of both.
func (r *Results) Inputs() []compare.Input {
	var inputs []compare.Input
	for i := range r.Cells {
		c := &r.Cells[i]
		if c.OrdersBeside > 0 && c.OrderPath == "" {
			continue // the phase of orders, which is of no round
		}
		inputs = append(inputs, compare.Input{Cell: c.Cell, Runs: c.Runs})
	}
	return inputs
}

// Rounds is how many rounds the cell with the most of them has.
func (r *Results) Rounds() (n int) {
	for i := range r.Cells {
		n = max(n, len(r.Cells[i].Runs))
	}
	return n
}

// comparisonGrids are what the rounds show: a row for every metric of two cells,
// then what encoding and what transport does, where the cells tell.
func comparisonGrids(c *compare.Comparison) []*grid {
	if c == nil || len(c.Rows) == 0 {
		return nil
	}
	percent := strconv.FormatFloat(100*c.Confidence, 'g', 3, 64) + "%"
	rows := &grid{head: []string{"figure", "of", "against", "rounds", "ratio", percent + " interval", "p", "of all rows", "verdict"}}
	for i := range c.Rows {
		r := &c.Rows[i]
		rows.lines = append(rows.lines, append([]string{metricName(r.Metric), r.CellB, r.CellA}, effect(&r.Effect)...))
	}
	grids := []*grid{rows}
	if len(c.TwoWay) > 0 {
		factors := &grid{head: []string{"figure", "what it does", "ratio of", "to", "rounds", "ratio", percent + " interval", "p", "of all rows", "verdict"}}
		for i := range c.TwoWay {
			r := &c.TwoWay[i]
			factors.lines = append(factors.lines, append([]string{metricName(r.Metric), r.Factor, r.B, r.A}, effect(&r.Effect)...))
		}
		grids = append(grids, factors)
	}
	grids[len(grids)-1].notes = c.Notes
	return grids
}

func metricName(name string) string {
	return strings.NewReplacer(".", " ", "_", " ", "cpu per", "CPU/", "memory per ", "memory/").Replace(name)
}

func effect(e *compare.Effect) []string {
	if e.Ratio == 0 {
		return []string{strconv.Itoa(e.Pairs), "-", "-", "-", "-", string(e.Verdict)}
	}
	interval := "-"
	if e.Interval != nil {
		interval = ratio(e.Interval.Low) + " to " + ratio(e.Interval.High)
	}
	return []string{strconv.Itoa(e.Pairs), ratio(e.Ratio), interval, probability(e.P), probability(e.PAdjusted), string(e.Verdict)}
}

func ratio(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return strconv.FormatFloat(p, 'f', 3, 64)
}

// thresholdsGrid has a sentence for every threshold on every cell.
func thresholdsGrid(outcomes []compare.Outcome) *grid {
	g := new(grid)
	for _, o := range outcomes {
		said := "pass"
		if !o.Pass {
			said = "FAIL"
		}
		value := "no usable run has the figure"
		if o.Runs > 0 {
			value = fmt.Sprintf("%s, median of %d", figure(o.Value, o.Unit), o.Runs)
		}
		g.notes = append(g.notes, fmt.Sprintf("%s  %s  (%s: %s)", said, strings.TrimSpace(o.Threshold), o.Cell, value))
	}
	return g
}

// Holds reports whether all thresholds hold.
func (r *Results) Holds() bool {
	return !slices.ContainsFunc(r.Thresholds, func(o compare.Outcome) bool { return !o.Pass })
}

func figure(v float64, unit string) string {
	switch unit {
	case "ns":
		return duration(int64(v))
	case "bytes":
		return fmt.Sprintf("%.1f KiB", v/(1<<10))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
