package measure

import (
	"reflect"
	"testing"
)

func TestMedianRun(t *testing.T) {
	cpu := func(v int64) *int64 { return &v }
	bytes := 12.5
	runs := []*Run{
		{Valid: true, Received: 10, Latency: &Quantiles{P50: 5, Max: 90}, Server: &Cost{CPUNSPerDelivery: cpu(7)}, WireBytesPerDelivery: &bytes, Stamp: "here", Reasons: []string{"x"}},
		{Valid: true, Received: 40, Latency: &Quantiles{P50: 1, Max: 20}, Server: &Cost{}, Saturated: true},
		{Valid: true, Received: 20, Latency: &Quantiles{P50: 3, Max: 30}, Server: &Cost{CPUNSPerDelivery: cpu(9)}},
		{Valid: true, Received: 30},
	}
	before := *runs[0].Latency
	m := MedianRun(runs)
	want := &Run{
		Valid: true, Saturated: true, Reasons: []string{}, Received: 25, Latency: &Quantiles{P50: 3, Max: 30}, Stamp: "here",
		Server: &Cost{CPUNSPerDelivery: cpu(8)}, WireBytesPerDelivery: &bytes,
	}
	if !reflect.DeepEqual(m, want) {
		t.Errorf("%+v, want %+v", m, want)
	}
	if *runs[0].Latency != before {
		t.Errorf("the first run was changed: %+v", runs[0].Latency)
	}
	if MedianRun(nil) != nil {
		t.Error("a median of nothing")
	}
}
