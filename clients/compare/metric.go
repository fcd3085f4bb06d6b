// Package compare says what repeated runs show: which of two cells is lower, by how
// much, and with what uncertainty, or that there is no difference to be seen. The
// run is the unit.
package compare

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Metric is a figure of a run.
type Metric struct {
	Name string // as thresholds and tables call it, such as latency.p99
	Unit string // ns, bytes, or empty
	of   func(*measure.Run) (float64, bool)
}

// Of returns the figure, false where the run does not have it.
func (m Metric) Of(r *measure.Run) (float64, bool) {
	if r == nil || m.of == nil {
		return 0, false
	}
	return m.of(r)
}

// Compared are the metrics of the table of differences, in its order.
func Compared() []Metric {
	var ms []Metric
	for _, name := range []string{"latency.p50", "latency.p99", "exchange_cpu_per_delivery", "fleet_cpu_per_delivery", "exchange_memory_per_stream"} {
		if m, ok := find(name); ok {
			ms = append(ms, m)
		}
	}
	return ms
}

// Metrics are all figures that thresholds may name.
func Metrics() []Metric {
	var ms []Metric
	for _, d := range []struct {
		name string
		of   func(*measure.Run) *measure.Quantiles
	}{
		{"latency", func(r *measure.Run) *measure.Quantiles { return r.Latency }},
		{"latency_with_conflated", func(r *measure.Run) *measure.Quantiles { return r.LatencyWithConflated }},
		{"decoded_latency", func(r *measure.Run) *measure.Quantiles { return r.DecodedLatency }},
		{"publish_lag", func(r *measure.Run) *measure.Quantiles { return r.PublishLag }},
		{"fleet_lag", func(r *measure.Run) *measure.Quantiles { return r.FleetLag }},
		{"connect", func(r *measure.Run) *measure.Quantiles { return r.Connect }},
		{"first_tick", func(r *measure.Run) *measure.Quantiles { return r.FirstTick }},
		{"first_to_last", firstToLast},
	} {
		ms = append(ms, quantiles(d.name, d.of)...)
	}
	server, fleet := func(r *measure.Run) *measure.Cost { return r.Server }, func(r *measure.Run) *measure.Cost { return r.Fleet }
	ms = append(ms,
		Metric{"open_all", "ns", func(r *measure.Run) (float64, bool) { return float64(r.OpenAllNS), r.OpenAllNS > 0 }},
		cost("exchange_cpu_per_delivery", "ns", server, cpuPerDelivery), cost("fleet_cpu_per_delivery", "ns", fleet, cpuPerDelivery),
		cost("exchange_memory_per_stream", "bytes", server, func(c *measure.Cost) int64 { return c.RSSBytesPerStream }),
		cost("exchange_memory", "bytes", server, func(c *measure.Cost) int64 { return c.RSSBytes }),
		cost("fleet_memory", "bytes", fleet, func(c *measure.Cost) int64 { return c.RSSBytes }),
		optional("wire_bytes_per_delivery", "bytes", func(r *measure.Run) *float64 { return r.WireBytesPerDelivery }),
		optional("framing_bytes_per_delivery", "bytes", func(r *measure.Run) *float64 { return r.FramingBytesPerDelivery }),
		optional("worst_mean_rank", "", func(r *measure.Run) *float64 {
			if r.Fairness == nil {
				return nil
			}
			return &r.Fairness.MeanRank.Max
		}),
	)
	for _, c := range []struct {
		name string
		of   func(*measure.Run) int64
	}{
		{"due", func(r *measure.Run) int64 { return r.Due }}, {"received", func(r *measure.Run) int64 { return r.Received }},
		{"conflated", func(r *measure.Run) int64 { return r.Conflated }}, {"dropped", func(r *measure.Run) int64 { return r.Dropped }},
		{"missed", func(r *measure.Run) int64 { return r.Missed }}, {"duplicated", func(r *measure.Run) int64 { return r.Duplicated }},
		{"reordered", func(r *measure.Run) int64 { return r.Reordered }},
	} {
		ms = append(ms, Metric{c.name, "", func(r *measure.Run) (float64, bool) { return float64(c.of(r)), true }})
	}
	return ms
}

func quantiles(name string, of func(*measure.Run) *measure.Quantiles) []Metric {
	var ms []Metric
	for _, q := range []struct {
		name string
		of   func(*measure.Quantiles) int64
	}{
		{"p50", func(q *measure.Quantiles) int64 { return q.P50 }}, {"p90", func(q *measure.Quantiles) int64 { return q.P90 }},
		{"p99", func(q *measure.Quantiles) int64 { return q.P99 }}, {"p999", func(q *measure.Quantiles) int64 { return q.P999 }},
		{"max", func(q *measure.Quantiles) int64 { return q.Max }}, {"mean", func(q *measure.Quantiles) int64 { return q.Mean }},
	} {
		ms = append(ms, Metric{name + "." + q.name, "ns", func(r *measure.Run) (float64, bool) {
			if all := of(r); all != nil {
				return float64(q.of(all)), true
			}
			return 0, false
		}})
	}
	return ms
}

func firstToLast(r *measure.Run) *measure.Quantiles {
	if r.Fairness == nil || r.Fairness.Spread == nil {
		return nil
	}
	return &r.Fairness.Spread.Quantiles
}

// optional is a figure that is nil where it was not measured.
func optional(name, unit string, of func(*measure.Run) *float64) Metric {
	return Metric{name, unit, func(r *measure.Run) (float64, bool) {
		if v := of(r); v != nil {
			return *v, true
		}
		return 0, false
	}}
}

// cost is a figure of a process; 0 is one that was not measured.
func cost(name, unit string, whose func(*measure.Run) *measure.Cost, figure func(*measure.Cost) int64) Metric {
	return Metric{name, unit, func(r *measure.Run) (float64, bool) {
		c := whose(r)
		if c == nil || figure(c) <= 0 {
			return 0, false
		}
		return float64(figure(c)), true
	}}
}

func cpuPerDelivery(c *measure.Cost) int64 {
	if c.CPUNSPerDelivery == nil {
		return 0
	}
	return *c.CPUNSPerDelivery
}

func find(name string) (Metric, bool) {
	all := Metrics()
	i := slices.IndexFunc(all, func(m Metric) bool { return m.Name == name })
	if i < 0 {
		return Metric{}, false
	}
	return all[i], true
}

// CheckThreshold says whether a threshold's figure is one that is measured, and its
// value in the figure's unit.
func CheckThreshold(t plan.Threshold) error {
	m, ok := find(t.Figure)
	if !ok {
		var names []string
		for _, m := range Metrics() {
			names = append(names, m.Name)
		}
		return fmt.Errorf("there is no figure %q; those that are measured are %s", t.Figure, strings.Join(names, ", "))
	}
	if m.Unit != t.Unit {
		return fmt.Errorf("%s is %s, and the value is %s", m.Name, kind(m.Unit), kind(t.Unit))
	}
	return nil
}

func kind(unit string) string {
	switch unit {
	case "ns":
		return "a duration such as 5ms"
	case "bytes":
		return "a size such as 40KiB"
	}
	return "a plain number"
}
