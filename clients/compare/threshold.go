package compare

import "github.com/tickgauge/tickgauge/clients/plan"

// Outcome is what became of a threshold on a cell.
type Outcome struct {
	Threshold string  `json:"threshold"`
	Cell      string  `json:"cell"`  // label
	Value     float64 `json:"value"` // median over the usable runs, in Unit
	Unit      string  `json:"unit"`  // ns, bytes or none
	Runs      int     `json:"runs"`  // usable ones that have the figure; 0 fails
	Pass      bool    `json:"pass"`
}

// Check holds the medians of the cells' usable runs against thresholds. One that is
// about a cell without a usable run fails.
func Check(thresholds []plan.Threshold, cells []Input) []Outcome {
	plain := make([]plan.Cell, len(cells))
	for i, c := range cells {
		plain[i] = c.Cell
	}
	labels := plan.Labels(plain)
	outcomes := []Outcome{}
	for _, t := range thresholds {
		m, _ := find(t.Figure) // an unknown one has no values
		for i, c := range cells {
			if !t.Matches(c.Cell, labels[i]) {
				continue
			}
			o := Outcome{Threshold: t.Text, Cell: labels[i], Unit: t.Unit}
			var values []float64
			for _, r := range c.Runs {
				if v, ok := m.Of(r); ok && r.Valid && !r.Saturated {
					values = append(values, v)
				}
			}
			if o.Runs = len(values); o.Runs > 0 {
				o.Value = median(values)
				o.Pass = t.Holds(o.Value)
			}
			outcomes = append(outcomes, o)
		}
	}
	return outcomes
}
