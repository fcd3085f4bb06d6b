package report

import (
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// TestTableSaysWhatWasInjected below it, of a run that is valid too.
func TestTableSaysWhatWasInjected(t *testing.T) {
	r := sample(t)
	r.Cells[0].Runs[0].Injected = &measure.Injected{
		Faults: []string{"delay=200us", "stall=1s@10s"}, Seed: 7, Delayed: 200_000,
		Delay: &measure.Quantiles{P50: 201_000, P99: 250_000}, Stalls: []measure.Stall{{StartNS: 5, LengthNS: 1e9}},
	}
	r.Cells[1].Runs[0].Injected = &measure.Injected{Faults: []string{"loss=1e-4"}, Seed: 1, Lost: 1234}
	var b strings.Builder
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\ngrpc/100: injected delay=200us stall=1s@10s (seed 7): 0 lost, 0 duplicated, 0 reordered, 200,000 delayed by p50 201 µs and p99 250 µs, stalled for 1s\n",
		"\ngrpc own: injected loss=1e-4 (seed 1): 1,234 lost, 0 duplicated, 0 reordered\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}
