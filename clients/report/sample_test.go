package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/tickgauge/tickgauge/clients/calibrate"
	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden compares with a file of testdata.
func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update writes it anew. Got:\n%s", path, got)
	}
}

// sample is a comparison of five cells: a valid run, an invalid one, a saturated
// one, one of which little was measured, and a cell of two runs.
func sample(t *testing.T) *Results {
	cells, err := plan.Default(nil, plan.Cell{
		Encoding: "protobuf", Streams: 10_000, Symbols: 100, Rate: 200, Arrivals: "steady", Policy: "conflate", SymbolsPerStream: 1, Source: "synth",
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &Results{
		Schema: Schema, Thresholds: []compare.Outcome{}, Version: "v0.1.0", Created: "2026-03-04T05:06:07Z", Seed: 1<<64 - 1, Source: "synth",
		Host:        measure.Host{OS: "linux", Arch: "amd64", Kernel: "6.1.0", CPUs: 2, CPUModel: "a processor", MemoryBytes: 8 << 30, Go: "go1.26.0"},
		Codec:       []measure.Codec{{Encoding: "protobuf", EncodeNS: 151, DecodeNS: 420, Bytes: 75.5}, {Encoding: "json", EncodeNS: 890, DecodeNS: 2345, Bytes: 280}},
		Calibration: calibration(),
	}
	for _, c := range cells {
		r.Cells = append(r.Cells, Cell{Cell: c})
	}
	invalid := measuredRun(2)
	invalid.Valid, invalid.Received, invalid.Missed, invalid.StreamsBroken = false, 199_989, 11, 1
	invalid.Reasons = []string{"11 deliveries are missing without a word", "1 streams broke: connection reset by peer"}
	saturated := measuredRun(3)
	saturated.Saturated, saturated.Received, saturated.Conflated, saturated.Dropped = true, 150_000, 49_000, 1000
	saturated.Reasons = []string{"saturated: 25.00% was conflated or dropped"}
	little := &measure.Run{Reasons: []string{"nothing was due in the window"}, Fleet: &measure.Cost{}, Server: &measure.Cost{RSSBytes: 5 << 20}}
	both := measuredRun(5)
	both.Valid, both.Saturated, both.Duplicated, both.Reordered, both.Interrupted = false, true, 3, 4, true
	both.NegativeLatencies, both.MostNegative, both.Problems = 1, -20, 2
	both.Reasons = []string{"interrupted before the end of the window", "saturated: 1.00% was conflated or dropped"}
	for i, runs := range [][]*measure.Run{{measuredRun(1)}, {invalid}, {saturated}, {little}, {measuredRun(4), both}} {
		r.Cells[i].Runs = runs
	}
	r.Orders = sampleOrders()
	return r
}

// sampleOrders are a closed loop, an open one beside streams that is saturated, one
// that failed whole, and one with service times.
func sampleOrders() []*measure.Orders {
	closed := measuredOrders(1)
	beside := measuredOrders(2)
	beside.Path, beside.HTTPVersion, beside.Encoding, beside.Rate, beside.Connections = "rest-unary", "1.1", "json", 1000, 64
	beside.StreamsBeside, beside.StreamsTransport, beside.ServerCPUNSPerOrder = 10_000, "grpc/100", nil
	beside.Saturated, beside.Rejected, beside.Failed, beside.FirstFailure = true, 3, 1, "no answer within 10s"
	beside.FirstRejection = "PRICE_OFF_GRID: price 1.001 is not on the grid"
	beside.Reasons = []string{"saturated: 2.0% of the orders waited for one of the 64 workers; give more of them, or a lower rate"}
	failed := &measure.Orders{Path: "websocket", HTTPVersion: "1.1", Encoding: "protobuf", Workers: 64, Connections: 64, Sent: 5, Failed: 5,
		FirstFailure: "connection refused", Reasons: []string{"all orders failed: connection refused"}}
	served := measuredOrders(3)
	served.Path, served.Service, served.LatencyWithService = "rest+sse", &measure.Quantiles{P50: 100_000, P99: 100_000}, &measure.Quantiles{P50: 300_000, P99: 900_000}
	return []*measure.Orders{closed, beside, failed, served}
}

func measuredOrders(n int64) *measure.Orders {
	base := 300_000 * n
	cpu := 20_000 * n
	q := &measure.Quantiles{P50: base, P90: 2 * base, P99: 5 * base, P999: 20 * base, Max: 100 * base, Mean: base + base/2}
	return &measure.Orders{
		Path: "grpc-unary", HTTPVersion: "2", Encoding: "protobuf", Workers: 64, Connections: 8, PayloadBytes: 1024,
		Valid: true, Reasons: []string{}, DurationNS: 4_000_000_000, Sent: 40_000 * n, Acked: 40_000 * n, Filled: 30_000 * n, Throughput: 10_000.4 * float64(n),
		Latency: q, LatencyHDR: measuredHDR(base), Started: fmt.Sprintf("2026-03-04T05:07:%02d.25Z", 10*n), Connect: q, TraderLag: q, ServerCPUNSPerOrder: &cpu, ClientCPUNSPerOrder: &cpu, Stamp: "Body.Read returning",
	}
}

// measuredRun is a valid run whose figures grow with n.
func measuredRun(n int64) *measure.Run {
	q := func(base int64) *measure.Quantiles {
		base *= n
		return &measure.Quantiles{P50: base, P90: 2 * base, P99: 5 * base, P999: 20 * base, Max: 100 * base, Mean: base + base/2}
	}
	cost := func(cpu, rss int64) *measure.Cost {
		each := rss * n / 10_000
		return &measure.Cost{
			CPUNSPerDelivery: new(cpu * n), CPUUserNSPerDelivery: new(cpu * n / 4), CPUSystemNSPerDelivery: new(cpu*n - cpu*n/4),
			RSSBytes: rss * n, RSSBytesPerStream: each, HeapBytesPerStream: new(each / 2),
			IdleRSSBytesPerStream: new(each * 3 / 4), IdleHeapBytesPerStream: new(each / 3),
			Goroutines: new(30_000 * n), VoluntarySwitches: new(700 * n), InvoluntarySwitches: new(80 * n),
			GC: &measure.GC{Cycles: 5 * n, CPUShare: 0.025 * float64(n), Pauses: &measure.Pauses{Count: 10 * n, Quantiles: *q(20_000)}},
		}
	}
	wire := 98.25 * float64(n)
	return &measure.Run{
		Valid: true, Reasons: []string{}, DurationNS: 10_000_000_000, Due: 200_000, Received: 200_000,
		Started: fmt.Sprintf("2026-03-04T05:06:%02d.5Z", 10*n),
		Latency: q(123_456), LatencyHDR: measuredHDR(123_456 * n), LatencyWithConflated: q(130_000), DecodedLatency: q(125_000),
		PublishLag: q(4_321), FleetLag: q(55), Connect: q(1_234_567), FirstTick: q(2_000_000), OpenAllNS: 1_500_000_000 * n,
		Server: cost(1_850, 64<<20), Fleet: cost(4_000, 150<<20), WireBytesPerDelivery: &wire,
		PayloadBytesPerDelivery: new(wire * 0.75), FramingBytesPerDelivery: new(wire * 0.25),
		TCP:      &measure.TCP{Segments: 190_000 * n, DataSegments: 100_000 * n, Retransmits: n, Deliveries: 200_000, SegmentsPerDelivery: new(0.95 * float64(n))},
		Fairness: fairness(n, *q(900_000)),
		Stamp:    "Body.Read returning",
	}
}

func calibration() *calibrate.Calibration {
	q := func(base int64) *measure.Quantiles {
		return &measure.Quantiles{P50: base, P90: 2 * base, P99: 3 * base, P999: 4 * base, Max: 5 * base, Mean: base}
	}
	others, steal := 0.125, 0.004
	return &calibrate.Calibration{
		Started: "2026-03-04T05:06:00Z", TookNS: 2_400_000_000,
		Clock:    calibrate.Clock{StepNS: 35, ReadNS: 38.2},
		Wakeup:   calibrate.Wakeup{Idle: q(60_000), Busy: q(90_000)},
		Loopback: q(8000),
		Waits: []calibrate.Wait{
			{Mode: "virtual", AskedNS: 40_000, Took: q(1500), Reported: &measure.Quantiles{P50: 40_000, P90: 40_000, P99: 40_000, P999: 40_000, Max: 40_000, Mean: 40_000}},
			{Mode: "sleep", AskedNS: 100_000, Took: q(1_060_000)},
		},
		Noise: calibrate.Noise{OthersShare: &others, StealShare: &steal, SpunNS: 500_000_000, Gaps: 1200, GapShare: 0.021, LongestGap: 3_100_000, LongGaps: 7, GapsAtLeast: 5000},
		Rates: []calibrate.Rate{
			{Of: "publisher", Held: 320_000, FailedAt: 452_548, Deliveries: 3200, Reason: "its lag p99 was 3.1ms", Tries: 10},
			{Of: "grpc/100", Held: 512_000, Deliveries: 5_120_000, Tries: 12},
			{Of: "sse h1", FailedAt: 250, Reason: "the fleet was late", Tries: 2},
		},
	}
}

func fairness(n int64, spread measure.Quantiles) *measure.Fairness {
	return &measure.Fairness{
		Spread: &measure.Spread{Ticks: 2000, Quantiles: spread}, ChanceSD: 0.0645,
		MeanRank: measure.MeanRanks{Min: 0.31, P50: 0.5, P99: 0.64, Max: 0.7 + 0.05*float64(n)}, WorstStream: measure.StreamNumber(1000 * n), Late: n,
	}
}

// measuredHDR has the percentiles that the samples have for base, to three digits.
func measuredHDR(base int64) string {
	h := measure.NewHistogram()
	for _, v := range []struct{ times, count int64 }{{1, 500}, {2, 400}, {5, 90}, {20, 9}, {100, 1}} {
		h.RecordN(v.times*base, v.count)
	}
	return h.Encode()
}
