package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Directory keeps a comparison on disk: its plan, and each finished run at once, in
// a file of its own. One goroutine of one process may use it.
//
//	plan.yaml           every cell spelled out
//	runs/r02-c03.json   results.json of cell 3 in round 2, both from 1
//	orders-alone.json, orders-beside.json
//	results.json        all of them, when the comparison ends
type Directory struct {
	path string
	plan *plan.Plan
	head *Results // what every file has at its top
}

const planFile = "plan.yaml"

// CreateDirectory makes the directory, which must not hold anything yet, and writes
// the plan. Head has what every run's file has at its top.
func CreateDirectory(path string, p *plan.Plan, head *Results) (*Directory, error) {
	entries, err := os.ReadDir(path)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s is there already and not empty; go on with --resume %s, or name another directory", path, path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("create results directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(path, "runs"), 0o755); err != nil {
		return nil, fmt.Errorf("create results directory: %w", err)
	}
	b, err := p.YAML()
	if err == nil {
		err = WriteWhole(filepath.Join(path, planFile), func(w io.Writer) error { _, err := w.Write(b); return err })
	}
	if err != nil {
		return nil, fmt.Errorf("create results directory: %w", err)
	}
	return &Directory{path, p, head}, nil
}

// ErrNoComparison is wrapped by errors of directories that hold none.
var ErrNoComparison = errors.New("no directory of a comparison")

// OpenDirectory opens one that CreateDirectory made. Head is that of runs to come,
// and may be filled in until the first of them; where it is not nil, those that are
// there must be of the same program and machine.
func OpenDirectory(path string, head *Results) (*Directory, error) {
	f, err := os.Open(filepath.Join(path, planFile))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, fmt.Errorf("%s: %w: it has no %s", path, ErrNoComparison, planFile)
	}
	if err != nil {
		return nil, fmt.Errorf("open results directory: %w", err)
	}
	defer func() { _ = f.Close() }()
	p, err := plan.Read(f, f.Name())
	if err != nil {
		return nil, err
	}
	d := &Directory{path: path, plan: p, head: head}
	if head == nil {
		d.head = new(Results)
		return d, nil
	}
	return d, d.eachFile(func(name string, r *Results) error {
		switch {
		case r.Version != head.Version:
			return fmt.Errorf("%s was measured by tickgauge %s, and this is %s: runs of two versions make no comparison; use that one, or start anew", name, r.Version, head.Version)
		case r.Host != head.Host:
			return fmt.Errorf("%s was measured on another machine or kernel (%s, %d CPUs, %s): go on there, or start anew", name, r.Host.Kernel, r.Host.CPUs, r.Host.CPUModel)
		}
		return nil
	})
}

// Path returns where the directory is.
func (d *Directory) Path() string { return d.path }

// Plan returns the plan that is being measured.
func (d *Directory) Plan() *plan.Plan { return d.plan }

func (d *Directory) runFile(j plan.Job) string {
	return filepath.Join(d.path, "runs", fmt.Sprintf("r%02d-c%02d.json", j.Round+1, j.Cell+1))
}

// Has reports whether a run is there.
func (d *Directory) Has(j plan.Job) bool {
	_, err := os.Stat(d.runFile(j))
	return err == nil
}

// Save writes down, whole or not at all, the tries of a run, of which there is one at
// least, with the orders that went beside them.
func (d *Directory) Save(j plan.Job, tries []*measure.Run, orders []*measure.Orders) error {
	r := *d.head
	r.Orders = orders
	r.Cells = []Cell{{Cell: d.plan.Cells[j.Cell], Runs: tries}}
	return r.WriteFile(d.runFile(j))
}

func (d *Directory) ordersFile(phase string) string {
	return filepath.Join(d.path, "orders-"+phase+".json")
}

// HasOrders reports whether the runs of a phase of orders are there.
func (d *Directory) HasOrders(phase string) bool {
	_, err := os.Stat(d.ordersFile(phase))
	return err == nil
}

// SaveOrders writes the runs of a phase of orders down, and the cell of the streams
// that they went beside, if any.
func (d *Directory) SaveOrders(phase string, orders []*measure.Orders, beside []Cell) error {
	r := *d.head
	r.Orders, r.Cells = orders, beside
	return r.WriteFile(d.ordersFile(phase))
}

// Whole reports whether all runs of the plan are there.
func (d *Directory) Whole() bool {
	for _, j := range d.plan.Jobs() {
		if !d.Has(j) {
			return false
		}
	}
	o := d.plan.Orders
	return o == nil || d.HasOrders(OrdersAlone) && (o.Beside == plan.NoStreams || d.HasOrders(OrdersBeside))
}

// Results returns all runs that are there: the cells in the plan's order, the runs
// of each in the order of their rounds.
func (d *Directory) Results() (*Results, error) {
	all := *d.head
	byCell := make(map[plan.Cell]int)
	err := d.eachFile(func(_ string, r *Results) error {
		if all.Schema == "" {
			all = *r
			all.Cells, all.Orders = nil, nil
		}
		if d.head.Calibration == nil { // nothing was measured by this process
			all.Codec, all.Calibration = r.Codec, r.Calibration
		}
		for _, c := range r.Cells {
			i, known := byCell[c.Cell]
			if !known {
				i = len(all.Cells)
				byCell[c.Cell] = i
				all.Cells = append(all.Cells, Cell{Cell: c.Cell})
			}
			all.Cells[i].Runs = append(all.Cells[i].Runs, c.Runs...)
		}
		all.Orders = append(all.Orders, r.Orders...)
		return nil
	})
	return &all, err
}

// Finish writes results.json: what Results returned, with what was made of it.
func (d *Directory) Finish(r *Results) error {
	return r.WriteFile(filepath.Join(d.path, "results.json"))
}

// eachFile calls do with every file of runs that is there, cell by cell. A file that
// cannot be read, or is not of this plan, is an error that names it.
func (d *Directory) eachFile(do func(name string, r *Results) error) error {
	visit := func(name string, cell *plan.Cell) error {
		r, err := ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w; delete the file, and --resume measures it again", err)
		}
		if cell != nil && (len(r.Cells) != 1 || r.Cells[0].Cell != *cell || len(r.Cells[0].Runs) == 0) {
			return fmt.Errorf("%s is not of the cell that %s has there: it was made by another plan; start anew with another directory", name, filepath.Join(d.path, planFile))
		}
		return do(name, r)
	}
	for c := range d.plan.Cells {
		for round := range d.plan.Rounds {
			if err := visit(d.runFile(plan.Job{Round: round, Cell: c}), &d.plan.Cells[c]); err != nil {
				return err
			}
		}
	}
	for _, phase := range []string{OrdersAlone, OrdersBeside} {
		if err := visit(d.ordersFile(phase), nil); err != nil {
			return err
		}
	}
	return nil
}

// The phases of orders.
const (
	OrdersAlone  = "alone"
	OrdersBeside = "beside"
)
