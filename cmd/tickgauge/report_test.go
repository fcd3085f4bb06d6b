package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
)

// reportFile writes results of one cell of two runs and returns their path.
func reportFile(t *testing.T, dir string) string {
	t.Helper()
	h := measure.NewHistogram()
	for ns := int64(1); ns <= 1000; ns++ {
		h.Record(1000 * ns)
	}
	run := &measure.Run{
		Valid: true, Reasons: []string{}, Started: "2026-03-04T05:06:07Z", DurationNS: 1e9, Due: 1000, Received: 1000,
		Latency: h.Quantiles(), LatencyHDR: h.Encode(),
	}
	r := &report.Results{Schema: report.Schema, Version: "v1", Created: "2026-03-04T05:06:00Z", Source: synthSource, Cells: []report.Cell{{
		Cell: plan.Cell{Transport: "websocket", HTTPVersion: "1.1", Encoding: "json", Streams: 10, Connections: 10, Symbols: 100, SymbolsPerStream: 1, Rate: 200, Arrivals: "steady", Policy: "conflate"},
		Runs: []*measure.Run{run, run},
	}}}
	path := filepath.Join(dir, "results.json")
	if err := r.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReport(t *testing.T) {
	dir := t.TempDir()
	path := reportFile(t, dir)
	latencies, old := filepath.Join(dir, "latencies"), filepath.Join(dir, "old.txt")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		say  string // on standard output
		args []string
	}{
		{"2 of 2 valid", []string{path}},
		{"verdict", []string{dir}},
		{"to/from", []string{path, dir}},
		{"| verdict | 2 of 2 valid |", []string{path, "--format=markdown"}},
		{"latency_ns.p50", []string{dir, "--format=csv"}},
		{"BenchmarkStreams/transport=websocket/http=1.1/encoding=json/streams=10/connections=10\t1000\t", []string{path, "--format=bench"}},
		{`"schema": "tickgauge.results/v2"`, []string{path, "--format=json"}},
		{"", []string{path, "--format=hgrm", "--output=" + latencies}},
		{"", []string{path, "--format=hlog", "--output=" + latencies}},
		{"", []string{path, "--format=csv", "--output=" + old}},
	} {
		status, out, errs := program(t, append([]string{"report"}, c.args...)...)
		if status != 0 || !strings.Contains(out, c.say) || c.say == "" && out != "" {
			t.Errorf("%v: status %d, want 0 and %q:\n%s%s", c.args, status, c.say, out, errs)
		}
	}
	for name, beginning := range map[string]string{
		"latencies/websocket-1.hgrm": "# tickgauge: latency in us of websocket #1", "latencies/websocket-2.hgrm": "# tickgauge: latency in us of websocket #2",
		"latencies/websocket-1.hlog": "#[tickgauge", "latencies/websocket-2.hlog": "#[tickgauge", "old.txt": "results,version,",
	} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.HasPrefix(string(b), beginning) {
			t.Errorf("%s: %v, %.40q; want %q", name, err, b, beginning)
		}
	}
	b, err := os.ReadFile(old)
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll(); err != nil || len(lines) != 3 {
		t.Errorf("%d lines of CSV, %v; want 3", len(lines), err)
	}
}

// TestReportRefuses says in one line what to do, and leaves files alone.
func TestReportRefuses(t *testing.T) {
	dir := t.TempDir()
	path := reportFile(t, dir)
	old := filepath.Join(dir, "old.txt")
	put := func(name, content string) string {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	put("old.txt", "old")
	half := put("half.json", `{"schema":"tickgauge.results/v2",`)
	first := put("v1.json", `{"schema":"tickgauge.results/v1","cells":[],"orders":[]}`)
	empty := filepath.Dir(put("empty/notes.txt", ""))
	for _, c := range []struct {
		status int
		say    string
		args   []string
	}{
		{exitUsage, "<path>", nil},
		{exitUsage, "--format", []string{path, "--format=pdf"}},
		{exitUsage, "one path at a time, not 2", []string{path, path, "--format=json"}},
		{exitUsage, "into which directory", []string{path, "--format=hgrm"}},
		{exitUsage, "wants a directory", []string{path, "--format=hlog", "--output=" + old}},
		{exitUsage, "wants a file", []string{path, "--format=csv", "--output=" + dir}},
		{exitFailed, "no such file", []string{filepath.Join(dir, "missing.json")}},
		{exitFailed, "ends early", []string{path, half, "--format=csv", "--output=" + old}},
		{exitFailed, "neither a results.json nor", []string{empty}},
		{exitFailed, "newer tickgauge", []string{put("v3.json", `{"schema":"tickgauge.results/v3"}`)}},
		{exitFailed, "no results of tickgauge", []string{put("other.json", `{"name":"other"}`)}},
		{exitFailed, "no run has its latencies", []string{first, "--format=hgrm", "--output=" + filepath.Join(dir, "new")}},
		{exitFailed, "no such file", []string{path, "--output=" + filepath.Join(dir, "missing", "out.txt")}},
	} {
		status, out, errs := program(t, append([]string{"report"}, c.args...)...)
		// A wrong flag has a second line, which names --help.
		if lines := strings.Count(errs, "\n"); status != c.status || !strings.Contains(errs, c.say) || out != "" || lines > status {
			t.Errorf("%v: status %d, want %d and %q:\n%s%s", c.args, status, c.status, c.say, out, errs)
		}
	}
	if b, err := os.ReadFile(old); err != nil || string(b) != "old" {
		t.Errorf("the old file holds %q, %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new")); !os.IsNotExist(err) {
		t.Errorf("a directory for nothing: %v", err)
	}
}
