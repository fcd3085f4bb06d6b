package report

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// Latencies are all latencies of one run.
type Latencies struct {
	Name       string // of the run, with its number where its cell has several
	Cell       string // of its cell
	Started    string // RFC 3339
	DurationNS int64
	Histogram  *hdrhistogram.Histogram // in ns
}

// Latencies decodes the latencies of all runs, streams before orders. Without names
// the runs that have none; it is an error that none has any, as with the first schema.
func (r *Results) Latencies() (with []Latencies, without []string, err error) {
	add := func(l Latencies, encoded string) error {
		if encoded == "" {
			without = append(without, l.Name)
			return nil
		}
		if l.Histogram, err = measure.DecodeHistogram(encoded); err != nil {
			return fmt.Errorf("latency_hdr of %s: %w", l.Name, err)
		}
		with = append(with, l)
		return nil
	}
	names := cellNames(r)
	for i, c := range r.Cells {
		for n, run := range c.Runs {
			l := Latencies{Name: numbered(names[i], cmp.Or(run.Round, n+1), len(c.Runs)), Cell: names[i], Started: run.Started, DurationNS: run.DurationNS}
			if err := add(l, run.LatencyHDR); err != nil {
				return nil, nil, err
			}
		}
	}
	total, seen := map[string]int{}, map[string]int{}
	for _, o := range r.Orders {
		total[orderName(o)]++
	}
	for _, o := range r.Orders {
		name := orderName(o)
		seen[name]++
		l := Latencies{Name: numbered(name, seen[name], total[name]), Cell: name, Started: o.Started, DurationNS: o.DurationNS}
		if err := add(l, o.LatencyHDR); err != nil {
			return nil, nil, err
		}
	}
	if len(with) == 0 {
		return nil, nil, errors.New("no run has its latencies (latency_hdr): a tickgauge of before schema v2 measured, or nothing was received; measure again, or take another format")
	}
	return with, without, nil
}

// WriteFiles writes a file for each run into dir, which it makes where it is
// missing: each whole or not at all, called after the run, ending in ext. It returns
// their paths.
func WriteFiles(dir, ext string, runs []Latencies, write func(w io.Writer, l Latencies) error) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("write %s files: %w", ext, err)
	}
	var paths []string
	taken := map[string]int{}
	for _, l := range runs {
		name := plainName(l.Name)
		if taken[name]++; taken[name] > 1 {
			name = fmt.Sprintf("%s_%d", name, taken[name])
		}
		path := filepath.Join(dir, name+ext)
		if err := WriteWhole(path, func(w io.Writer) error { return write(w, l) }); err != nil {
			return paths, fmt.Errorf("write %s files: %w", ext, err)
		}
		paths = append(paths, path)
	}
	return paths, nil
}
