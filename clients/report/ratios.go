package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// ratios compares two results figure by figure, where both have runs of the same
// cell that may be compared: medians over those runs, and the second by the first.
// It says nothing of chance: intervals belong into a column of their own, from the
// values that compared is given.
func ratios(a, b Named) *grid {
	g := &grid{head: []string{"", "figure", "from", "to", "to/from"}}
	for i, name := range cellNames(a.Results) {
		c := a.Cells[i]
		j := slices.IndexFunc(b.Cells, func(have Cell) bool { return have.Cell == c.Cell })
		if j < 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", name, oneLine(a.Name)))
			continue
		}
		compared(g, name, streamFigures, c.Usable(), b.Cells[j].Usable())
	}
	for j, name := range cellNames(b.Results) {
		if !slices.ContainsFunc(a.Cells, func(have Cell) bool { return have.Cell == b.Cells[j].Cell }) {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", name, oneLine(b.Name)))
		}
	}
	from, names := ordersByKey(a.Orders)
	to, others := ordersByKey(b.Orders)
	for _, key := range names {
		if len(to[key]) == 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", orderName(from[key][0]), oneLine(a.Name)))
			continue
		}
		compared(g, orderName(from[key][0]), orderFigures, usableOrders(from[key]), usableOrders(to[key]))
	}
	for _, key := range others {
		if len(from[key]) == 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", orderName(to[key][0]), oneLine(b.Name)))
		}
	}
	return g
}

// compared adds a line for each figure that both have.
func compared[T any](g *grid, name string, figures []runFigure[T], from, to []T) {
	if len(from) == 0 || len(to) == 0 {
		g.notes = append(g.notes, name+": no valid run on one side")
		return
	}
	if len(g.lines) > 0 {
		g.lines = append(g.lines, make([]string, len(g.head)))
	}
	for _, f := range figures {
		a, b := valuesOf(f, from), valuesOf(f, to)
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		x, y, ratio := median(a), median(b), "-"
		if x != 0 {
			ratio = strconv.FormatFloat(y/x, 'f', 3, 64)
		}
		g.lines = append(g.lines, []string{name, f.unit, plain(x), plain(y), ratio})
	}
}

func valuesOf[T any](f runFigure[T], runs []T) []float64 {
	var values []float64
	for _, r := range runs {
		if v, ok := f.value(r); ok {
			values = append(values, v)
		}
	}
	return values
}

// median is the middle value, of an even number the mean of the two.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
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
