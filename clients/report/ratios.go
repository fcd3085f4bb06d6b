package report

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// ratios compares two results figure by figure, where both have runs of the same
// cell that may be compared: medians over those runs, as in the tables, and the second
// by the first. It says nothing of chance: intervals belong into a column of their
// own, from the runs that compared is given.
func ratios(a, b Named) *grid {
	g := &grid{head: []string{"", "figure", "from", "to", "to/from"}}
	for i, name := range cellNames(a.Results) {
		c := a.Cells[i]
		j := slices.IndexFunc(b.Cells, func(have Cell) bool { return have.Cell == c.Cell })
		if j < 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", name, oneLine(a.Name)))
			continue
		}
		compared(g, name, streamFigures, measure.MedianRun, c.Usable(), b.Cells[j].Usable())
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
		compared(g, orderName(from[key][0]), orderFigures, measure.MedianOrders, usableOrders(from[key]), usableOrders(to[key]))
	}
	for _, key := range others {
		if len(from[key]) == 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: only in %s", orderName(to[key][0]), oneLine(b.Name)))
		}
	}
	return g
}

// compared adds a line for each figure that both have. It is given all runs, not
// their medians alone, for what is to say how sure a ratio is.
func compared[T any](g *grid, name string, figures []runFigure[T], median func([]T) T, from, to []T) {
	if len(from) == 0 || len(to) == 0 {
		g.notes = append(g.notes, name+": no valid run on one side")
		return
	}
	if len(g.lines) > 0 {
		g.lines = append(g.lines, make([]string, len(g.head)))
	}
	a, b := median(from), median(to)
	for _, f := range figures {
		x, known := f.value(a)
		y, alsoKnown := f.value(b)
		if !known || !alsoKnown {
			continue
		}
		ratio := "-"
		if x != 0 {
			ratio = strconv.FormatFloat(y/x, 'f', 3, 64)
		}
		g.lines = append(g.lines, []string{name, f.unit, plain(x), plain(y), ratio})
	}
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
