package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
)

// comparison measures what of a plan is not there yet.
type comparison struct {
	dir    *report.Directory
	plan   *plan.Plan
	runner *runner.Runner
	// once runs a cell, with orders beside it where it asks for them, which go to done.
	once func(ctx context.Context, cell plan.Cell, interrupt <-chan struct{}, done func(*measure.Orders)) (*measure.Run, error)

	repeats map[int]int // how often runs of a cell were repeated

	// A run that a signal cut short is shown, and not kept: --resume repeats it.
	cut       *measure.Run
	cutCell   plan.Cell
	cutOrders []*measure.Orders
	cutBeside []report.Cell
}

// mostFailures is how many runs in a row may fail before the comparison gives up.
const mostFailures = 3

// run runs what is missing until all is done or a signal came. The error has been
// told, but for one of writing.
func (m *comparison) run() error {
	ctx, interrupt, stop := interruptible()
	defer stop()
	failed := m.streams(ctx, interrupt)
	if failed != nil && !errors.Is(failed, errGoOn) || m.plan.Orders == nil {
		return shown(failed)
	}
	return errors.Join(shown(failed), m.orders(ctx, interrupt))
}

// errGoOn is of runs that failed, and were told, in a comparison that goes on.
var errGoOn = errors.New("some runs failed")

func shown(err error) error {
	if errors.Is(err, errGoOn) {
		return errShown
	}
	return err
}

func (m *comparison) streams(ctx context.Context, interrupt <-chan struct{}) error {
	jobs := m.plan.Jobs()
	left := newEstimate(m.plan, jobs, m.dir)
	labels := plan.Labels(m.plan.Cells)
	var failed error
	inARow := 0
	for i, job := range jobs {
		if m.dir.Has(job) {
			continue
		}
		cell := m.plan.Cells[job.Cell]
		fmt.Fprintf(os.Stderr, "run %d of %d, round %d of %d: %s, %d streams on %d connections%s\n",
			i+1, len(jobs), job.Round+1, m.plan.Rounds, labels[job.Cell], cell.Streams, cell.Connections, left)
		began := time.Now()
		err := m.tries(ctx, job, interrupt)
		left.done(cell, time.Since(began))
		var unsaved *unsavedError
		if errors.As(err, &unsaved) {
			return err
		}
		if inARow++; err == nil {
			inARow = 0
		} else {
			fmt.Fprintf(os.Stderr, "tickgauge: %s: %v\n", labels[job.Cell], err)
			failed = errGoOn
		}
		if over(interrupt) {
			fmt.Fprintf(os.Stderr, "interrupted in run %d of %d; go on with --resume %s\n", i+1, len(jobs), m.dir.Path())
			return errShown
		}
		if inARow == mostFailures {
			fmt.Fprintf(os.Stderr, "tickgauge: %d runs in a row failed; mend that, and go on with --resume %s\n", inARow, m.dir.Path())
			return errShown
		}
	}
	return failed
}

// unsavedError is of a run that could not be written down.
type unsavedError struct{ error }

func (e *unsavedError) Unwrap() error { return e.error }

// tries runs a job and writes it down, once more where the run is of no use: what a
// hiccup of the machine spoils would leave a cell with too few rounds. A cell that is
// too much for the machine is not repeated over and over: a third of its rounds is the most.
func (m *comparison) tries(ctx context.Context, job plan.Job, interrupt <-chan struct{}) error {
	cell := m.plan.Cells[job.Cell]
	var tries []*measure.Run
	var orders []*measure.Orders
	for {
		run, err := m.once(ctx, cell, interrupt, func(o *measure.Orders) { orders = append(orders, o) })
		if run == nil {
			return err
		}
		run.Round = job.Round + 1
		if run.Interrupted {
			m.cut, m.cutCell = run, cell
			return err
		}
		tries = append(tries, run)
		if err := m.dir.Save(job, tries, orders); err != nil {
			return &unsavedError{fmt.Errorf("%w; make room and go on with --resume %s", err, m.dir.Path())}
		}
		usable := run.Valid && !run.Saturated
		if err != nil || usable || len(tries) == 2 || m.repeats[job.Cell] >= m.plan.Rounds/3 || over(interrupt) {
			return err
		}
		m.repeats[job.Cell]++
		fmt.Fprintf(os.Stderr, "of no use (%s), so once more\n", strings.Join(run.Reasons, "; "))
	}
}

func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// runCell is once but in tests.
func (m *comparison) runCell(ctx context.Context, cell plan.Cell, interrupt <-chan struct{}, done func(*measure.Orders)) (*measure.Run, error) {
	if cell.OrderPath == "" {
		return m.runner.Run(ctx, cell, interrupt)
	}
	orders, err := plan.DefaultOrders([]string{cell.OrderPath}, plan.OrderCell{Encoding: cell.Encoding, Workers: 64, Rate: cell.OrdersBeside})
	if err != nil {
		return nil, err
	}
	return m.runner.OrdersBeside(ctx, cell, orders, runner.OrderOptions{
		Symbol: reservedSymbol, Warmup: orderWarmup, Duration: m.plan.Window, Done: done,
	}, interrupt)
}

// addCut adds the runs that were cut short to what is shown.
func (m *comparison) addCut(r *report.Results) {
	r.Orders = append(r.Orders, m.cutOrders...)
	r.Cells = append(r.Cells, m.cutBeside...)
	if m.cut == nil {
		return
	}
	for i := range r.Cells {
		if r.Cells[i].Cell == m.cutCell {
			r.Cells[i].Runs = append(r.Cells[i].Runs, m.cut)
			return
		}
	}
	r.Cells = append(r.Cells, report.Cell{Cell: m.cutCell, Runs: []*measure.Run{m.cut}})
}

// estimate says how long the runs that are left will take, from what those that
// are done took of what was planned.
type estimate struct {
	plan          *plan.Plan
	left          time.Duration // as planned
	planned, took time.Duration // of those done
}

func newEstimate(p *plan.Plan, jobs []plan.Job, dir *report.Directory) *estimate {
	e := &estimate{plan: p}
	for _, j := range jobs {
		if !dir.Has(j) {
			e.left += p.Takes(p.Cells[j.Cell])
		}
	}
	return e
}

func (e *estimate) done(c plan.Cell, took time.Duration) {
	takes := e.plan.Takes(c)
	e.left -= takes
	e.planned += takes
	e.took += took
}

func (e *estimate) String() string {
	left := e.left
	if e.planned > 0 {
		left = time.Duration(float64(left) * float64(e.took) / float64(e.planned))
	}
	return fmt.Sprintf(", about %s left", left.Round(time.Second))
}
