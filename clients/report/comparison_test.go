package report

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/compare"
)

func TestComparisonTables(t *testing.T) {
	c := &compare.Comparison{
		Confidence: 0.95,
		Rows: []compare.Row{
			{CellA: "grpc/100", CellB: "websocket", Metric: "latency.p99", Unit: "ns", Effect: compare.Effect{
				Pairs: 6, Ratio: 0.1234, Interval: &compare.Interval{Low: 0.1, High: 0.2}, P: 0.03125, PHolm: 0.6, PAdjusted: 0.03125, Verdict: compare.Lower,
			}},
			{CellA: "grpc/100", CellB: "websocket", Metric: "exchange_cpu_per_delivery", Unit: "ns", Effect: compare.Effect{
				Pairs: 7, Ratio: 1.01, Interval: &compare.Interval{Low: 0.9, High: 1.1}, P: 0.5, PHolm: 1, PAdjusted: 0.75, Verdict: compare.NoDifference,
			}},
			{CellA: "grpc/100", CellB: "sse h1", Metric: "exchange_memory_per_stream", Effect: compare.Effect{Pairs: 2, P: 1, Verdict: compare.TooFew}},
		},
		TwoWay: []compare.TwoWay{{Metric: "latency.p50", Factor: "encoding", A: "protobuf", B: "json", Effect: compare.Effect{
			Pairs: 20, Ratio: 2, Interval: &compare.Interval{Low: 1.9, High: 2.1}, P: 0.00002, PAdjusted: 0.0001, Verdict: compare.Higher,
		}}},
		Notes: []string{"A note."},
	}
	checkGolden(t, "comparison.txt", []byte(strings.Join(tables(&Results{Comparison: c}, "", (*grid).text), "\n")))
}

func TestThresholdLines(t *testing.T) {
	r := &Results{Thresholds: []compare.Outcome{
		{Threshold: "grpc.latency.p99 < 5ms", Cell: "grpc/100", Value: 3.2e6, Unit: "ns", Runs: 6, Pass: true},
		{Threshold: "grpc.exchange_memory_per_stream < 30KiB", Cell: "grpc own", Value: 60 << 10, Unit: "bytes", Runs: 5},
		{Threshold: "*.missed <= 0", Cell: "sse h1"},
	}}
	if r.Holds() {
		t.Error("two thresholds fail, and all hold")
	}
	checkGolden(t, "thresholds.txt", []byte(strings.Join(tables(r, "", (*grid).text), "\n")))
	if r.Thresholds = r.Thresholds[:1]; !r.Holds() {
		t.Error("the one that passes does not hold")
	}
	if r.Thresholds = nil; !r.Holds() {
		t.Error("none does not hold")
	}
}
