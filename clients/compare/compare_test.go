package compare

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// made returns a run with latencies and costs of the scale given.
func made(round int, scale float64) *measure.Run {
	cpu := int64(20_000 * scale)
	return &measure.Run{
		Round: round, Valid: true, Latency: &measure.Quantiles{P50: int64(1e6 * scale), P99: int64(1e7 * scale)},
		Server: &measure.Cost{CPUNSPerDelivery: &cpu, RSSBytesPerStream: int64(40_000 * scale)}, Fleet: &measure.Cost{CPUNSPerDelivery: &cpu},
	}
}

func cell(name, encoding string) plan.Cell {
	c := plan.DefaultBase()
	c.Encoding = encoding
	if name != "grpc" {
		c.Transport, c.HTTPVersion, c.Connections = name, "1.1", c.Streams
	}
	return c
}

// series is a cell whose runs drift with the machine, with noise of its own.
func series(c plan.Cell, rounds int, scale float64, random *rand.Rand) Input {
	in := Input{Cell: c}
	for r := 1; r <= rounds; r++ {
		drift := 1 + 0.1*float64(r)
		in.Runs = append(in.Runs, made(r, scale*drift*math.Exp(0.02*random.NormFloat64())))
	}
	return in
}

func TestNewTellsWhatDiffers(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	a, b := series(cell("grpc", "protobuf"), 6, 1, random), series(cell("websocket", "protobuf"), 6, 0.5, random)
	c := New([]Input{a, b}, Options{Welch: true})
	if len(c.Rows) != len(Compared()) || c.Confidence != 0.95 {
		t.Fatalf("%+v", c)
	}
	for _, row := range c.Rows {
		if row.CellA != "grpc/100" || row.CellB != "websocket" || row.Verdict != Lower || !near(row.Ratio, 0.5, 0.02) || row.Interval.Low > row.Ratio || row.Interval.High < row.Ratio || row.Pairs != 6 {
			t.Errorf("%+v", row)
		}
		if row.MedianA <= row.MedianB || row.Bootstrap != nil || row.Welch.Ratio > 0.6 {
			t.Errorf("%+v", row)
		}
	}
	if len(c.Notes) != 1 || !strings.Contains(c.Notes[0], "Holm") {
		t.Errorf("notes %q", c.Notes)
	}
	// Turned round the ratio is its inverse.
	turned := New([]Input{b, a}, Options{})
	for i, row := range turned.Rows {
		if row.Verdict != Higher || !near(row.Ratio*c.Rows[i].Ratio, 1, 1e-9) || row.P != c.Rows[i].P {
			t.Errorf("%+v", row)
		}
	}
	if _, err := json.Marshal(c); err != nil {
		t.Error(err)
	}
}

func TestNewBootstrapsFromTenRounds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	c := New([]Input{series(cell("grpc", "protobuf"), 10, 1, random), series(cell("websocket", "protobuf"), 10, 0.5, random)}, Options{})
	for _, row := range c.Rows {
		if row.Bootstrap == nil || row.Bootstrap.Low > row.Ratio || row.Bootstrap.High < row.Ratio {
			t.Errorf("%+v", row)
		}
	}
}

func TestNewPairsByRound(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	a, b := series(cell("grpc", "protobuf"), 8, 1, random), series(cell("websocket", "protobuf"), 8, 0.5, random)
	a.Runs[2].Valid, b.Runs[4].Saturated = false, true
	b.Runs[5].Latency = nil
	a.Runs[7].Server.RSSBytesPerStream = 0
	c := New([]Input{a, b}, Options{})
	for _, row := range c.Rows {
		want := 6
		if strings.HasPrefix(row.Metric, "latency") || row.Metric == "exchange_memory_per_stream" {
			want = 5
		}
		if row.Pairs != want || (want == 5) != (row.Verdict == TooFew) {
			t.Errorf("%s: %d pairs, %s", row.Metric, row.Pairs, row.Verdict)
		}
	}
}

