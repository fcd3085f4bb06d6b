package report

import (
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// runFigure is one number of a run by which runs are compared. Its unit is one of Go's
// benchmark format: ns and B stand for seconds and bytes, what is not a unit says
// what is measured.
type runFigure[T any] struct {
	unit   string
	better string // lower or higher
	value  func(run T) (value float64, measured bool)
}

// streamFigures are those of a run of streams.
var streamFigures = []runFigure[*measure.Run]{
	{"p50-ns", "lower", of(latency, p50)},
	{"p90-ns", "lower", of(latency, p90)},
	{"p99-ns", "lower", of(latency, p99)},
	{"p99.9-ns", "lower", of(latency, p999)},
	{"max-ns", "lower", of(latency, maximum)},
	{"p99-with-conflated-ns", "lower", of(withConflated, p99)},
	{"connect-p99-ns", "lower", of(connect, p99)},
	{"publish-lag-p99-ns", "lower", of(publishLag, p99)},
	{"fleet-lag-p99-ns", "lower", of(fleetLag, p99)},
	{"deliveries/s", "higher", func(r *measure.Run) (float64, bool) {
		return float64(r.Received) / time.Duration(r.DurationNS).Seconds(), r.DurationNS > 0
	}},
	{"exchange-CPU-ns/delivery", "lower", cost(server, cpuNS)},
	{"fleet-CPU-ns/delivery", "lower", cost(fleet, cpuNS)},
	{"exchange-B/stream", "lower", cost(server, func(c *measure.Cost) *int64 { return some(c.RSSBytesPerStream) })},
	{"exchange-B", "lower", cost(server, func(c *measure.Cost) *int64 { return some(c.RSSBytes) })},
	{"fleet-B", "lower", cost(fleet, func(c *measure.Cost) *int64 { return some(c.RSSBytes) })},
	{"wire-B/delivery", "lower", func(r *measure.Run) (float64, bool) { return known(r.WireBytesPerDelivery) }},
}

// orderFigures are those of a run of orders.
var orderFigures = []runFigure[*measure.Orders]{
	{"p50-ns", "lower", of(orderLatency, p50)},
	{"p90-ns", "lower", of(orderLatency, p90)},
	{"p99-ns", "lower", of(orderLatency, p99)},
	{"p99.9-ns", "lower", of(orderLatency, p999)},
	{"max-ns", "lower", of(orderLatency, maximum)},
	{"p99-with-service-ns", "lower", of(func(o *measure.Orders) *measure.Quantiles { return o.LatencyWithService }, p99)},
	{"orders/s", "higher", func(o *measure.Orders) (float64, bool) { return o.Throughput, o.DurationNS > 0 }},
	{"exchange-CPU-ns/order", "lower", func(o *measure.Orders) (float64, bool) { return known(o.ServerCPUNSPerOrder) }},
	{"trader-CPU-ns/order", "lower", func(o *measure.Orders) (float64, bool) { return known(o.ClientCPUNSPerOrder) }},
}

func of[T any](quantiles func(T) *measure.Quantiles, which func(*measure.Quantiles) int64) func(T) (float64, bool) {
	return func(run T) (float64, bool) {
		if q := quantiles(run); q != nil {
			return float64(which(q)), true
		}
		return 0, false
	}
}

func cost(of func(*measure.Run) *measure.Cost, which func(*measure.Cost) *int64) func(*measure.Run) (float64, bool) {
	return func(r *measure.Run) (float64, bool) {
		if c := of(r); c != nil {
			return known(which(c))
		}
		return 0, false
	}
}

func cpuNS(c *measure.Cost) *int64 { return c.CPUNSPerDelivery }

// some is n, and nil for 0 of something that is never none where it was measured.
func some(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func known[N int64 | float64](n *N) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n), true
}
