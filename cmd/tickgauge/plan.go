package main

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/plan"
)

type planCmd struct {
	List   planListCmd   `cmd:"" help:"List the built-in plans."`
	Show   planShowCmd   `cmd:"" help:"Print a plan, its cells and how long it takes."`
	Check  planCheckCmd  `cmd:"" help:"Check a plan's file: every fault with its line."`
	Schema planSchemaCmd `cmd:"" help:"Print the JSON Schema of plans, for editors."`
}

// Help is the long text of --help.
func (planCmd) Help() string {
	return `A plan says what tickgauge compare measures: cells, rounds, windows, orders and
thresholds, in YAML (docs/plans.md).

Examples:
  tickgauge plan show default > mine.yaml
  tickgauge plan check mine.yaml
  tickgauge compare --plan mine.yaml
  tickgauge plan schema > tickgauge.schema.json`
}

type planListCmd struct{}

// Run lists the built-in plans.
func (planListCmd) Run() error {
	for _, name := range plan.BuiltIn() {
		p, err := plan.Load(name)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s %s\n         %s\n", name, p.About, summary(p))
	}
	return nil
}

type planShowCmd struct {
	Plan  string `arg:"" placeholder:"NAME|FILE" help:"quick, default, full, or a file."`
	Cells bool   `help:"Print every cell spelled out, as the directory of a comparison has it."`
}

// Run prints the plan to standard output and what it comes to beside it.
func (c *planShowCmd) Run() error {
	p, err := checkedPlan(c.Plan)
	if err != nil {
		return err
	}
	text := plan.Text(c.Plan)
	switch {
	case c.Cells:
		text, err = p.YAML()
	case text == nil:
		text, err = os.ReadFile(c.Plan)
	}
	if err != nil {
		return fmt.Errorf("show plan: %w", err)
	}
	if _, err := os.Stdout.Write(text); err != nil {
		return fmt.Errorf("show plan: %w", err)
	}
	fmt.Fprintf(os.Stderr, "\n%s:\n", summary(p))
	for i, label := range plan.Labels(p.Cells) {
		fmt.Fprintf(os.Stderr, "%4d  %s, %d streams on %d connections\n", i+1, label, p.Cells[i].Streams, p.Cells[i].Connections)
	}
	return nil
}

type planCheckCmd struct {
	File string `arg:"" help:"The plan's file, or the name of a built-in plan."`
}

// Run checks the plan; a wrong one is a usage error with a line for every fault.
func (c *planCheckCmd) Run() error {
	p, err := checkedPlan(c.File)
	if err != nil {
		return err
	}
	if err := fillCaptures(p); err != nil {
		return err
	}
	fmt.Printf("%s: %s\n", c.File, summary(p))
	return nil
}

type planSchemaCmd struct{}

// Run prints the schema.
func (planSchemaCmd) Run() error {
	b, err := plan.Schema()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(b)
	return err
}

// checkedPlan reads a plan and checks what this machine and this program can do of
// it.
func checkedPlan(name string) (*plan.Plan, error) {
	p, err := plan.Load(name)
	if err != nil {
		return nil, usageError{err}
	}
	if err := errors.Join(p.CheckCells(checkFiles), p.CheckThresholds(compare.CheckThreshold)); err != nil {
		return nil, usageError{err}
	}
	return p, nil
}

func summary(p *plan.Plan) string {
	text := fmt.Sprintf("%d cells, %d rounds, windows of %s", len(p.Cells), p.Rounds, p.Window)
	if p.Orders != nil {
		text += ", orders"
	}
	return fmt.Sprintf("%s, about %s", text, p.TakesAll().Round(time.Second))
}
