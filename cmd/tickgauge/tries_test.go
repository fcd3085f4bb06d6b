package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
)

// A run that is of no use is made again, and all are kept.
func TestRunsOfNoUseAreRepeated(t *testing.T) {
	valid := &measure.Run{Valid: true, Reasons: []string{}}
	invalid := &measure.Run{Reasons: []string{"the fleet was late"}}
	saturated := &measure.Run{Saturated: true, Reasons: []string{"the publisher was late", "saturated: 1% was dropped"}}
	broken := errors.New("3 of 5 streams broke")
	type attempt struct {
		run *measure.Run
		err error
	}
	for _, c := range []struct {
		name     string
		rounds   int
		attempts []attempt // what each gives
		kept     int
		failed   error
	}{
		{"valid", 6, []attempt{{valid, nil}}, 1, nil},
		{"a hiccup", 6, []attempt{{invalid, nil}, {valid, nil}}, 2, nil},
		{"two hiccups", 6, []attempt{{invalid, nil}, {saturated, nil}}, 2, nil},
		{"saturated", 6, []attempt{{saturated, nil}, {valid, nil}}, 2, nil},
		{"a look", 1, []attempt{{invalid, nil}}, 1, nil},
		{"broken streams", 6, []attempt{{invalid, broken}}, 1, broken},
		{"nothing to show", 6, []attempt{{nil, broken}}, 0, broken},
		{"nothing to show the second time", 6, []attempt{{invalid, nil}, {nil, broken}}, 1, broken},
		{"interrupted the second time", 6, []attempt{{invalid, nil}, {&measure.Run{Interrupted: true}, nil}}, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &plan.Plan{Name: "p", Rounds: c.rounds, Window: 1, Base: plan.DefaultBase(), Cells: []plan.Cell{plan.DefaultBase()}}
			dir, err := report.CreateDirectory(filepath.Join(t.TempDir(), "out"), p, newResults())
			if err != nil {
				t.Fatal(err)
			}
			made := 0
			m := &comparison{dir: dir, plan: p, repeats: map[int]int{}, once: func(context.Context, plan.Cell, <-chan struct{}, func(*measure.Orders)) (*measure.Run, error) {
				if made == len(c.attempts) {
					t.Fatal("one run too many")
				}
				a := c.attempts[made]
				made++
				if a.run == nil {
					return nil, a.err
				}
				run := *a.run
				return &run, a.err
			}}
			if err := m.tries(t.Context(), plan.Job{}, nil); !errors.Is(err, c.failed) || (err == nil) != (c.failed == nil) {
				t.Errorf("error %v, want %v", err, c.failed)
			}
			r, err := dir.Results()
			if err != nil {
				t.Fatal(err)
			}
			kept := 0
			if len(r.Cells) > 0 {
				kept = len(r.Cells[0].Runs)
				for _, run := range r.Cells[0].Runs {
					if run.Round != 1 {
						t.Errorf("round %d", run.Round)
					}
				}
			}
			if made != len(c.attempts) || kept != c.kept {
				t.Errorf("%d runs made, %d kept", made, kept)
			}
		})
	}
}

// A cell that is too much for the machine is not repeated over and over.
func TestRepeatsAreBounded(t *testing.T) {
	const rounds = 7
	p := &plan.Plan{Name: "p", Rounds: rounds, Window: 1, Base: plan.DefaultBase(), Cells: []plan.Cell{plan.DefaultBase()}}
	dir, err := report.CreateDirectory(filepath.Join(t.TempDir(), "out"), p, newResults())
	if err != nil {
		t.Fatal(err)
	}
	made := 0
	m := &comparison{dir: dir, plan: p, repeats: map[int]int{}, once: func(context.Context, plan.Cell, <-chan struct{}, func(*measure.Orders)) (*measure.Run, error) {
		made++
		return &measure.Run{Saturated: true, Reasons: []string{"saturated: 1% was dropped"}}, nil
	}}
	for round := range rounds {
		if err := m.tries(t.Context(), plan.Job{Round: round}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if made != rounds+2 {
		t.Errorf("%d runs of %d rounds", made, rounds)
	}
}

// No run begins after a signal.
func TestNoRepeatAfterASignal(t *testing.T) {
	p := &plan.Plan{Name: "p", Rounds: 6, Window: 1, Base: plan.DefaultBase(), Cells: []plan.Cell{plan.DefaultBase()}}
	dir, err := report.CreateDirectory(filepath.Join(t.TempDir(), "out"), p, newResults())
	if err != nil {
		t.Fatal(err)
	}
	interrupt, made := make(chan struct{}), 0
	m := &comparison{dir: dir, plan: p, repeats: map[int]int{}, once: func(context.Context, plan.Cell, <-chan struct{}, func(*measure.Orders)) (*measure.Run, error) {
		made++
		close(interrupt)
		return &measure.Run{Reasons: []string{"the fleet was late"}}, nil
	}}
	if err := m.tries(t.Context(), plan.Job{}, interrupt); err != nil || made != 1 {
		t.Errorf("%d runs, %v", made, err)
	}
}
