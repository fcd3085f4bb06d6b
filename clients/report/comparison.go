package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

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

// WriteComparison writes what the rounds show: a row for every metric of two cells,
// then what encoding and what transport does, where the cells tell.
func WriteComparison(w io.Writer, c *compare.Comparison) error {
	if len(c.Rows) == 0 {
		return nil
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(fields ...string) { _, _ = fmt.Fprint(tw, strings.Join(fields, "\t"), "\t\n") } // tw keeps the error
	percent := strconv.FormatFloat(100*c.Confidence, 'g', 3, 64) + "%"
	line("figure", "of", "against", "rounds", "ratio", percent+" interval", "p", "of all rows", "verdict")
	for i := range c.Rows {
		r := &c.Rows[i]
		line(append([]string{metricName(r.Metric), r.CellB, r.CellA}, effect(&r.Effect)...)...)
	}
	if err := tw.Flush(); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	if len(c.TwoWay) > 0 {
		_, _ = fmt.Fprint(tw, "\n")
		line("figure", "what it does", "ratio of", "to", "rounds", "ratio", percent+" interval", "p", "of all rows", "verdict")
		for i := range c.TwoWay {
			r := &c.TwoWay[i]
			line(append([]string{metricName(r.Metric), r.Factor, r.B, r.A}, effect(&r.Effect)...)...)
		}
		if err := tw.Flush(); err != nil {
			return fmt.Errorf("write comparison: %w", err)
		}
	}
	for _, note := range c.Notes {
		if _, err := fmt.Fprintf(w, "\n%s\n", note); err != nil {
			return fmt.Errorf("write comparison: %w", err)
		}
	}
	return nil
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

// WriteThresholds writes a line for every threshold on every cell, and reports
// whether all of them hold.
func WriteThresholds(w io.Writer, outcomes []compare.Outcome) (hold bool, err error) {
	hold = true
	for _, o := range outcomes {
		said := "pass"
		if !o.Pass {
			said, hold = "FAIL", false
		}
		value := "no usable run has the figure"
		if o.Runs > 0 {
			value = fmt.Sprintf("%s, median of %d", figure(o.Value, o.Unit), o.Runs)
		}
		if _, err := fmt.Fprintf(w, "%s  %s  (%s: %s)\n", said, strings.TrimSpace(o.Threshold), o.Cell, value); err != nil {
			return hold, fmt.Errorf("write thresholds: %w", err)
		}
	}
	return hold, nil
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
