package report

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestReadsTheFirstSchema: what v1 did not have is empty, and what it said once
// for all cells stands in each.
func TestReadsTheFirstSchema(t *testing.T) {
	r, err := ReadFile(filepath.Join("testdata", "results-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Schema != Schema || len(r.Cells) != 5 || len(r.Orders) != 4 {
		t.Fatalf("schema %s, %d cells, %d runs of orders", r.Schema, len(r.Cells), len(r.Orders))
	}
	want := sample(t)
	for i, c := range r.Cells {
		if c.Source != "synth" || c.Streams != 10_000 || len(c.Runs) != len(want.Cells[i].Runs) {
			t.Errorf("cell %+v", c)
		}
		for n, run := range c.Runs {
			if run.LatencyHDR != "" || run.Started != "" || !reflect.DeepEqual(run.Latency, want.Cells[i].Runs[n].Latency) {
				t.Errorf("run %+v", run)
			}
		}
	}
	var b bytes.Buffer
	if err := WriteTable(&b, r); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "table-v1.txt", b.Bytes()) // what was not measured yet is a dash
}

// TestReadDirectory: a whole comparison, one that is under way, and neither.
func TestReadDirectory(t *testing.T) {
	if _, err := Read(t.TempDir()); err == nil || !strings.Contains(err.Error(), "neither a results.json nor the plan.yaml") {
		t.Errorf("an empty directory: error %v", err)
	}
	d := create(t)
	if _, err := Read(d.Path()); err == nil || !strings.Contains(err.Error(), "no run has ended yet") {
		t.Errorf("a comparison that begins: error %v", err)
	}
	save(t, d, 0, 0, 1)
	save(t, d, 1, 0, 2)
	r, err := Read(d.Path())
	if err != nil || len(r.Cells) != 1 || len(r.Cells[0].Runs) != 2 {
		t.Errorf("a comparison under way: %+v, %v", r, err)
	}
	if err := d.Finish(r); err != nil {
		t.Fatal(err)
	}
	save(t, d, 0, 1, 3)
	if r, err = Read(d.Path()); err != nil || len(r.Cells) != 1 {
		t.Errorf("its results.json is not what is read: %+v, %v", r, err)
	}
	half := filepath.Join(d.Path(), "results.json")
	if err := os.WriteFile(half, []byte(`{"schema":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(d.Path()); err == nil || !strings.Contains(err.Error(), half+": the file ends early") {
		t.Errorf("half a results.json: error %v", err)
	}
}
