package measure

import "testing"

func TestFill(t *testing.T) {
	d := goodRun().d
	d.Received, d.Conflated, d.Dropped, d.Missed, d.Duplicated, d.Reordered, d.Problems = 4, 3, 2, 1, 5, 6, 7
	d.Due = 10
	d.Latency.Record(-8)
	var r Run
	r.Fill(&d)
	want := [8]int64{10, 4, 3, 2, 1, 5, 6, 7}
	if got := [8]int64{r.Due, r.Received, r.Conflated, r.Dropped, r.Missed, r.Duplicated, r.Reordered, r.Problems}; got != want {
		t.Errorf("figures %v, want %v", got, want)
	}
	if r.Latency == nil || r.LatencyWithConflated == nil || r.DecodedLatency == nil || r.PublishLag == nil || r.Connect == nil || r.FirstTick == nil {
		t.Errorf("distributions are missing: %+v", r)
	}
	if r.NegativeLatencies != 1 || r.MostNegative != -8 {
		t.Errorf("%d negative latencies, the smallest %d; want 1, -8", r.NegativeLatencies, r.MostNegative)
	}

	d.ForeignClock = 1
	r = Run{}
	r.Fill(&d)
	if r.Latency != nil || r.LatencyWithConflated != nil || r.DecodedLatency != nil || r.NegativeLatencies != 0 {
		t.Errorf("latencies from two clocks: %+v", r)
	}
	if r.PublishLag == nil || r.Connect == nil || r.Received != 4 {
		t.Errorf("what one clock measured is missing: %+v", r)
	}
}

func TestFillCosts(t *testing.T) {
	fleet := Process{CPUUserNS: 3000, CPUSystemNS: 1000, RSSBytes: 5000, RSSBaselineBytes: 1000}
	l := &Ledger{Process: Process{CPUUserNS: 6000, RSSBytes: 100, RSSBaselineBytes: 900}, Counters: map[string]int64{WrittenBytes: 250}}
	for _, c := range []struct {
		name      string
		received  int64
		ledger    *Ledger
		fleetCPU  int64 // -1: not known
		serverCPU int64
		bytes     float64
	}{
		{"with a ledger", 100, l, 40, 60, 2.5},
		{"no ledger", 100, nil, 40, -1, -1},
		{"nothing received", 0, l, -1, -1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Run{Received: c.received}
			r.FillCosts(fleet, c.ledger, 8)
			if got := cpuOf(r.Fleet); got != c.fleetCPU || r.Fleet.RSSBytes != 5000 || r.Fleet.RSSBytesPerStream != 500 {
				t.Errorf("fleet %+v, %d ns a delivery; want %d", r.Fleet, got, c.fleetCPU)
			}
			if got := cpuOf(r.Server); got != c.serverCPU || (r.Server == nil) != (c.ledger == nil) {
				t.Errorf("server %+v, %d ns a delivery; want %d", r.Server, got, c.serverCPU)
			}
			// A process that shrank since it started has no growth to share out.
			if r.Server != nil && (r.Server.RSSBytes != 100 || r.Server.RSSBytesPerStream != 0) {
				t.Errorf("server %+v, want 100 bytes and none per stream", r.Server)
			}
			bytes := -1.0
			if r.WireBytesPerDelivery != nil {
				bytes = *r.WireBytesPerDelivery
			}
			if bytes != c.bytes {
				t.Errorf("%v bytes per delivery, want %v", bytes, c.bytes)
			}
		})
	}
}

func cpuOf(c *Cost) int64 {
	if c == nil || c.CPUNSPerDelivery == nil {
		return -1
	}
	return *c.CPUNSPerDelivery
}
