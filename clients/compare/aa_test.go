package compare

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
)

var record = flag.String("record", "", "take testdata/aa anew from the directory of a comparison of testdata/aa/plan.yaml")

// recorded are the usable runs of one cell, in the order in which they were made.
type recorded struct {
	Cell string        `json:"cell"`
	Runs []recordedRun `json:"runs"`
}

// recordedRun is what a comparison reads of a run.
type recordedRun struct {
	P50         int64 `json:"p50_ns"`
	P99         int64 `json:"p99_ns"`
	ExchangeCPU int64 `json:"exchange_cpu_ns"` // per delivery
	FleetCPU    int64 `json:"fleet_cpu_ns"`
	Memory      int64 `json:"exchange_memory"` // bytes per stream
}

// run makes a run of it, its figures multiplied.
func (r recordedRun) run(round int, by float64) *measure.Run {
	times := func(v int64) int64 { return int64(by * float64(v)) }
	exchange, fleet := times(r.ExchangeCPU), times(r.FleetCPU)
	return &measure.Run{
		Round: round, Valid: true, Latency: &measure.Quantiles{P50: times(r.P50), P99: times(r.P99)},
		Server: &measure.Cost{CPUNSPerDelivery: &exchange, RSSBytesPerStream: times(r.Memory)}, Fleet: &measure.Cost{CPUNSPerDelivery: &fleet},
	}
}

const recordedFile = "testdata/aa/runs.json"

// takeRecord reads the runs of a comparison, which have the plan's rounds and cells in
// their names. Those that are of no use no comparison reads.
func takeRecord(dir string) error {
	var all []recorded
	for cell := 1; ; cell++ {
		names, err := filepath.Glob(filepath.Join(dir, "runs", fmt.Sprintf("r*-c%02d.json", cell)))
		if err != nil || len(names) == 0 {
			break
		}
		slices.Sort(names)
		var rec recorded
		for _, name := range names {
			var file struct {
				Cells []struct {
					Transport string         `json:"transport"`
					Runs      []*measure.Run `json:"runs"`
				} `json:"cells"`
			}
			b, err := os.ReadFile(name)
			if err == nil {
				err = json.Unmarshal(b, &file)
			}
			if err != nil {
				return err
			}
			rec.Cell = file.Cells[0].Transport
			for _, r := range file.Cells[0].Runs {
				if r.Valid && !r.Saturated {
					rec.Runs = append(rec.Runs, recordedRun{r.Latency.P50, r.Latency.P99, *r.Server.CPUNSPerDelivery, *r.Fleet.CPUNSPerDelivery, r.Server.RSSBytesPerStream})
				}
			}
		}
		all = append(all, rec)
	}
	b, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	// A line for each run.
	b = regexp.MustCompile(`\{\n\s+("p50_ns"[^}]*[0-9])\n\s+\}`).ReplaceAllFunc(b, func(run []byte) []byte {
		return bytes.Join(bytes.Fields(run), []byte(" "))
	})
	return os.WriteFile(recordedFile, append(b, '\n'), 0o644)
}

// drawRounds makes a comparison of runs with themselves: six pairs of neighbours, in
// the order in which they were made, of which A is the first in every other one, as a
// comparison has it. Nothing is shuffled beyond which pairs are taken, so that a machine
// that drifts does so here too. B's figures are multiplied by shift.
func drawRounds(runs []recordedRun, random *rand.Rand, shift float64) [2]Input {
	offset := random.IntN(2)
	pairs := random.Perm((len(runs) - offset) / 2)[:6]
	slices.Sort(pairs)
	in := [2]Input{{Cell: cell("grpc", "protobuf")}, {Cell: cell("websocket", "protobuf")}}
	by := [2]float64{1, shift}
	first := random.IntN(2)
	for round, p := range pairs {
		for i := range 2 {
			side := (first + round + i) % 2
			in[side].Runs = append(in[side].Runs, runs[offset+2*p+i].run(round+1, by[side]))
		}
	}
	return in
}

// alarms counts, over 200 comparisons, how often each figure by itself has p of at most
// 0.05, and, under "verdict", how often the table calls anything a difference.
func alarms(t *testing.T, shift float64) map[string]int {
	t.Helper()
	b, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var all []recorded
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(2026, 12))
	count := map[string]int{}
	const comparisons = 200
	for i := range comparisons {
		rec := all[i%len(all)]
		if len(rec.Runs) < 40 {
			t.Fatalf("%s: only %d usable runs were recorded", rec.Cell, len(rec.Runs))
		}
		in := drawRounds(rec.Runs, random, shift)
		called := false
		for _, row := range New(in[:], Options{}).Rows {
			if row.Pairs != 6 {
				t.Fatalf("%s: %d pairs", row.Metric, row.Pairs)
			}
			if row.P <= 0.05 {
				count[row.Metric]++
			}
			called = called || row.Verdict != NoDifference
		}
		if called {
			count["verdict"]++
		}
	}
	return count
}

// An instrument that is shown the same twice says so, with runs of a real machine: at
// most 18 false alarms in 200 comparisons at 95%.
func TestAARecorded(t *testing.T) {
	if *record != "" {
		if err := takeRecord(*record); err != nil {
			t.Fatal(err)
		}
	}
	count := alarms(t, 1)
	t.Logf("alarms of 200: %v", count)
	for what, n := range count {
		if n > 18 {
			t.Errorf("%s: %d false alarms in 200", what, n)
		}
	}
}

// And it is not deaf: where one side really is half as much again, most comparisons
// find it.
func TestAARecordedFindsADifference(t *testing.T) {
	count := alarms(t, 1.5)
	t.Logf("found of 200: %v", count)
	for _, what := range []string{"latency.p50", "exchange_cpu_per_delivery", "fleet_cpu_per_delivery", "exchange_memory_per_stream", "verdict"} {
		if count[what] < 150 {
			t.Errorf("%s: found in %d of 200", what, count[what])
		}
	}
}
