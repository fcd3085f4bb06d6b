package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/tickgauge/tickgauge/clients/report"
)

type reportCmd struct {
	Paths  []string `arg:"" name:"path" help:"results.json, or the directory of a comparison."`
	Format string   `default:"table" enum:"table,markdown,csv,bench,hgrm,hlog,json" help:"What to write: one of ${enum}."`
	Output string   `placeholder:"FILE|DIR" help:"Where to; standard output unless given. hgrm and hlog want a directory, in which each run has a file."`
}

// Help is the long text of --help.
func (reportCmd) Help() string {
	return `Shows results that compare, fleet and orders have written with --json, of this version
or an earlier one, or writes them in another form (docs/exports.md):

  table     the tables that the commands print
  markdown  the same for GitHub
  csv       a line for each run, a column for each figure
  bench     Go's benchmark format, for benchstat; valid runs alone
  hgrm      all percentiles of each run, for HdrHistogram's plotters
  hlog      all latencies of each run, an HdrHistogram interval log
  json      results.json of the newest schema

Several results are shown one after the other; of two, table and markdown say below how
the second differs from the first, for cells that both have: medians, their ratio, and
from six valid runs on each side a verdict (docs/statistics.md). json, hgrm and hlog take one at a time.
A file that is there is replaced as a whole, or stays where that fails.

The exit status is 0 where all was written, 1 where something could not be read or
written, 2 for a wrong flag.

Examples:
  tickgauge report results.json
  tickgauge report before.json after.json
  tickgauge report results.json --format csv --output results.csv
  tickgauge report results.json --format hgrm --output latencies
  tickgauge report before.json --format bench --output before.txt`
}

// Run writes the report. Nothing is written where a path cannot be read.
func (c *reportCmd) Run() error {
	perRun := c.Format == "hgrm" || c.Format == "hlog"
	switch {
	case len(c.Paths) > 1 && (perRun || c.Format == "json"):
		return usageError{fmt.Errorf("--format %s takes one path at a time, not %d; run it for each", c.Format, len(c.Paths))}
	case perRun && c.Output == "":
		return usageError{fmt.Errorf("--format %s writes a file for each run; say into which directory with --output", c.Format)}
	}
	if info, err := os.Stat(c.Output); err == nil && perRun != info.IsDir() {
		want := map[bool]string{true: "a directory", false: "a file"}[perRun]
		return usageError{fmt.Errorf("--output %s: --format %s wants %s there", c.Output, c.Format, want)}
	}
	var results []report.Named
	for _, path := range c.Paths {
		r, err := report.Read(path)
		if err != nil {
			return err
		}
		results = append(results, report.Named{Name: path, Results: r})
	}
	if perRun {
		return c.writeRuns(results[0])
	}
	write := func(w io.Writer) error {
		switch c.Format {
		case "markdown":
			return report.WriteMarkdown(w, results...)
		case "csv":
			return report.WriteCSV(w, results...)
		case "bench":
			return report.WriteBench(w, results...)
		case "json":
			return results[0].Write(w)
		}
		return report.WriteText(w, results...)
	}
	if c.Output == "" {
		return write(os.Stdout)
	}
	if err := report.WriteWhole(c.Output, write); err != nil {
		return fmt.Errorf("write %s: %w", c.Output, err)
	}
	return nil
}

// writeRuns writes a file for each run, and says on standard error which run has
// none.
func (c *reportCmd) writeRuns(r report.Named) error {
	runs, without, err := r.Latencies()
	if err != nil {
		return fmt.Errorf("%s: %w", r.Name, err)
	}
	if len(without) > 0 {
		fmt.Fprintf(os.Stderr, "no latencies were kept of: %s\n", strings.Join(without, "; "))
	}
	write := report.WriteHGRM
	if c.Format == "hlog" {
		write = func(w io.Writer, l report.Latencies) error { return report.WriteHLog(w, l) }
	}
	paths, err := report.WriteFiles(c.Output, "."+c.Format, runs, write)
	for _, path := range paths {
		fmt.Fprintln(os.Stderr, "wrote", path)
	}
	return err
}
