package report

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func TestWriteFileAndReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	want := sample(t)
	for range 2 { // the second one replaces the first
		if err := want.WriteFile(path); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "results.json", b)
	got, err := ReadFile(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read back %+v, %v; want %+v", got, err, want)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v; want that everybody may read it", info.Mode(), err)
	}
	only(t, filepath.Dir(path), "results.json")
}

// only fails where a folder has anything but the files named.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder has %v, want %v", got, names)
	}
}

func TestWriteFileLeavesNothingHalfDone(t *testing.T) {
	notJSON := sample(t)
	notJSON.Cells[0].Rate = math.NaN()
	for _, c := range []struct {
		name    string
		results *Results
		path    string // below a folder with a file old.json and a folder taken
	}{
		{"no JSON", notJSON, "old.json"},
		{"a folder has the name", sample(t), "taken"},
		{"no such folder", sample(t), "missing/results.json"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "old.json"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(dir, "taken", "full"), 0o700); err != nil {
				t.Fatal(err)
			}
			err := c.results.WriteFile(filepath.Join(dir, c.path))
			if err == nil || !strings.HasPrefix(err.Error(), "write results: ") {
				t.Errorf("error %v, want that the results could not be written", err)
			}
			only(t, dir, "old.json", "taken")
			if b, err := os.ReadFile(filepath.Join(dir, "old.json")); err != nil || string(b) != "old" {
				t.Errorf("the old file holds %q, %v", b, err)
			}
		})
	}
}

// Whoever reads while results are written again sees whole ones.
func TestWriteFileIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	r := sample(t)
	if err := r.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			if got, err := ReadFile(path); err != nil || len(got.Cells) != len(r.Cells) {
				t.Errorf("read %+v, %v", got, err)
				return
			}
		}
	})
	for range 100 {
		if err := r.WriteFile(path); err != nil {
			t.Error(err)
		}
	}
	close(done)
	reader.Wait()
}

func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, content, err string }{
		{"a newer schema", `{"schema":"tickgauge.results/v3","cells":{}}`, "the schema is tickgauge.results/v3, and this program reads up to v2; use a newer tickgauge"},
		{"much newer", `{"schema":"tickgauge.results/v12"}`, "use a newer tickgauge"},
		{"older than the first", `{"schema":"tickgauge.results/v0"}`, `no results of tickgauge: the schema is "tickgauge.results/v0"`},
		{"no number", `{"schema":"tickgauge.results/vNext"}`, "no results of tickgauge"},
		{"no schema", `{"cells":[]}`, `no results of tickgauge: the schema is "", not tickgauge.results/v2; name a file that --json wrote`},
		{"another schema", `{"schema":"https://json-schema.org/draft/2020-12/schema"}`, "no results of tickgauge"},
		{"a schema that is no text", `{"schema":2}`, "no results of tickgauge"},
		{"a list", `[1,2]`, "no results of tickgauge"},
		{"null", `null`, "no results of tickgauge"},
		{"no JSON", `due 100`, "no JSON: invalid character 'd'"},
		{"cut short", `{"schema":"tickgauge.results/v2","cells":[`, "the file ends early, after 42 bytes"},
		{"cut in a word", `{"schema":"tickgauge.res`, "the file ends early"},
		{"empty", ``, "the file ends early, after 0 bytes"},
		{"something after it", `{"schema":"tickgauge.results/v2"} {`, "invalid character '{' after top-level value"},
		{"no run", `{"schema":"tickgauge.results/v2","cells":[{"transport":"websocket","runs":[null]}]}`, "a run of cell websocket is null"},
		{"no orders", `{"schema":"tickgauge.results/v2","orders":[null]}`, "a run of orders is null"},
		{"text for a number", `{"schema":"tickgauge.results/v2","cells":[{"streams":"many"}]}`, "cells.streams has the JSON value string"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(dir, "results.json")
			if err := os.WriteFile(path, []byte(c.content), 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := ReadFile(path)
			if r != nil || err == nil || !strings.HasPrefix(err.Error(), "read results "+path+": ") || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "\n") {
				t.Errorf("results %v, error %v; want %q", r, err, c.err)
			}
		})
	}
	if _, err := ReadFile(filepath.Join(dir, "missing.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want that there is no such file", err)
	}
}

