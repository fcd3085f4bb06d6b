package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// Results of strangers tell no terminal what to do, and begin no line of their own.
func TestTextHasNoControlCharacters(t *testing.T) {
	const nasty = "a\x1b[31m\u009b2J\x07\r\nb"
	r := sample(t)
	r.Cells[0].Transport, r.Orders[0].Path, r.Version = nasty, nasty, nasty
	r.Cells[0].Runs[0].Reasons = []string{nasty}
	r.Orders[1].FirstRejection = nasty
	r.Calibration.Rates[0].Of, r.Calibration.Rates[0].Reason, r.Calibration.Waits[0].Mode = nasty, nasty, nasty
	var b bytes.Buffer
	if err := WriteText(&b, Named{nasty, r}, Named{"b", sample(t)}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if i := strings.IndexFunc(strings.TrimSuffix(line, "\n"), unicode.IsControl); i >= 0 {
			t.Errorf("a control character in %q", line)
		}
		if strings.HasPrefix(line, "b") {
			t.Errorf("a line of its own: %q", line)
		}
	}
}

// A file that was changed is named by the field at fault, not by Go's types.
func TestReadNamesTheField(t *testing.T) {
	for content, want := range map[string]string{
		`{"schema":"tickgauge.results/v2","cells":[{"runs":[{"valid":7}]}]}`:                    "cells.runs.valid has",
		`{"schema":"tickgauge.results/v2","cells":[{"runs":[{"latency_ns":{"p50":9.5e18}}]}]}`:  "latency_ns.p50 has",
		`{"schema":"tickgauge.results/v2","calibration":{"clock":[]}}`:                          "calibration.clock has",
		`{"schema":"tickgauge.results/v2","cells":[{"runs":[null]}]}`:                           "is null",
		`{"schema":"tickgauge.results/v2","calibration":{"wakeup":{"idle_ns":{"p50":"fast"}}}}`: "idle_ns.p50 has",
	} {
		path := filepath.Join(t.TempDir(), "results.json")
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "Go struct") {
			t.Errorf("%s: %v, want %q", content, err, want)
		}
	}
}
