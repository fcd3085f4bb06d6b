package report

import (
	"bytes"
	"testing"

	"github.com/tickgauge/tickgauge/clients/compare"
)

func TestWriteComparison(t *testing.T) {
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
	var out bytes.Buffer
	if err := WriteComparison(&out, c); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "comparison.txt", out.Bytes())
}

func TestWriteThresholds(t *testing.T) {
	var out bytes.Buffer
	hold, err := WriteThresholds(&out, []compare.Outcome{
		{Threshold: "grpc.latency.p99 < 5ms", Cell: "grpc/100", Value: 3.2e6, Unit: "ns", Runs: 6, Pass: true},
		{Threshold: "grpc.exchange_memory_per_stream < 30KiB", Cell: "grpc own", Value: 60 << 10, Unit: "bytes", Runs: 5},
		{Threshold: "*.missed <= 0", Cell: "sse h1"},
	})
	if hold || err != nil {
		t.Errorf("hold %t, %v", hold, err)
	}
	checkGolden(t, "thresholds.txt", out.Bytes())
	if hold, err = WriteThresholds(&out, nil); !hold || err != nil {
		t.Errorf("none: hold %t, %v", hold, err)
	}
}
