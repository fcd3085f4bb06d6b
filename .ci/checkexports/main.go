// Command checkexports reads what `tickgauge report --format bench` made of a
// results.json with the reader that benchstat uses, and fails where a run that may
// be compared is not in it, or any figure of it differs.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/perf/benchfmt"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: checkexports results.json bench.txt")
		os.Exit(2)
	}
	n, err := checkFiles(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintf(os.Stderr, "checkexports: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d runs, as %s has them\n", os.Args[2], n, os.Args[1])
}

func checkFiles(results, bench string) (int, error) {
	r, err := os.ReadFile(results)
	if err != nil {
		return 0, err
	}
	b, err := os.ReadFile(bench)
	if err != nil {
		return 0, err
	}
	return check(r, b)
}

// run is a run of streams or of orders.
type run struct {
	Valid     bool  `json:"valid"`
	Saturated bool  `json:"saturated"`
	Received  int64 `json:"received"`
	Acked     int64 `json:"acked"`
	Latency   *struct {
		P50  float64 `json:"p50"`
		P99  float64 `json:"p99"`
		P999 float64 `json:"p999"`
		Max  float64 `json:"max"`
	} `json:"latency_ns"`
}

// check returns how many runs both have.
func check(results, bench []byte) (int, error) {
	want, err := usable(results)
	if err != nil {
		return 0, err
	}
	var errs []error
	n := 0
	in := benchfmt.NewReader(bytes.NewReader(bench), "bench")
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			errs = append(errs, record)
		case *benchfmt.Result:
			if n < len(want) {
				if err := same(record, want[n]); err != nil {
					errs = append(errs, fmt.Errorf("%s: %w", record.Name, err))
				}
			}
			n++
		}
	}
	if err := in.Err(); err != nil {
		errs = append(errs, err)
	}
	if n != len(want) {
		errs = append(errs, fmt.Errorf("%d benchmarks of %d runs", n, len(want)))
	}
	return n, errors.Join(errs...)
}

// usable are the runs that may be compared, streams before orders.
func usable(results []byte) ([]run, error) {
	var r struct {
		Cells []struct {
			Runs []run `json:"runs"`
		} `json:"cells"`
		Orders []run `json:"orders"`
	}
	if err := json.Unmarshal(results, &r); err != nil {
		return nil, err
	}
	var all []run
	for _, c := range r.Cells {
		all = append(all, c.Runs...)
	}
	all = append(all, r.Orders...)
	return slices.DeleteFunc(all, func(r run) bool { return !r.Valid || r.Saturated }), nil
}

// same compares a benchmark with its run. The reader has turned ns into seconds.
func same(got *benchfmt.Result, want run) error {
	if n := int(want.Received + want.Acked); got.Iters != n {
		return fmt.Errorf("%d iterations of %d deliveries or orders", got.Iters, n)
	}
	if want.Latency == nil {
		return errors.New("the run has no latency")
	}
	for unit, ns := range map[string]float64{
		"p50-sec": want.Latency.P50, "p99-sec": want.Latency.P99, "p99.9-sec": want.Latency.P999, "max-sec": want.Latency.Max,
	} {
		i := slices.IndexFunc(got.Values, func(v benchfmt.Value) bool { return v.Unit == unit })
		if i < 0 {
			return fmt.Errorf("no %s", unit)
		}
		if v := got.Values[i]; v.OrigValue != ns && ns != 0 {
			return fmt.Errorf("%s is %v ns, want %v", unit, v.OrigValue, ns)
		}
	}
	return nil
}
