// Package report writes what was measured: results.json and the table.
package report

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Schema names the form of results.json; docs/results.md describes it.
const Schema = "tickgauge.results/v1"

// Results is results.json.
type Results struct {
	Schema  string       `json:"schema"`
	Version string       `json:"version"` // of tickgauge
	Created string       `json:"created"` // RFC 3339
	Host    measure.Host `json:"host"`
	Seed    uint64       `json:"seed"`
	Source  string       `json:"source"` // synth, or the capture's file name
	Plan    string       `json:"plan"`   // its name; empty: none
	// How the runs were asked for.
	WarmupNS   int64   `json:"warmup_ns"`
	DurationNS int64   `json:"duration_ns"`
	Zipf       float64 `json:"zipf"`
	Cells      []Cell  `json:"cells"`
	// Orders are the runs of traders.
	Orders []*measure.Orders `json:"orders"`
	// Comparison is of a cell's rounds with those of the first; null where there was
	// but one round.
	Comparison *compare.Comparison `json:"comparison"`
	Thresholds []compare.Outcome   `json:"thresholds"`
}

// Cell is a cell with its runs.
type Cell struct {
	plan.Cell
	Runs []*measure.Run `json:"runs"`
}

// WriteFile writes results as JSON to path, whole or not at all.
func (r *Results) WriteFile(path string) error {
	whole := *r
	if whole.Cells == nil {
		whole.Cells = []Cell{}
	}
	if whole.Thresholds == nil {
		whole.Thresholds = []compare.Outcome{}
	}
	if whole.Orders == nil {
		whole.Orders = []*measure.Orders{}
	}
	b, err := json.MarshalIndent(&whole, "", "  ")
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	if err := writeWhole(path, append(b, '\n')); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// ReadFile reads results.json. Another schema is an error.
func ReadFile(path string) (*Results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	var r Results
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, fmt.Errorf("read results %s: %w", path, err)
	}
	if r.Schema != Schema {
		return nil, fmt.Errorf("read results %s: schema %q, want %q", path, r.Schema, Schema)
	}
	return &r, nil
}
