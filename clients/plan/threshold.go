package plan

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// Threshold is what is expected of a figure, over the median of a cell's usable
// runs: "grpc.latency.p99 < 5ms".
type Threshold struct {
	Text   string  // as it was given
	Cell   string  // a cell's label, its name of Names, or a transport; * is every cell
	Figure string  // such as latency.p99
	Op     string  // <, <=, > or >=
	Value  float64 // ns, bytes, or a plain number, as Unit says
	Unit   string  // ns, bytes, or empty

	line int
}

const thresholdExample = "grpc.latency.p99 < 5ms"

// A cell's label may have dots in quotes.
var thresholdForm = regexp.MustCompile(`^\s*(?:"([^"]+)"|([^".<>]+))\.([a-z_]+(?:\.[a-z0-9_]+)*)\s*(<=|>=|<|>)\s*(\S+(?: \S+)?)\s*$`)

var sizes = []struct {
	unit  string
	bytes float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

var quantity = regexp.MustCompile(`^([0-9.eE+-]+) ?([A-Za-zµμ%]*)$`)

// ParseThreshold reads one. Which figures there are is checked where they are known.
func ParseThreshold(s string) (Threshold, error) {
	m := thresholdForm.FindStringSubmatch(s)
	if m == nil {
		return Threshold{}, fmt.Errorf("threshold %q: want CELL.FIGURE < VALUE, such as %q; CELL may be *, and with a dot in it stands in quotes", s, thresholdExample)
	}
	t := Threshold{Text: s, Cell: m[1] + m[2], Figure: m[3], Op: m[4]}
	var err error
	if t.Value, t.Unit, err = parseQuantity(m[5]); err != nil {
		return Threshold{}, fmt.Errorf("threshold %q: %w", s, err)
	}
	return t, nil
}

func parseQuantity(s string) (value float64, unit string, err error) {
	m := quantity.FindStringSubmatch(s)
	if m == nil {
		return 0, "", fmt.Errorf("%q is no value; want a duration such as 5ms, a size such as 40KiB, or a number", s)
	}
	if value, err = strconv.ParseFloat(m[1], 64); err != nil {
		return 0, "", fmt.Errorf("%q is no number", m[1])
	}
	if m[2] == "" {
		return value, "", nil
	}
	for _, size := range sizes {
		if m[2] == size.unit {
			return value * size.bytes, "bytes", nil
		}
	}
	d, err := time.ParseDuration(m[1] + m[2])
	if err != nil {
		return 0, "", fmt.Errorf("%q has an unknown unit; want a duration (ns, us, ms, s), a size (B, KiB, MiB, kB, MB) or none", s)
	}
	return float64(d), "ns", nil
}

// Holds reports whether a figure is as the threshold wants it.
func (t Threshold) Holds(figure float64) bool {
	switch t.Op {
	case "<":
		return figure < t.Value
	case "<=":
		return figure <= t.Value
	case ">":
		return figure > t.Value
	}
	return figure >= t.Value
}

// Matches reports whether the threshold is about a cell, which has the label given
// among those of its comparison.
func (t Threshold) Matches(c Cell, label string) bool {
	if t.Cell == "*" || t.Cell == label || t.Cell == c.Name() {
		return true
	}
	if c.OrdersBeside > 0 {
		return false // only by its own name: what it measures is something else
	}
	if t.Cell == c.Transport {
		return true
	}
	for _, choice := range choices {
		if t.Cell == choice.name && choice.transport == c.Transport && choice.version == c.HTTPVersion && choice.shared == (c.Connections != c.Streams) {
			return true
		}
	}
	return false
}

// CheckThresholds returns, with their lines, what is wrong with the thresholds:
// those about no cell of the plan, and what check says of the others.
func (p *Plan) CheckThresholds(check func(Threshold) error) error {
	f := Faults{File: p.file}
	labels := Labels(p.Cells)
	for _, t := range p.Thresholds {
		matched := false
		for i, c := range p.Cells {
			matched = matched || t.Matches(c, labels[i])
		}
		if !matched {
			f.add(t.line, "threshold %q: no cell is called %q; the plan has %q", t.Text, t.Cell, labels)
			continue
		}
		if err := check(t); err != nil {
			f.add(t.line, "threshold %q: %w", t.Text, err)
		}
	}
	return f.err()
}
