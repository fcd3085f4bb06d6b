// Command codecs times how libraries encode and decode the messages of an exchange,
// and how the exchange itself does, on one goroutine, in rounds that take each in
// turn. It prints the medians as a Markdown table. Its module keeps those libraries
// out of the product's.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
)

//go:generate sh -c "cd messages && go tool -modfile=../../buf/go.mod buf generate"

func main() {
	testing.Init()
	rounds := flag.Int("rounds", 5, "rounds; the table has their medians")
	each := flag.String("time", "50ms", "time of each loop in a round")
	flag.Parse()
	if err := flag.Set("test.benchtime", *each); err != nil || *rounds < 1 || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	runtime.GOMAXPROCS(1)
	if err := run(os.Stdout, *rounds); err != nil {
		fmt.Fprintf(os.Stderr, "codecs: %v\n", err)
		os.Exit(1)
	}
}

// figure is what a codec takes for a subject.
type figure struct {
	bytes          int
	encode, decode []testing.BenchmarkResult // one a round
}

func run(out io.Writer, rounds int) error {
	all, subjects := codecs(), subjects()
	figures := make(map[[2]int]*figure)
	for range rounds {
		for c := range all {
			for s := range subjects {
				p := all[c].prepare(subjects[s])
				if p == nil {
					continue
				}
				f := figures[[2]int{c, s}]
				if f == nil {
					f = new(figure)
					figures[[2]int{c, s}] = f
				}
				if err := f.round(p); err != nil {
					return fmt.Errorf("%s, %s: %w", all[c].name, subjects[s].name, err)
				}
			}
		}
	}
	fmt.Fprint(out, "| codec |")
	for _, s := range subjects {
		fmt.Fprintf(out, " %s |", s.name)
	}
	fmt.Fprint(out, "\n| --- |")
	for range subjects {
		fmt.Fprint(out, " ---: |")
	}
	fmt.Fprintln(out)
	for c := range all {
		fmt.Fprintf(out, "| %s |", all[c].name)
		for s := range subjects {
			fmt.Fprintf(out, " %s |", figures[[2]int{c, s}])
		}
		fmt.Fprintln(out)
	}
	return nil
}

// round times both ways. An error of either ends it.
func (f *figure) round(p *pair) error {
	data, err := p.encode(nil)
	if err != nil {
		return err
	}
	f.bytes = len(data)
	dst := make([]byte, 0, 2*len(data))
	f.encode = append(f.encode, testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, failed := p.encode(dst[:0]); failed != nil {
				err = failed
				return
			}
		}
	}))
	f.decode = append(f.decode, testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, failed := p.decode(data); failed != nil {
				err = failed
				return
			}
		}
	}))
	return err
}

// String is bytes; encode ns / allocations; decode ns / allocations.
func (f *figure) String() string {
	if f == nil {
		return "-"
	}
	return fmt.Sprintf("%d; %s; %s", f.bytes, median(f.encode), median(f.decode))
}

// median is the round in the middle by its time.
func median(rounds []testing.BenchmarkResult) string {
	sorted := slices.Clone(rounds)
	slices.SortFunc(sorted, func(a, b testing.BenchmarkResult) int { return int(a.NsPerOp() - b.NsPerOp()) })
	m := sorted[len(sorted)/2]
	return fmt.Sprintf("%d / %d", m.NsPerOp(), m.AllocsPerOp())
}
