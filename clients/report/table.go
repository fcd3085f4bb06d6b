package report

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// row is a line of the table: a figure of each run.
type row struct {
	name  string
	value func(c *Cell, r *measure.Run) string
}

// rows are the figures of the table in their order; an empty name parts groups.
var rows = []row{
	{verdictRow, verdict},
	{"", nil},
	{"streams", func(c *Cell, _ *measure.Run) string { return count(int64(c.Streams)) }},
	{"connections", func(c *Cell, _ *measure.Run) string { return count(int64(c.Connections)) }},
	{"HTTP version", func(c *Cell, _ *measure.Run) string { return c.HTTPVersion }},
	{"encoding", func(c *Cell, _ *measure.Run) string { return c.Encoding }},
	{"time to open all", openAll},
	{"connect p50", quantile(connect, p50)},
	{"connect p99", quantile(connect, p99)},
	{"first tick p50", quantile(firstTick, p50)},
	{"", nil},
	{"deliveries/s", deliveriesPerSecond},
	{"latency p50", quantile(latency, p50)},
	{"latency p90", quantile(latency, p90)},
	{"latency p99", quantile(latency, p99)},
	{"latency p99.9", quantile(latency, p999)},
	{"latency max", quantile(latency, maximum)},
	{"p99 with conflated", quantile(withConflated, p99)},
	{"first to last p50", firstToLast(p50)},
	{"first to last p99", firstToLast(p99)},
	{"worst mean rank", worstRank},
	{"publish lag p99", quantile(publishLag, p99)},
	{"fleet lag p99", quantile(fleetLag, p99)},
	{"", nil},
	{"exchange CPU/delivery", cpu(server)},
	{"of it system", systemCPU},
	{"exchange collector", gcShare(server)},
	{"fleet CPU/delivery", cpu(fleet)},
	{"idle memory/stream", idleMemory},
	{"exchange memory/stream", func(_ *Cell, r *measure.Run) string { return memory(r.Server, true) }},
	{"exchange memory", func(_ *Cell, r *measure.Run) string { return memory(r.Server, false) }},
	{"fleet memory", func(_ *Cell, r *measure.Run) string { return memory(r.Fleet, false) }},
	{"wire bytes/delivery", wireBytes},
	{"of them framing", framingBytes},
	{"segments/delivery", segments},
	{"", nil},
	{"due", func(_ *Cell, r *measure.Run) string { return count(r.Due) }},
	{"received", func(_ *Cell, r *measure.Run) string { return count(r.Received) }},
	{"conflated", func(_ *Cell, r *measure.Run) string { return count(r.Conflated) }},
	{"dropped", func(_ *Cell, r *measure.Run) string { return count(r.Dropped) }},
	{"missed", func(_ *Cell, r *measure.Run) string { return count(r.Missed) }},
	{"duplicated", func(_ *Cell, r *measure.Run) string { return count(r.Duplicated) }},
	{"reordered", func(_ *Cell, r *measure.Run) string { return count(r.Reordered) }},
}