// Readers of results.json count on these names, in the places given.
func TestSchema(t *testing.T) {
	b, err := json.Marshal(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatal(err)
	}
	cell := root["cells"].([]any)[0].(map[string]any)
	run := cell["runs"].([]any)[0].(map[string]any)
	const quantiles = "p50 p90 p99 p999 max mean"
	const cost = "cpu_ns_per_delivery rss_bytes rss_bytes_per_stream"
	const costs = `cpu_user_ns_per_delivery cpu_system_ns_per_delivery heap_bytes_per_stream idle_rss_bytes_per_stream
		idle_heap_bytes_per_stream goroutines voluntary_switches involuntary_switches gc`
	machine := root["calibration"].(map[string]any)
	gc := run["server"].(map[string]any)["gc"].(map[string]any)
	fairness := run["fairness"].(map[string]any)
	for _, c := range []struct {
		where  string
		object any
		names  string
		extra  string
	}{
		{"results", root, "schema host seed source cells orders", "version created warmup_ns duration_ns zipf plan comparison thresholds codec calibration"},
		{"host", root["host"], "os arch kernel cpus cpu_model memory_bytes go", ""},
		{"cell", cell, "transport http_version encoding streams connections symbols rate arrivals policy tls runs", "symbols_per_stream orders_beside source zipf compression payload_bytes order_path"},
		{"run", run, `valid saturated reasons duration_ns due received conflated dropped missed duplicated reordered
			latency_ns latency_with_conflated_ns decoded_latency_ns publish_lag_ns connect_ns first_tick_ns open_all_ns
			server fleet wire_bytes_per_delivery`,
			"round started latency_hdr fleet_lag_ns negative_latencies most_negative_latency_ns stamp streams_broken problems interrupted payload_bytes_per_delivery framing_bytes_per_delivery tcp fairness injected"},
		{"latency_ns", run["latency_ns"], quantiles, ""},
		{"latency_with_conflated_ns", run["latency_with_conflated_ns"], quantiles, ""},
		{"decoded_latency_ns", run["decoded_latency_ns"], quantiles, ""},
		{"publish_lag_ns", run["publish_lag_ns"], quantiles, ""},
		{"connect_ns", run["connect_ns"], quantiles, ""},
		{"first_tick_ns", run["first_tick_ns"], quantiles, ""},
		{"server", run["server"], cost, costs},
		{"fleet", run["fleet"], cost, costs},
		{"gc", gc, "cycles cpu_share pauses_ns", ""},
		{"pauses_ns", gc["pauses_ns"], quantiles, "count"},
		{"tcp", run["tcp"], "segments data_segments retransmits deliveries segments_per_delivery", ""},
		{"fairness", fairness, "spread_ns mean_rank chance_sd worst_stream late", ""},
		{"spread_ns", fairness["spread_ns"], quantiles, "ticks"},
		{"mean_rank", fairness["mean_rank"], "min p50 p99 max", ""},
		{"codec", root["codec"].([]any)[0], "encoding encode_ns decode_ns bytes", ""},
		{"calibration", machine, "started took_ns clock wakeup loopback_ns waits noise rates", ""},
		{"clock", machine["clock"], "step_ns read_ns", ""},
		{"wakeup", machine["wakeup"], "idle_ns busy_ns", ""},
		{"waits", machine["waits"].([]any)[0], "mode asked_ns took_ns reported_ns", ""},
		{"noise", machine["noise"], "others_cpu_share steal_share spun_ns gaps gap_share longest_gap_ns long_gaps gaps_at_least_ns", ""},
		{"rates", machine["rates"].([]any)[0], "of held failed_at deliveries reason tries", ""},
		{"orders", root["orders"].([]any)[0], `path http_version encoding workers rate connections streams_beside streams_transport sent acked rejected failed
			throughput latency_ns service_ns server_cpu_ns_per_order client_cpu_ns_per_order`,
			`started latency_hdr payload_bytes tls compression duration_ns valid saturated reasons interrupted first_failure first_rejection reopened symbol account filled latency_with_service_ns lag_ns trader_lag_ns connect_ns
			negative_latencies most_negative_latency_ns stamp`},
	} {
		object := c.object.(map[string]any)
		names := strings.Fields(c.names + " " + c.extra)
		for _, name := range names {
			if _, ok := object[name]; !ok {
				t.Errorf("%s has no %s", c.where, name)
			}
		}
		if len(object) != len(names) {
			t.Errorf("%s has %d names, want %v alone", c.where, len(object), names)
		}
	}
}

// What was not measured is null, not zero, and what may be empty is a list.
func TestUnmeasuredIsNull(t *testing.T) {
	b, err := json.Marshal(sample(t).Cells[3].Runs[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"latency_ns":null`, `"connect_ns":null`, `"wire_bytes_per_delivery":null`, `"server":{"cpu_ns_per_delivery":null,`, `"gc":null`, `"tcp":null`, `"fairness":null`, `"idle_rss_bytes_per_stream":null`, `"due":0,`, `"missed":0,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}
