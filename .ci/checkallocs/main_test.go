package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const printed = `goos: linux
pkg: github.com/tickgauge/tickgauge/feed
BenchmarkPublish/W1-4/x=1-2	500	25786 ns/op	 257.9 ns/delivery	560 B/op	4 allocs/op
BenchmarkPublish/W1-4/x=1-2	500	24000 ns/op	 257.9 ns/delivery	560 B/op	5 allocs/op
PASS
ok  	github.com/tickgauge/tickgauge/feed	1.0s
pkg: github.com/tickgauge/tickgauge/order/book
BenchmarkQuote-2	500	197.3 ns/op	0 B/op	0 allocs/op
`

func TestReadBench(t *testing.T) {
	got := make(map[string]sample)
	err := readBench([]byte(printed), got)
	if err != nil || len(got) != 2 {
		t.Fatalf("%v, %v", got, err)
	}
	s := got["./feed Publish/W1-4/x=1"]
	if s.ns < 23999 || s.ns > 24001 || s.allocs.least != 4 || s.allocs.most != 5 {
		t.Errorf("%+v in %v", s, got)
	}
	for name, text := range map[string]string{
		"nothing":            "PASS\n",
		"no allocations":     "BenchmarkX-2 1 5 ns/op\n",
		"not what is a line": "BenchmarkX-2 many 5 ns/op 0 B/op 0 allocs/op\n",
	} {
		if err := readBench([]byte(text), make(map[string]sample)); err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct{ name, baseline, err string }{
		{"as it is", "./feed Publish/W1-4/x=1 4\n./order/book Quote 0\n", ""},
		{"fewer than before", "# a remark\n\n./feed Publish/W1-4/x=1 9\n./order/book Quote 0\n", ""},
		{"a new benchmark", "./feed Publish/W1-4/x=1 4\n", ""},
		{"more than before", "./feed Publish/W1-4/x=1 3\n./order/book Quote 0\n", "Publish/W1-4/x=1: 4 allocations per operation, the baseline allows 3"},
		{"a benchmark that is gone", "./feed Publish/W1-4/x=1 4\n./order/book Quote 0\n./feed Gone 1\n", "./feed Gone: in the baseline, but no benchmark"},
		{"an empty baseline", "# nothing\n", "no benchmark in it"},
		{"no number", "./feed Publish/W1-4/x=1 four\n", "line 1"},
		{"a line too long", "./feed Quote 4 5\n", "line 1"},
		{"twice", "./feed Quote 4\n./feed Quote 5\n", "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := run(io.Discard, write(t, tt.baseline), []string{write(t, printed)}, false)
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("got %v, want %q in it", err, tt.err)
			}
		})
	}
}

// What one process did in each round, another may not do.
func TestSecondProcess(t *testing.T) {
	const line = "pkg: github.com/tickgauge/tickgauge/feed\nBenchmarkX-2 500 5 ns/op 0 B/op "
	baseline, first, second := write(t, "./feed X 100\n"), write(t, line+"103 allocs/op\n"), write(t, line+"102 allocs/op\n")
	if err := run(io.Discard, baseline, []string{first}, false); err == nil {
		t.Error("103 pass for 100")
	}
	if err := run(io.Discard, baseline, []string{first, second}, false); err != nil {
		t.Error(err)
	}
}

// A baseline that was written passes, and says the most of the rounds.
func TestUpdate(t *testing.T) {
	baseline, bench := filepath.Join(t.TempDir(), "allocs.txt"), []string{write(t, printed)}
	if err := run(io.Discard, baseline, bench, true); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := run(&out, baseline, bench, false); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "24000.0          4         5  ./feed Publish/W1-4/x=1\n") {
		t.Errorf("%s", out.String())
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}
