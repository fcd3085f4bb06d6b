// Command checkallocs reads what `go test -bench -benchmem -cpu 2` printed, several
// times each benchmark, and fails where one allocates more per operation than its
// line in the baseline says. Times are shown and fail nothing: they are the
// machine's. With -update it writes the baseline instead.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	update := flag.Bool("update", false, "write the baseline instead of checking against it")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: checkallocs [-update] baseline.txt bench.txt...")
	}
	flag.Parse()
	if flag.NArg() < 2 {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), flag.Args()[1:], *update); err != nil {
		fmt.Fprintf(os.Stderr, "checkallocs: %v\n", err)
		os.Exit(1)
	}
}

func run(out io.Writer, baseline string, benches []string, update bool) error {
	measured := make(map[string]sample)
	for _, bench := range benches {
		printed, err := os.ReadFile(bench)
		if err != nil {
			return err
		}
		if err := readBench(printed, measured); err != nil {
			return fmt.Errorf("%s: %w", bench, err)
		}
	}
	if update {
		if err := os.WriteFile(baseline, writeBaseline(measured), 0o644); err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d benchmarks\n", baseline, len(measured))
		return nil
	}
	kept, err := os.ReadFile(baseline)
	if err != nil {
		return err
	}
	allowed, err := readBaseline(kept)
	if err != nil {
		return fmt.Errorf("%s: %w", baseline, err)
	}
	if err := show(out, measured, allowed); err != nil {
		return err
	}
	return check(measured, allowed)
}

// slack is the part of a large count that may come on top: how the messages of a
// connection fall together moves it.
const slack = 50

// check tells all that is wrong, not only the first. A benchmark without a line is
// new and fails nothing; a line without a benchmark watches nothing, and fails.
func check(measured map[string]sample, allowed map[string]int64) error {
	var errs []error
	for _, name := range sorted(measured) {
		most, known := allowed[name]
		if got := measured[name].allocs.least; known && got > most+most/slack {
			errs = append(errs, fmt.Errorf("%s: %d allocations per operation, the baseline allows %d", name, got, most))
		}
	}
	for _, name := range sorted(allowed) {
		if _, ran := measured[name]; !ran {
			errs = append(errs, fmt.Errorf("%s: in the baseline, but no benchmark", name))
		}
	}
	if len(errs) > 0 {
		errs = append(errs, errors.New("if that is meant: make allocs-update, and say why in the commit"))
	}
	return errors.Join(errs...)
}

// show prints a line a benchmark: the least of its rounds.
func show(out io.Writer, measured map[string]sample, allowed map[string]int64) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "ns/op\tallocs/op\tbaseline\t  benchmark")
	fewer, unknown := 0, 0
	for _, name := range sorted(measured) {
		s := measured[name]
		most, known := allowed[name]
		base := fmt.Sprint(most)
		switch {
		case !known:
			base = "new"
			unknown++
		case s.allocs.most < most:
			fewer++
		}
		fmt.Fprintf(w, "%.1f\t%d\t%s\t  %s\n", s.ns, s.allocs.least, base, name)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if fewer+unknown > 0 {
		fmt.Fprintf(out, "%d allocate less than their baseline, %d have none: make allocs-update\n", fewer, unknown)
	}
	return nil
}

const heading = `# Allocations per operation that each benchmark may have: package, name, number.
# make allocs checks, make allocs-update writes. Each is the most of several rounds;
# the check takes the least of its own, and lets counts from 50 on grow by a fiftieth,
# so that chance fails nothing.
`

func writeBaseline(measured map[string]sample) []byte {
	var b bytes.Buffer
	b.WriteString(heading)
	for _, name := range sorted(measured) {
		fmt.Fprintf(&b, "%s %d\n", name, measured[name].allocs.most)
	}
	return b.Bytes()
}

func readBaseline(data []byte) (map[string]int64, error) {
	allowed := make(map[string]int64)
	for i, line := range strings.Split(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var folder, name string
		var n int64
		if c, err := fmt.Sscanf(line+"\n", "%s %s %d\n", &folder, &name, &n); c != 3 || err != nil {
			return nil, fmt.Errorf("line %d: want package, name and number: %q", i+1, line)
		}
		key := folder + " " + name
		if _, twice := allowed[key]; twice {
			return nil, fmt.Errorf("line %d: %s stands twice", i+1, key)
		}
		allowed[key] = n
	}
	if len(allowed) == 0 {
		return nil, errors.New("no benchmark in it")
	}
	return allowed, nil
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
