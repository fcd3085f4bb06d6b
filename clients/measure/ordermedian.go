package measure

import "slices"

// MedianOrders returns the median of each figure of several runs of one path. It
// is valid, or saturated, where all, or any, of them are.
func MedianOrders(runs []*Orders) *Orders {
	if len(runs) == 0 {
		return nil
	}
	m := *runs[0]
	m.Reasons = []string{}
	for _, r := range runs {
		m.Valid, m.Saturated = m.Valid && r.Valid, m.Saturated || r.Saturated
	}
	for _, figure := range []func(*Orders) *int64{
		func(o *Orders) *int64 { return &o.DurationNS }, func(o *Orders) *int64 { return &o.Sent }, func(o *Orders) *int64 { return &o.Acked }, func(o *Orders) *int64 { return &o.Filled },
		func(o *Orders) *int64 { return &o.Rejected }, func(o *Orders) *int64 { return &o.Failed },
	} {
		var v []int64
		for _, r := range runs {
			v = append(v, *figure(r))
		}
		*figure(&m) = median(v)
	}
	var throughput []float64
	for _, r := range runs {
		throughput = append(throughput, r.Throughput)
	}
	m.Throughput = median(throughput)
	for _, of := range []func(*Orders) **Quantiles{
		func(o *Orders) **Quantiles { return &o.Latency }, func(o *Orders) **Quantiles { return &o.Service },
		func(o *Orders) **Quantiles { return &o.LatencyWithService }, func(o *Orders) **Quantiles { return &o.Lag },
		func(o *Orders) **Quantiles { return &o.TraderLag }, func(o *Orders) **Quantiles { return &o.Connect },
	} {
		var all []*Quantiles
		for _, r := range runs {
			if q := *of(r); q != nil {
				all = append(all, q)
			}
		}
		*of(&m) = medianQuantiles(all)
	}
	for _, of := range []func(*Orders) **int64{
		func(o *Orders) **int64 { return &o.ServerCPUNSPerOrder }, func(o *Orders) **int64 { return &o.ClientCPUNSPerOrder },
	} {
		var all []int64
		for _, r := range runs {
			if v := *of(r); v != nil {
				all = append(all, *v)
			}
		}
		*of(&m) = nil
		if len(all) > 0 {
			v := median(all)
			*of(&m) = &v
		}
	}
	return &m
}

func medianQuantiles(all []*Quantiles) *Quantiles {
	if len(all) == 0 {
		return nil
	}
	of := func(figure func(*Quantiles) int64) int64 {
		var v []int64
		for _, q := range all {
			v = append(v, figure(q))
		}
		return median(v)
	}
	return &Quantiles{
		P50: of(func(q *Quantiles) int64 { return q.P50 }), P90: of(func(q *Quantiles) int64 { return q.P90 }),
		P99: of(func(q *Quantiles) int64 { return q.P99 }), P999: of(func(q *Quantiles) int64 { return q.P999 }),
		Max: of(func(q *Quantiles) int64 { return q.Max }), Mean: of(func(q *Quantiles) int64 { return q.Mean }),
	}
}

// median returns the middle one, of an even number the mean of the two.
func median[T int64 | float64](v []T) T {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}
