package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// ratios compares two results figure by figure, where both have runs of the same
// cell that may be compared: the medians over those runs, with their intervals, and the
// second by the first. What is tested are the figures of tested; the others stand
// without a verdict, since each more would make all verdicts harder to have.
func ratios(a, b Named) *grid {
	t := &apartTable{}
	for i, name := range cellNames(a.Results) {
		c := a.Cells[i]
		j := slices.IndexFunc(b.Cells, func(have Cell) bool { return have.Cell == c.Cell })
		if j < 0 {
			t.note("%s: only in %s", name, oneLine(a.Name))
			continue
		}
		compared(t, name, streamFigures, c.Usable(), b.Cells[j].Usable())
	}
	for j, name := range cellNames(b.Results) {
		if !slices.ContainsFunc(a.Cells, func(have Cell) bool { return have.Cell == b.Cells[j].Cell }) {
			t.note("%s: only in %s", name, oneLine(b.Name))
		}
	}
	from, names := ordersByKey(a.Orders)
	to, others := ordersByKey(b.Orders)
	for _, key := range names {
		if len(to[key]) == 0 {
			t.note("%s: only in %s", orderName(from[key][0]), oneLine(a.Name))
			continue
		}
		compared(t, orderName(from[key][0]), orderFigures, usableOrders(from[key]), usableOrders(to[key]))
	}
	for _, key := range others {
		if len(from[key]) == 0 {
			t.note("%s: only in %s", orderName(to[key][0]), oneLine(b.Name))
		}
	}
	for _, what := range unlike(a.Results, b.Results) {
		t.note("the two differ in %s", what)
	}
	return t.grid()
}

// tested are the units of the figures that get a verdict: no more than 20 in the default
// comparison, for which six runs on each side can still show one.
var tested = []string{"p50-ns", "p99-ns", "exchange-CPU-ns/delivery", "exchange-B/stream", "orders/s"}

// apartTable is the table while its rows are not called yet.
type apartTable struct {
	rows  []apartRow
	notes []string
}

type apartRow struct {
	name, unit string
	compare.Apart
	tested bool
}

func (t *apartTable) note(format string, args ...any) {
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// compared adds a line for each figure that both have.
func compared[T any](t *apartTable, name string, figures []runFigure[T], from, to []T) {
	if len(from) == 0 || len(to) == 0 {
		t.note("%s: no valid run on one side", name)
		return
	}
	for _, f := range figures {
		x, y := values(f, from), values(f, to)
		if len(x) > 0 && len(y) > 0 {
			t.rows = append(t.rows, apartRow{name, f.unit, compare.NewApart(x, y), slices.Contains(tested, f.unit)})
		}
	}
}

func values[T any](f runFigure[T], runs []T) (v []float64) {
	for _, run := range runs {
		if x, measured := f.value(run); measured {
			v = append(v, x)
		}
	}
	return v
}

// grid calls the rows and writes them.
func (t *apartTable) grid() *grid {
	var called []*compare.Apart
	for i := range t.rows {
		if t.rows[i].tested {
			called = append(called, &t.rows[i].Apart)
		}
	}
	compare.CallApart(called)
	g := &grid{head: []string{"", "figure", "runs", "from", "to", "to/from", "p", "of all rows", "verdict"}, notes: t.notes}
	for i := range t.rows {
		r := &t.rows[i]
		if i > 0 && t.rows[i-1].name != r.name {
			g.lines = append(g.lines, make([]string, len(g.head)))
		}
		line := []string{r.name, r.unit, fmt.Sprintf("%d, %d", r.A.Runs, r.B.Runs), around(r.A), around(r.B), "-", "", "", ""}
		if r.Ratio != 0 {
			line[5] = strconv.FormatFloat(r.Ratio, 'f', 3, 64)
		}
		if r.tested {
			line[8] = string(r.Verdict)
			if r.Verdict != compare.TooFew {
				line[6], line[7] = probability(r.P), probability(r.PAdjusted)
			}
		}
		g.lines = append(g.lines, line)
	}
	return g
}

// around is a median with how far its interval reaches, where it has one.
func around(s compare.Side) string {
	text := plain(s.Median)
	if s.Runs < plan.MinRounds || s.Median == 0 {
		return text
	}
	far := max(s.High-s.Median, s.Median-s.Low) / math.Abs(s.Median)
	return fmt.Sprintf("%s ±%.0f%%", text, 100*far)
}

// unlike is what makes two results hard to compare.
func unlike(a, b *Results) (what []string) {
	for _, d := range []struct {
		name     string
		from, to any
	}{
		{"the processor", a.Host.CPUModel, b.Host.CPUModel}, {"the CPUs", a.Host.CPUs, b.Host.CPUs}, {"the kernel", a.Host.Kernel, b.Host.Kernel},
		{"the version of Go", a.Host.Go, b.Host.Go}, {"the version of tickgauge", a.Version, b.Version},
		{"the window", time.Duration(a.DurationNS), time.Duration(b.DurationNS)}, {"the warm-up", time.Duration(a.WarmupNS), time.Duration(b.WarmupNS)},
		{"the seed", a.Seed, b.Seed}, {"the source", a.Source, b.Source},
	} {
		if d.from != d.to {
			what = append(what, fmt.Sprintf("%s: %s, then %s", d.name, oneLine(fmt.Sprint(d.from)), oneLine(fmt.Sprint(d.to))))
		}
	}
	return what
}

func usableOrders(all []*measure.Orders) (usable []*measure.Orders) {
	for _, o := range all {
		if o.Valid && !o.Saturated {
			usable = append(usable, o)
		}
	}
	return usable
}

// ordersByKey groups runs of orders, the keys in the order of their first runs.
func ordersByKey(runs []*measure.Orders) (map[orderKey][]*measure.Orders, []orderKey) {
	groups := map[orderKey][]*measure.Orders{}
	var keys []orderKey
	for _, o := range runs {
		key := keyOf(o)
		if len(groups[key]) == 0 {
			keys = append(keys, key)
		}
		groups[key] = append(groups[key], o)
	}
	return groups, keys
}
