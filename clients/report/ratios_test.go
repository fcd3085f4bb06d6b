package report

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// sixRounds is a result of one cell: p50s around base, p99s that are the same whatever
// base is.
func sixRounds(base int64) *Results {
	c := Cell{Cell: plan.DefaultBase()}
	for i := range int64(6) {
		c.Runs = append(c.Runs, &measure.Run{Valid: true, Latency: &measure.Quantiles{P50: base + 10*i, P90: base, P99: 1000 + i*i%4}})
	}
	return &Results{Version: "v1", WarmupNS: 1e9, Cells: []Cell{c}}
}

func TestRatiosHaveVerdicts(t *testing.T) {
	before, after := sixRounds(1000), sixRounds(2000)
	after.Version, after.DurationNS, after.Host.CPUs = "v2", 3e9, 4
	g := ratios(Named{"a", before}, Named{"b", after})
	byUnit := map[string][]string{}
	for _, line := range g.lines {
		byUnit[line[1]] = line
	}
	for unit, want := range map[string]string{
		// 2 of C(12,6) orders, then Holm's two.
		"p50-ns": "grpc/100|p50-ns|6, 6|1025 ±2%|2025 ±1%|1.976|0.002|0.004|higher",
		"p90-ns": "grpc/100|p90-ns|6, 6|1000 ±0%|2000 ±0%|2.000||",
		"p99-ns": "|1.000|1.000|1.000|" + string(compare.NoDifference),
	} {
		if got := strings.Join(byUnit[unit], "|"); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
	notes := strings.Join(g.notes, "\n")
	for _, want := range []string{"the version of tickgauge: v1, then v2", "the window: 0s, then 3s", "the CPUs: 0, then 4"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
	if strings.Contains(notes, "warm-up") {
		t.Errorf("the warm-ups do not differ: %q", notes)
	}
	after.Cells[0].Runs[5].Saturated = true
	line := ratios(Named{"a", before}, Named{"b", after}).lines[0]
	if got := strings.Join(line, "|"); !strings.Contains(got, "6, 5|1025 ±2%|2020|") || !strings.HasSuffix(got, "||"+string(compare.TooFew)) {
		t.Errorf("of five runs: %q", got)
	}
}

// The default comparison has few enough rows for six runs on each side to show
// something: 20 times 2/924 is below 5%.
func TestTestedFiguresAreFew(t *testing.T) {
	n := 0
	for _, f := range streamFigures {
		for _, unit := range tested {
			if f.unit == unit {
				n++
			}
		}
	}
	if n != 4 {
		t.Errorf("%d figures of streams are tested", n)
	}
}