// WriteTable writes a column for every cell, and below it why runs are not valid or
// are saturated. Where a cell has several runs the figures are medians over those
// that are usable, or over all where none is. A figure that was not measured is a
// dash.
func WriteTable(w io.Writer, r *Results) error {
	if _, err := io.WriteString(w, streamsGrid(r).text()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func streamsGrid(r *Results) *grid {
	columns := columnsOf(r)
	line := func(first string, text func(c *column) string) []string {
		texts := []string{first}
		for i := range columns {
			texts = append(texts, text(&columns[i]))
		}
		return texts
	}
	g := &grid{head: line("", func(c *column) string { return c.title })}
	for _, row := range rows {
		text := func(c *column) string { return row.value(c.cell, c.run) }
		switch {
		case row.value == nil:
			text = func(*column) string { return "" }
		case row.name == verdictRow:
			text = func(c *column) string { return c.verdict }
		}
		g.lines = append(g.lines, line(row.name, text))
	}
	if note := codecNote(r); note != "" {
		g.notes = append(g.notes, note)
	}
	for _, c := range columns {
		for n, run := range c.cell.Runs {
			title := c.title
			if len(c.cell.Runs) > 1 {
				title += fmt.Sprintf(", round %d", cmp.Or(run.Round, n+1))
			}
			for _, reason := range run.Reasons {
				g.notes = append(g.notes, title+": "+reason)
			}
			if run.Injected != nil {
				g.notes = append(g.notes, title+": "+injected(run.Injected))
			}
		}
	}
	if bad := unusable(r); bad > 0 {
		g.notes = append(g.notes, "", fmt.Sprintf("%d of %d runs are invalid or saturated: leave them out, and repeat on a quieter machine, with a lower rate or fewer streams.", bad, runs(r)))
	}
	return g
}

const verdictRow = "verdict"

// column is a cell with its only run, or the medians of its runs.
type column struct {
	title, verdict string
	cell           *Cell
	run            *measure.Run
}

func columnsOf(r *Results) []column {
	labels := cellNames(r)
	var columns []column
	for i := range r.Cells {
		c := &r.Cells[i]
		switch len(c.Runs) {
		case 0:
			continue
		case 1:
			columns = append(columns, column{labels[i], verdict(c, c.Runs[0]), c, c.Runs[0]})
			continue
		}
		usable := c.Usable()
		said := fmt.Sprintf("%d of %d valid", len(usable), len(c.Runs))
		if len(usable) == 0 {
			usable = c.Runs
		}
		columns = append(columns, column{labels[i], said, c, measure.MedianRun(usable)})
	}
	return columns
}

// Usable are the runs that a comparison may use: valid and not saturated.
func (c *Cell) Usable() []*measure.Run {
	var usable []*measure.Run
	for _, run := range c.Runs {
		if run.Valid && !run.Saturated {
			usable = append(usable, run)
		}
	}
	return usable
}

func verdict(_ *Cell, r *measure.Run) string { return verdictOf(r.Valid, r.Saturated) }

func verdictOf(valid, saturated bool) string {
	switch {
	case saturated && !valid:
		return "invalid, saturated"
	case saturated:
		return "saturated"
	case valid:
		return "valid"
	}
	return "invalid"
}

func connect(r *measure.Run) *measure.Quantiles       { return r.Connect }
func firstTick(r *measure.Run) *measure.Quantiles     { return r.FirstTick }
func latency(r *measure.Run) *measure.Quantiles       { return r.Latency }
func withConflated(r *measure.Run) *measure.Quantiles { return r.LatencyWithConflated }
func publishLag(r *measure.Run) *measure.Quantiles    { return r.PublishLag }
func fleetLag(r *measure.Run) *measure.Quantiles      { return r.FleetLag }
func p50(q *measure.Quantiles) int64                  { return q.P50 }
func p90(q *measure.Quantiles) int64                  { return q.P90 }
func p99(q *measure.Quantiles) int64                  { return q.P99 }
func p999(q *measure.Quantiles) int64                 { return q.P999 }
func maximum(q *measure.Quantiles) int64              { return q.Max }
func server(r *measure.Run) *measure.Cost             { return r.Server }
func fleet(r *measure.Run) *measure.Cost              { return r.Fleet }

func quantile(of func(*measure.Run) *measure.Quantiles, which func(*measure.Quantiles) int64) func(*Cell, *measure.Run) string {
	return func(_ *Cell, r *measure.Run) string {
		if q := of(r); q != nil {
			return duration(which(q))
		}
		return "-"
	}
}

func cpu(of func(*measure.Run) *measure.Cost) func(*Cell, *measure.Run) string {
	return func(_ *Cell, r *measure.Run) string {
		if c := of(r); c != nil && c.CPUNSPerDelivery != nil {
			return fmt.Sprintf("%.1f µs", float64(*c.CPUNSPerDelivery)/1e3)
		}
		return "-"
	}
}

func memory(c *measure.Cost, perStream bool) string {
	switch {
	case c == nil || c.RSSBytes == 0 || perStream && c.RSSBytesPerStream == 0:
		return "-"
	case perStream:
		return fmt.Sprintf("%.1f KiB", float64(c.RSSBytesPerStream)/(1<<10))
	}
	return fmt.Sprintf("%.0f MiB", float64(c.RSSBytes)/(1<<20))
}

func wireBytes(_ *Cell, r *measure.Run) string {
	if r.WireBytesPerDelivery == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *r.WireBytesPerDelivery)
}

func runs(r *Results) (n int) {
	for _, c := range r.Cells {
		n += len(c.Runs)
	}
	return n
}

func unusable(r *Results) (n int) {
	for i := range r.Cells {
		n += len(r.Cells[i].Runs) - len(r.Cells[i].Usable())
	}
	return n
}

func openAll(_ *Cell, r *measure.Run) string {
	if r.OpenAllNS == 0 {
		return "-"
	}
	return duration(r.OpenAllNS)
}

func deliveriesPerSecond(_ *Cell, r *measure.Run) string {
	if r.DurationNS == 0 {
		return "-"
	}
	return count(int64(float64(r.Received)/time.Duration(r.DurationNS).Seconds() + 0.5))
}

// duration writes ns with three digits, which is what they are exact to, in the
// unit that suits.
func duration(ns int64) string {
	v, unit := float64(ns), "ns"
	for _, next := range []string{"µs", "ms", "s"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, next
	}
	digits := 0
	switch {
	case unit == "ns":
	case v < 9.995:
		digits = 2
	case v < 99.95:
		digits = 1
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " " + unit
}

// count writes an integer with its thousands parted.
func count(n int64) string {
	s := strconv.FormatInt(n, 10)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
