package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// injected says what an exchange did wrong on purpose in a run.
func injected(in *measure.Injected) string {
	did := []string{fmt.Sprintf("%s lost, %s duplicated, %s reordered", count(in.Lost), count(in.Duplicated), count(in.Reordered))}
	if in.Delay != nil {
		did = append(did, fmt.Sprintf("%s delayed by p50 %s and p99 %s", count(in.Delayed), duration(in.Delay.P50), duration(in.Delay.P99)))
	}
	for _, s := range in.Stalls {
		did = append(did, fmt.Sprintf("stalled for %s", time.Duration(s.LengthNS)))
	}
	return fmt.Sprintf("injected %s (seed %d): %s", strings.Join(in.Faults, " "), in.Seed, strings.Join(did, ", "))
}
