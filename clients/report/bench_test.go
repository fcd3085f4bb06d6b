package report

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
)

// The format's own reader tries the same file where its module is at hand: see
// .ci/checkexports.
func TestWriteBench(t *testing.T) {
	var b bytes.Buffer
	if err := WriteBench(&b, Named{"results.json", sample(t)}); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "bench.txt", b.Bytes())
}

// TestBenchLines: no text of a results file makes a line that is none of its runs.
func TestBenchLines(t *testing.T) {
	r := sample(t)
	const nasty = "x\nBenchmarkFake 1 1 ns/op\r\nUnit p50-ns better=higher\ngoos: plan9"
	r.Version, r.Host.CPUModel = nasty, nasty
	r.Cells[0].Source, r.Cells[0].Policy = "/captures/my day-2024.jsonl.gz", nasty
	r.Cells[1].Runs[0].Reasons = []string{nasty}
	r.Orders[0].Path = "a b/c"
	var b bytes.Buffer
	if err := WriteBench(&b, Named{nasty, r}, Named{"two", sample(t)}); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`^(Unit \S+ better=(lower|higher)|(results|goos|goarch|cpu): .*|# .*|Benchmark(Streams|Orders)(/[a-z-]+=\S+)+/connections=\d+\t\d+(\t[0-9.]+ \S+)+)$`)
	count := map[string]int{}
	for _, s := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
		if !line.MatchString(s) {
			t.Errorf("line %q", s)
		}
		count[strings.FieldsFunc(s, func(c rune) bool { return strings.ContainsRune(" /:", c) })[0]]++
	}
	if count["BenchmarkStreams"] != 4 || count["BenchmarkOrders"] != 4 || count["results"] != 2 || count["goos"] != 2 {
		t.Errorf("lines by their beginnings: %v", count)
	}
	for _, want := range []string{"/source=my_day-2024.jsonl.gz/", "/path=a_b_c/"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in:\n%s", want, b.String())
		}
	}
}

func TestWriteBenchTellsThatItCouldNot(t *testing.T) {
	if err := WriteBench(fullAt("Unit"), Named{"a", sample(t)}); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write benchmarks: ") {
		t.Errorf("error %v", err)
	}
}
