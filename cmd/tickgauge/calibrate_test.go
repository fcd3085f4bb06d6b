package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients/report"
)

func TestCalibrate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "machine.json")
	status, out, errs := program(t, "calibrate", "--short", "--json="+file)
	if status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out, errs)
	}
	r, err := report.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	c := r.Calibration
	if c == nil || len(c.Waits) != 6 {
		t.Fatalf("%+v", c)
	}
	for _, w := range c.Waits {
		asked := time.Duration(w.AskedNS)
		switch w.Mode {
		case "virtual": // reports what it does not wait
			if w.Reported.P50 < w.AskedNS || float64(w.Reported.P50) > 1.001*float64(w.AskedNS) {
				t.Errorf("%s of %s reported", time.Duration(w.Reported.P50), asked)
			}
		case "realtime": // waits, and says how long
			if w.Reported.P50 < w.AskedNS || w.Took.P50 < w.Reported.P50 {
				t.Errorf("%s: took %s, reported %s", asked, time.Duration(w.Took.P50), time.Duration(w.Reported.P50))
			}
		}
	}
	for _, row := range []string{"wake-up late, idle", "loopback round trip", "40µs wait, realtime", "clock: steps"} {
		if !strings.Contains(out, row) {
			t.Errorf("the table lacks %q:\n%s", row, out)
		}
	}
	// It is a result like others.
	if status, again, errs := program(t, "report", file); status != 0 || !strings.Contains(again, strings.TrimSpace(strings.Split(out, "\n")[1])) {
		t.Errorf("status %d\n%s\n%s", status, again, errs)
	}
}

func TestCalibrateInterrupted(t *testing.T) {
	cmd := command(t, "calibrate")
	var said lines
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the beginning", func() bool { return said.has("calibrating") })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitFailed {
		t.Errorf("status %d", got)
	}
	if !said.has("interrupted before anything was measured") {
		t.Error(said.String())
	}
}
