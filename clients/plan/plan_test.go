package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestJobsInterleaveAndReverse(t *testing.T) {
	p := &Plan{Rounds: 3, Cells: make([]Cell, 3)}
	want := []Job{{0, 0}, {0, 1}, {0, 2}, {1, 2}, {1, 1}, {1, 0}, {2, 0}, {2, 1}, {2, 2}}
	if got := p.Jobs(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestBuiltInPlans(t *testing.T) {
	for name, most := range map[string]time.Duration{"quick": time.Minute, "default": 5 * time.Minute, "full": time.Hour} {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if p.Name != name || p.About == "" || p.Rounds < MinRounds {
			t.Errorf("%s: %q, %q, %d rounds", name, p.Name, p.About, p.Rounds)
		}
		if takes := p.TakesAll(); takes > most {
			t.Errorf("%s takes %s, want at most %s", name, takes, most)
		}
		labels := Labels(p.Cells)
		slices.Sort(labels)
		if n := len(slices.Compact(labels)); n != len(p.Cells) {
			t.Errorf("%s: %d labels for %d cells: %q", name, n, len(p.Cells), labels)
		}
	}
	var names []string
	p, _ := Load("default")
	for _, c := range p.Cells {
		names = append(names, c.Name())
	}
	if want := []string{"grpc/100", "grpc own", "websocket", "sse h1", "sse h2c/100"}; !slices.Equal(names, want) {
		t.Errorf("cells of the default plan: %q", names)
	}
	if _, err := Load("nightly"); err == nil || !strings.Contains(err.Error(), "quick, default, full") {
		t.Errorf("an unknown plan: %v", err)
	}
}

// A plan written down is read as the same plan.
func TestYAMLRoundTrip(t *testing.T) {
	for _, name := range BuiltIn() {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		p.Thresholds = append(p.Thresholds, Threshold{Text: `"grpc/100".latency.p99 < 5ms`, Cell: "grpc/100", Figure: "latency.p99", Op: "<", Value: 5e6, Unit: "ns"})
		capture := p.Cells[0]
		capture.Source, capture.Symbols, capture.Arrivals, capture.Rate = "a b: c.jsonl", 0, CaptureArrivals, 0
		p.Cells = append(p.Cells, capture)
		b, err := p.YAML()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(bytes.NewReader(b), "again")
		if err != nil {
			t.Fatalf("%v\n%s", err, b)
		}
		got.lines, p.lines, got.keys, p.keys, got.file, p.file = nil, nil, nil, nil, "", ""
		for i := range got.Thresholds {
			got.Thresholds[i].line = 0
		}
		if !reflect.DeepEqual(got, p) {
			t.Errorf("%+v\nwant %+v\n%s", got, p, b)
		}
	}
}

func TestValidateNamesTheLine(t *testing.T) {
	p, err := Read(strings.NewReader("rounds: 1\ncells:\n  - grpc\n  - websocket\n"), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	err = p.CheckCells(func(c Cell) error {
		if c.Transport == "websocket" {
			return errors.New("10000 connections are more than this process may open")
		}
		return nil
	})
	if err == nil || err.Error() != "p.yaml:4: 10000 connections are more than this process may open" {
		t.Errorf("%v", err)
	}
	var f *Faults
	if !errors.As(err, &f) || f.All[0].Line != 4 {
		t.Errorf("%#v", err)
	}
}

// The schema has exactly the keys that plans may have.
func TestSchemaKeys(t *testing.T) {
	b, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Properties map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got map[string]any, want []string) {
		var names []string
		for k := range got {
			names = append(names, k)
		}
		slices.Sort(names)
		want = slices.Sorted(slices.Values(want))
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", what, names, want)
		}
	}
	top := make(map[string]any)
	for k := range s.Properties {
		top[k] = nil
	}
	same("top", top, topNames())
	for _, part := range []string{"base", "axes", "vary"} {
		same(part, s.Properties[part].Properties, AxisNames())
	}
	same("orders", s.Properties["orders"].Properties, orderKeys)
}
