package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// readCSV returns the lines of WriteCSV, by column.
func readCSV(t *testing.T, results ...Named) (header []string, lines []map[string]string) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteCSV(&b, results...); err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(&b).ReadAll() // which wants as many fields on every line
	if err != nil {
		t.Fatal(err)
	}
	for _, record := range all[1:] {
		line := map[string]string{}
		for i, name := range all[0] {
			if _, twice := line[name]; twice {
				t.Errorf("column %s is there twice", name)
			}
			line[name] = record[i]
		}
		lines = append(lines, line)
	}
	return all[0], lines
}

func TestWriteCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, Named{"results.json", sample(t)}); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "runs.csv", b.Bytes())
}

// TestCSVHasEveryFigure compares with results.json as any reader of JSON sees it.
func TestCSVHasEveryFigure(t *testing.T) {
	r := sample(t)
	r.Cells[0].Runs[0].Reasons = []string{"a \"quoted\", one", "over\ntwo lines"}
	header, lines := readCSV(t, Named{"a", r})
	var text bytes.Buffer
	if err := r.Write(&text); err != nil {
		t.Fatal(err)
	}
	var root struct {
		Cells  []map[string]any `json:"cells"`
		Orders []map[string]any `json:"orders"`
	}
	in := json.NewDecoder(&text)
	in.UseNumber()
	if err := in.Decode(&root); err != nil {
		t.Fatal(err)
	}
	var want []map[string]string
	for _, c := range root.Cells {
		runs := c["runs"].([]any)
		delete(c, "runs")
		for _, run := range runs {
			fields := map[string]string{}
			flatten(fields, "", c)
			flatten(fields, "", run.(map[string]any))
			want = append(want, fields)
		}
	}
	for _, o := range root.Orders {
		fields := map[string]string{}
		flatten(fields, "", o)
		want = append(want, fields)
	}
	if len(lines) != len(want) {
		t.Fatalf("%d lines, want %d", len(lines), len(want))
	}
	for i, fields := range want {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			got, ok := lines[i][name]
			if !ok {
				// What is null as a whole has columns for its figures alone.
				if fields[name] != "" || !slices.ContainsFunc(header, func(column string) bool { return strings.HasPrefix(column, name+".") }) {
					t.Errorf("line %d has no column %s", i+1, name)
				}
				continue
			}
			if got != fields[name] {
				t.Errorf("line %d: %s is %q, want %q", i+1, name, got, fields[name])
			}
		}
	}
}

// flatten gives each value of a JSON object the name of its path.
func flatten(into map[string]string, prefix string, object map[string]any) {
	for name, v := range object {
		switch v := v.(type) {
		case map[string]any:
			flatten(into, prefix+name+".", v)
		case []any:
			var texts []string
			for _, text := range v {
				texts = append(texts, fmt.Sprint(text))
			}
			into[prefix+name] = strings.Join(texts, "; ")
		case nil:
			into[prefix+name] = ""
		default:
			if !slices.Contains(csvOmitted, name) {
				into[prefix+name] = fmt.Sprint(v)
			}
		}
	}
}

// TestCSVColumnsAreStable: they are the same whatever was measured.
func TestCSVColumnsAreStable(t *testing.T) {
	full, lines := readCSV(t, Named{"a", sample(t)}, Named{"b", sample(t)})
	if len(lines) != 20 || lines[0]["results"] != "a" || lines[10]["results"] != "b" || lines[5]["run"] != "2" || lines[6]["kind"] != "orders" {
		t.Errorf("%d lines: %v", len(lines), lines)
	}
	if empty, lines := readCSV(t, Named{"none", &Results{}}); !slices.Equal(empty, full) || len(lines) != 0 {
		t.Errorf("columns without runs: %v, %d lines", empty, len(lines))
	}
	if none, _ := readCSV(t); !slices.Equal(none, full) {
		t.Errorf("columns without results: %v", none)
	}
}

func TestWriteCSVTellsThatItCouldNot(t *testing.T) {
	if err := WriteCSV(fullAt("kind"), Named{"a", sample(t)}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write CSV: ") {
		t.Errorf("error %v", err)
	}
}
