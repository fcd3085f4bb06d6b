package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// orderColumns are the figures of a row of the order table, in their order.
var orderColumns = []struct {
	name  string
	value func(o *measure.Orders) string
}{
	{"path", orderPath},
	{"load", load},
	{"connections", func(o *measure.Orders) string { return count(int64(o.Connections)) }},
	{"beside", beside},
	{"verdict", func(o *measure.Orders) string { return verdictOf(o.Valid, o.Saturated) }},
	{"sent", func(o *measure.Orders) string { return count(o.Sent) }},
	{"filled", func(o *measure.Orders) string { return count(o.Filled) }},
	{"rejected", func(o *measure.Orders) string { return count(o.Rejected) }},
	{"failed", failed},
	{"orders/s", func(o *measure.Orders) string { return count(int64(o.Throughput + 0.5)) }},
	{"p50", orderQuantile(orderLatency, p50)},
	{"p90", orderQuantile(orderLatency, p90)},
	{"p99", orderQuantile(orderLatency, p99)},
	{"p99.9", orderQuantile(orderLatency, p999)},
	{"max", orderQuantile(orderLatency, maximum)},
	{"service", orderQuantile(func(o *measure.Orders) *measure.Quantiles { return o.Service }, p50)},
	{"p99 + service", orderQuantile(func(o *measure.Orders) *measure.Quantiles { return o.LatencyWithService }, p99)},
	{"exchange CPU/order", func(o *measure.Orders) string { return cpuPerOrder(o.ServerCPUNSPerOrder) }},
	{"trader CPU/order", func(o *measure.Orders) string { return cpuPerOrder(o.ClientCPUNSPerOrder) }},
}

// WriteOrders writes a row for every run of a trader, and below them why runs are
// not valid or are saturated. A figure that was not measured is a dash; a column
// that no run has is left out.
func WriteOrders(w io.Writer, runs []*measure.Orders) error {
	if _, err := io.WriteString(w, ordersGrid(runs).text()); err != nil {
		return fmt.Errorf("write order table: %w", err)
	}
	return nil
}

func ordersGrid(runs []*measure.Orders) *grid {
	var g grid
	shown := orderColumns[:0:0]
	for _, c := range orderColumns {
		for _, o := range runs {
			if c.value(o) != "-" {
				shown = append(shown, c)
				g.head = append(g.head, c.name)
				break
			}
		}
	}
	bad := 0
	for _, o := range runs {
		var line []string
		for _, c := range shown {
			line = append(line, c.value(o))
		}
		g.lines = append(g.lines, line)
		name := orderName(o)
		for _, reason := range o.Reasons {
			g.notes = append(g.notes, name+": "+reason)
		}
		if o.FirstFailure != "" && o.Failed < o.Sent {
			g.notes = append(g.notes, fmt.Sprintf("%s: %d failed, the first: %s", name, o.Failed, o.FirstFailure))
		}
		if o.FirstRejection != "" && o.Acked > 0 {
			g.notes = append(g.notes, fmt.Sprintf("%s: %d rejected, the first: %s", name, o.Rejected, o.FirstRejection))
		}
		if o.Acked > 0 && (!o.Valid || o.Saturated) { // the others want mending, not repeating
			bad++
		}
	}
	if bad > 0 {
		g.notes = append(g.notes, "", fmt.Sprintf("%d of %d runs of orders are invalid or saturated: leave them out, and repeat on a quieter machine, with a lower rate or more workers.", bad, len(runs)))
	}
	return &g
}

func orderPath(o *measure.Orders) string {
	path := fmt.Sprintf("%s h%s %s", o.Path, strings.TrimSuffix(o.HTTPVersion, ".1"), o.Encoding)
	if o.TLS {
		path += " tls"
	}
	if o.Compression != "" {
		path += " " + o.Compression
	}
	return path
}

func load(o *measure.Orders) string {
	switch {
	case o.Rate >= 10:
		return fmt.Sprintf("%s/s", count(int64(o.Rate+0.5)))
	case o.Rate > 0:
		return fmt.Sprintf("%.3g/s", o.Rate)
	}
	return fmt.Sprintf("%s workers", count(int64(o.Workers)))
}

// failed has the share too, where there is one.
func failed(o *measure.Orders) string {
	if o.Failed == 0 {
		return "0"
	}
	share, form := 100*float64(o.Failed)/float64(max(o.Sent, 1)), "%s (%.2g%%)"
	if share >= 10 {
		form = "%s (%.0f%%)"
	}
	return fmt.Sprintf(form, count(o.Failed), share)
}

func beside(o *measure.Orders) string {
	if o.StreamsBeside == 0 {
		return "-"
	}
	return fmt.Sprintf("%s %s", count(int64(o.StreamsBeside)), o.StreamsTransport)
}

func orderLatency(o *measure.Orders) *measure.Quantiles { return o.Latency }

func orderQuantile(of func(*measure.Orders) *measure.Quantiles, which func(*measure.Quantiles) int64) func(*measure.Orders) string {
	return func(o *measure.Orders) string {
		if q := of(o); q != nil {
			return duration(which(q))
		}
		return "-"
	}
}

func cpuPerOrder(ns *int64) string {
	if ns == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f µs", float64(*ns)/1e3)
}