// Whatever the runs are, there is an answer and no NaN.
func TestNewOfLittle(t *testing.T) {
	hostile := func() Input {
		in := Input{Cell: cell("websocket", "protobuf")}
		for r := range 100 {
			in.Runs = append(in.Runs, &measure.Run{Valid: true, Round: r, Latency: &measure.Quantiles{P50: -5}})
		}
		return in
	}
	random := rand.New(rand.NewPCG(1, 1))
	good := series(cell("grpc", "protobuf"), 7, 1, random)
	for name, cells := range map[string][]Input{
		"nothing": nil, "one": {good}, "no runs": {good, {Cell: cell("websocket", "protobuf")}}, "no figures": {good, hostile()}, "the same": {good, {Cell: cell("websocket", "protobuf"), Runs: good.Runs}},
	} {
		c := New(cells, Options{AllPairs: true, Welch: true})
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, row := range c.Rows {
			if row.Verdict != TooFew && row.Verdict != NoDifference {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
}

func TestTwoWayPartsEncodingFromTransport(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	cells := []Input{
		series(cell("grpc", "protobuf"), 8, 1, random), series(cell("grpc", "json"), 8, 2, random),
		series(cell("websocket", "protobuf"), 8, 0.5, random), series(cell("websocket", "json"), 8, 1, random),
	}
	c := New(cells, Options{})
	want := map[string]float64{"encoding": 2, "transport": 0.5, "interaction": 1}
	if len(c.TwoWay) != 3*len(Compared()) {
		t.Fatalf("%d rows", len(c.TwoWay))
	}
	for _, row := range c.TwoWay {
		if !near(row.Ratio, want[row.Factor], 0.08*want[row.Factor]) || row.Pairs != 8 {
			t.Errorf("%+v, want a ratio of %v", row, want[row.Factor])
		}
		if (row.Factor == "interaction") != (row.Verdict == NoDifference) {
			t.Errorf("%s %s: %s", row.Metric, row.Factor, row.Verdict)
		}
	}
	// A transport that is too much for the machine costs the others nothing.
	sse := []Input{series(cell("sse", "protobuf"), 8, 1, random), series(cell("sse", "json"), 8, 2, random)}
	for _, r := range sse[1].Runs[:3] {
		r.Valid = false
	}
	c = New(append(slices.Clip(sse), cells...), Options{})
	for _, row := range c.TwoWay {
		if row.Pairs != 8 || row.A == "sse h1" || row.B == "sse h1" {
			t.Errorf("%+v", row)
		}
	}
	if notes := strings.Join(c.Notes, " "); len(c.TwoWay) != 3*len(Compared()) || !strings.Contains(notes, "sse h1 has fewer than 6 rounds") {
		t.Errorf("%d rows, %q", len(c.TwoWay), notes)
	}
	// Of two neither can be left out.
	for _, r := range cells[1].Runs[:3] {
		r.Valid = false
	}
	if c := New(cells, Options{}); len(c.TwoWay) == 0 || c.TwoWay[0].Verdict != TooFew {
		t.Errorf("%+v", c.TwoWay)
	}
	if c := New(cells[:3], Options{}); len(c.TwoWay) != 0 {
		t.Errorf("a table with a hole: %+v", c.TwoWay)
	}
}

// An instrument that is shown twice the same says so: over 200 comparisons of a cell
// with itself, on a machine that drifts and has hiccups, at most 18 false alarms.
func TestAA(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	alarms := 0
	for range 200 {
		var cells [2]Input
		for i := range cells {
			cells[i].Cell = cell([]string{"grpc", "websocket"}[i], "protobuf")
		}
		for r := 1; r <= 6; r++ {
			machine := math.Exp(0.3 * random.NormFloat64()) // of the round
			for i := range cells {
				hiccup := 1.0
				if random.IntN(5) == 0 {
					hiccup = 1 + 5*random.ExpFloat64()
				}
				cells[i].Runs = append(cells[i].Runs, made(r, machine*hiccup*math.Exp(0.1*random.NormFloat64())))
			}
		}
		if p99Row(t, cells).P <= 0.05 {
			alarms++
		}
	}
	if alarms > 18 {
		t.Errorf("%d false alarms in 200", alarms)
	}
}

// p99Row is the row of the latency p99.
func p99Row(t *testing.T, cells [2]Input) Row {
	t.Helper()
	for _, row := range New(cells[:], Options{}).Rows {
		if row.Metric == "latency.p99" {
			return row
		}
	}
	t.Fatal("no such row")
	return Row{}
}
