package report

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/tickgauge/tickgauge/clients/calibrate"
	"github.com/tickgauge/tickgauge/clients/measure"
)

// WriteMachine writes what the machine can tell apart as a table.
func WriteMachine(w io.Writer, c *calibrate.Calibration) error {
	if _, err := io.WriteString(w, machineGrid(c).text()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// machineGrid is what the machine can tell apart.
func machineGrid(c *calibrate.Calibration) *grid {
	g := &grid{head: []string{"this machine", "p50", "p99", "max"}}
	line := func(name string, q *measure.Quantiles) {
		if q != nil {
			g.lines = append(g.lines, []string{name, duration(q.P50), duration(q.P99), duration(q.Max)})
		}
	}
	line("wake-up late, idle", c.Wakeup.Idle)
	line("wake-up late, CPUs busy", c.Wakeup.Busy)
	line("loopback round trip", c.Loopback)
	for i := range c.Waits {
		w := &c.Waits[i]
		name := time.Duration(w.AskedNS).String() + " wait, " + oneLine(w.Mode)
		line(name, w.Took)
		if w.Reported != nil {
			line("reported of it", w.Reported)
		}
	}
	g.notes = append(g.notes, fmt.Sprintf("clock: steps of %s, %s ns to read", duration(c.Clock.StepNS), strconv.FormatFloat(c.Clock.ReadNS, 'f', 0, 64)))
	n := &c.Noise
	g.notes = append(g.notes, fmt.Sprintf("noise: others used %s of the CPUs in an idle second; %s was stolen; a spinning thread lost %s to %s gaps, the longest %s",
		percent(n.OthersShare), percent(n.StealShare), percent(&n.GapShare), count(n.Gaps), duration(n.LongestGap)))
	if floor := c.Floor(); floor > 0 {
		g.notes = append(g.notes, fmt.Sprintf("a run whose latency p99 is below %s cannot be valid here: the wakers of an idle fleet are half as late", duration(floor)))
	}
	for i := range c.Rates {
		g.notes = append(g.notes, rateNote(&c.Rates[i]))
	}
	if why := c.Noisy(); why != "" {
		g.notes = append(g.notes, "noisy: "+why+"; repeat when the machine is quiet")
	}
	return g
}

func rateNote(r *calibrate.Rate) string {
	of := oneLine(r.Of)
	switch reason := oneLine(r.Reason); {
	case r.Held == 0:
		return fmt.Sprintf("%s: not even %s ticks/s held: %s", of, count(int64(r.FailedAt)), reason)
	case r.FailedAt == 0:
		return fmt.Sprintf("%s: %s ticks/s held (%s deliveries/s), and no more were tried", of, count(int64(r.Held)), count(int64(r.Deliveries)))
	default:
		return fmt.Sprintf("%s: %s ticks/s held (%s deliveries/s), %s did not: %s", of, count(int64(r.Held)), count(int64(r.Deliveries)), count(int64(r.FailedAt)), reason)
	}
}

func percent(share *float64) string {
	if share == nil {
		return "-"
	}
	return strconv.FormatFloat(100**share, 'f', 1, 64) + "%"
}
