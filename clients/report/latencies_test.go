package report

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func latencies(t *testing.T) []Latencies {
	t.Helper()
	with, without, err := sample(t).Latencies()
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"sse h1", "websocket h1 protobuf, 64 workers"}; !slices.Equal(without, want) {
		t.Errorf("without latencies are %q, want %q", without, want)
	}
	return with
}

// TestWriteHGRM compares with what HdrHistogram 2.1.11 for Java prints of the same
// latencies: AbstractHistogram.outputPercentileDistribution(out, 5, 1000.0) of the
// interval in testdata/one.hlog.
func TestWriteHGRM(t *testing.T) {
	var b bytes.Buffer
	if err := WriteHGRM(&b, latencies(t)[0]); err != nil {
		t.Fatal(err)
	}
	head, rest, _ := strings.Cut(b.String(), "\n")
	if want := "# tickgauge: latency in us of grpc/100, started 2026-03-04T05:06:10.5Z"; head != want {
		t.Errorf("head %q, want %q", head, want)
	}
	java, err := os.ReadFile(filepath.Join("testdata", "java.hgrm"))
	if err != nil {
		t.Fatal(err)
	}
	if rest != string(java) {
		t.Errorf("the Java library prints\n%s\nand this is\n%s", java, rest)
	}
	if err := WriteHGRM(fullAt("Value"), latencies(t)[0]); !errors.Is(err, errFull) {
		t.Errorf("on a full disk: error %v", err)
	}
}

func TestWriteHLog(t *testing.T) {
	all := latencies(t)
	for name, runs := range map[string][]Latencies{"one.hlog": all[:1], "all.hlog": all} {
		var b bytes.Buffer
		if err := WriteHLog(&b, runs...); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, name, b.Bytes())
		in := hdrhistogram.NewHistogramLogReader(&b)
		for _, want := range runs {
			got, err := in.NextIntervalHistogram()
			if err != nil || got == nil || !got.Equals(want.Histogram) || got.Tag() != plainName(want.Cell) {
				t.Errorf("%s: %s came back as %+v, %v", name, want.Name, got, err)
			}
		}
		if more, err := in.NextIntervalHistogram(); more != nil || err != nil {
			t.Errorf("%s: another interval %+v, %v", name, more, err)
		}
	}
	for _, word := range []string{"tickgauge", "StartTime", "Tag="} {
		if err := WriteHLog(fullAt(word), all...); !errors.Is(err, errFull) {
			t.Errorf("full at %s: error %v", word, err)
		}
	}
	all[1].Started = "yesterday"
	if err := WriteHLog(io.Discard, all...); err == nil || !strings.Contains(err.Error(), "the start of "+all[1].Name) {
		t.Errorf("a start that is no time: error %v", err)
	}
}

func TestLatenciesOfOtherResults(t *testing.T) {
	old, err := ReadFile(filepath.Join("testdata", "results-v1.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := old.Latencies(); err == nil || !strings.Contains(err.Error(), "no run has its latencies") {
		t.Errorf("the first schema: error %v", err)
	}
	damaged := sample(t)
	damaged.Orders[0].LatencyHDR = "HISTORY"
	if _, _, err := damaged.Latencies(); err == nil || !strings.HasPrefix(err.Error(), "latency_hdr of grpc-unary h2 protobuf, 64 workers: ") {
		t.Errorf("damaged: error %v", err)
	}
}

func TestWriteFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "folder")
	runs := latencies(t)
	same := runs[0]
	same.Name = "grpc-100" // as plain as the first
	paths, err := WriteFiles(dir, ".hgrm", append(runs, same), WriteHGRM)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"grpc-100.hgrm", "grpc-100_2.hgrm", "grpc-own.hgrm", "grpc-unary-h2-protobuf-64-workers.hgrm", "rest+sse-h2-protobuf-64-workers.hgrm",
		"rest-unary-h1-json-1-000-s-beside-10-000-grpc-100.hgrm", "sse-h2c-100-1.hgrm", "sse-h2c-100-2.hgrm", "websocket.hgrm",
	}
	only(t, dir, want...)
	for i := range want {
		want[i] = filepath.Join(dir, want[i])
	}
	if slices.Sort(paths); !slices.Equal(paths, want) {
		t.Errorf("paths %v, want %v", paths, want)
	}
	// What fails leaves the old files.
	before, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := WriteFiles(dir, ".hgrm", runs, func(io.Writer, Latencies) error { return errFull }); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
	holds(t, paths[0], string(before))
	if _, err := WriteFiles(paths[0], ".hgrm", runs, WriteHGRM); err == nil || !strings.HasPrefix(err.Error(), "write .hgrm files: ") {
		t.Errorf("into a file: error %v", err)
	}
}
