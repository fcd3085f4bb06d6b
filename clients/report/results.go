// Package report writes what was measured, and reads it back: results.json, tables
// as text and Markdown, CSV, Go's benchmark format, and two forms of HdrHistogram.
package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/tickgauge/tickgauge/clients/calibrate"
	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Schema names the form of results.json; docs/results.md describes it.
const Schema = "tickgauge.results/v2"

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
	// Codec is what encoding and decoding take on this machine; null: not measured.
	Codec []measure.Codec `json:"codec"`
	// Calibration is of the machine, before the first run; of a comparison that was
	// resumed, before the last part of it. Null: not measured.
	Calibration *calibrate.Calibration `json:"calibration"`

	Cells []Cell `json:"cells"`
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
	if err := WriteWhole(path, r.Write); err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	return nil
}

// Write writes results as JSON.
func (r *Results) Write(w io.Writer) error {
	whole := *r
	whole.Schema = Schema
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
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
