package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"golang.org/x/perf/benchfmt"
)

const module = "github.com/tickgauge/tickgauge"

// sample is what the rounds of a benchmark showed.
type sample struct {
	ns     float64 // the least
	allocs struct{ least, most int64 }
}

// readBench adds the output of go test to what was measured, with the reader that
// benchstat uses. The names are those of the package, from the module's root, and of the benchmark
// without the number of processors.
func readBench(data []byte, measured map[string]sample) error {
	var errs []error
	in := benchfmt.NewReader(bytes.NewReader(data), "bench")
	for in.Scan() {
		switch record := in.Result().(type) {
		case *benchfmt.SyntaxError:
			errs = append(errs, record)
		case *benchfmt.Result:
			name := nameOf(record)
			allocs, counted := record.Value("allocs/op")
			seconds, timed := record.Value("sec/op")
			if !counted || !timed {
				errs = append(errs, fmt.Errorf("%s: without ns/op or allocs/op, run it with -benchmem", name))
				continue
			}
			s, again := measured[name]
			if !again {
				s.ns, s.allocs.least = math.Inf(1), math.MaxInt64
			}
			s.ns = min(s.ns, seconds*1e9)
			s.allocs.least, s.allocs.most = min(s.allocs.least, int64(allocs)), max(s.allocs.most, int64(allocs))
			measured[name] = s
		}
	}
	if err := in.Err(); err != nil {
		errs = append(errs, err)
	}
	if len(measured) == 0 {
		errs = append(errs, errors.New("no benchmark in it"))
	}
	return errors.Join(errs...)
}

func nameOf(r *benchfmt.Result) string {
	folder := strings.TrimPrefix(r.GetConfig("pkg"), module)
	name := string(r.Name.Full())
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		name = name[:i] // -cpu 2 has put a number there
	}
	return "." + folder + " " + name
}
