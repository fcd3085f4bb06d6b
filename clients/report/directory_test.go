package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

func twoCells(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := plan.Read(strings.NewReader("rounds: 6\nbase: {streams: 10}\ncells: [grpc, websocket]"), "two")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func head() *Results {
	return &Results{Schema: Schema, Version: "v1", Host: measure.Host{CPUs: 2}, Seed: 7}
}

func create(t *testing.T) *Directory {
	t.Helper()
	d, err := CreateDirectory(filepath.Join(t.TempDir(), "a", "b"), twoCells(t), head())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func save(t *testing.T, d *Directory, round, cell int, received int64) {
	t.Helper()
	if err := d.Save(plan.Job{Round: round, Cell: cell}, []*measure.Run{{Round: round + 1, Received: received}}, nil); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryGoesOn(t *testing.T) {
	d := create(t)
	save(t, d, 1, 0, 3)
	save(t, d, 0, 0, 1)
	save(t, d, 0, 1, 2)
	if err := d.SaveOrders(OrdersBeside, []*measure.Orders{{Path: "grpc-unary"}}, []Cell{{Cell: plan.Cell{Transport: "grpc", OrdersBeside: 5}, Runs: []*measure.Run{{Received: 9}}}}); err != nil {
		t.Fatal(err)
	}
	again, err := OpenDirectory(d.Path(), head())
	if err != nil {
		t.Fatal(err)
	}
	var have []plan.Job
	for _, j := range again.Plan().Jobs() {
		if again.Has(j) {
			have = append(have, j)
		}
	}
	if len(have) != 3 || again.HasOrders(OrdersAlone) || !again.HasOrders(OrdersBeside) {
		t.Errorf("there are %v", have)
	}
	r, err := again.Results()
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Finish(r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cells) != 3 || len(r.Cells[0].Runs) != 2 || r.Cells[0].Runs[0].Received != 1 || r.Cells[0].Runs[1].Received != 3 || r.Cells[1].Runs[0].Received != 2 || r.Cells[2].Runs[0].Received != 9 || len(r.Orders) != 1 {
		t.Errorf("%+v", r)
	}
	if written, err := ReadFile(filepath.Join(d.Path(), "results.json")); err != nil || written.Seed != 7 || len(written.Cells) != 3 {
		t.Errorf("%+v, %v", written, err)
	}
}

func TestDirectoryRefuses(t *testing.T) {
	file := func(d *Directory) string { return filepath.Join(d.Path(), "runs", "r01-c01.json") }
	for _, c := range []struct {
		name  string
		spoil func(t *testing.T, d *Directory)
		want  string
	}{
		{"half a file", func(t *testing.T, d *Directory) { put(t, file(d), `{"schema": "tickg`) }, "delete the file, and --resume measures it again"},
		{"another schema", func(t *testing.T, d *Directory) { put(t, file(d), `{"schema": "tickgauge.results/v9"}`) }, "v9"},
		{"a run of another cell", func(t *testing.T, d *Directory) {
			save(t, d, 0, 1, 1)
			if err := os.Rename(filepath.Join(d.Path(), "runs", "r01-c02.json"), file(d)); err != nil {
				t.Fatal(err)
			}
		}, "was made by another plan"},
		{"another version", func(t *testing.T, d *Directory) { d.head.Version = "v0"; save(t, d, 0, 0, 1) }, "was measured by tickgauge v0, and this is v1"},
		{"another machine", func(t *testing.T, d *Directory) { d.head.Host.CPUs = 64; save(t, d, 0, 0, 1) }, "another machine"},
		{"no plan", func(t *testing.T, d *Directory) {
			if err := os.Remove(filepath.Join(d.Path(), planFile)); err != nil {
				t.Fatal(err)
			}
		}, "no directory of a comparison"},
		{"a plan that is none", func(t *testing.T, d *Directory) {
			put(t, filepath.Join(d.Path(), planFile), "rounds: 2\ncells: [grpc]")
		}, "plan.yaml:1: rounds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := create(t)
			c.spoil(t, d)
			_, err := OpenDirectory(d.Path(), head())
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v, want one line with %q", err, c.want)
			}
		})
	}
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// What is there already is not written over.
func TestCreateDirectoryKeepsWhatIsThere(t *testing.T) {
	d := create(t)
	save(t, d, 0, 0, 1)
	if _, err := CreateDirectory(d.Path(), twoCells(t), head()); err == nil || !strings.Contains(err.Error(), "--resume "+d.Path()) {
		t.Errorf("%v", err)
	}
	if !d.Has(plan.Job{}) {
		t.Error("the run is gone")
	}
}

// Where a run cannot be written, those before it stay.
func TestSaveFails(t *testing.T) {
	d := create(t)
	save(t, d, 0, 0, 1)
	runs := filepath.Join(d.Path(), "runs")
	if err := os.Rename(runs, runs+".away"); err != nil {
		t.Fatal(err)
	}
	put(t, runs, "no directory")
	if err := d.Save(plan.Job{Cell: 1}, []*measure.Run{{}}, nil); err == nil {
		t.Error("written into no directory")
	}
	if _, err := ReadFile(filepath.Join(runs+".away", "r01-c01.json")); err != nil {
		t.Error(err)
	}
}
