package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// The golden files of the product's own tests.
var golden = filepath.Join("..", "..", "clients", "report", "testdata")

func TestGoldenFiles(t *testing.T) {
	n, err := checkFiles(filepath.Join(golden, "results.json"), filepath.Join(golden, "bench.txt"))
	if err != nil || n != 4 {
		t.Errorf("%d runs, %v; want 4", n, err)
	}
}

func TestFindsWhatDiffers(t *testing.T) {
	results, err := os.ReadFile(filepath.Join(golden, "results.json"))
	if err != nil {
		t.Fatal(err)
	}
	bench, err := os.ReadFile(filepath.Join(golden, "bench.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"another figure":  bytes.Replace(bench, []byte("617280 p99-ns"), []byte("617281 p99-ns"), 1),
		"another count":   bytes.Replace(bench, []byte("\t200000\t"), []byte("\t200001\t"), 1),
		"no figure":       bytes.Replace(bench, []byte("617280 p99-ns"), []byte("617280 p98-ns"), 1),
		"a line too many": append(bytes.Clone(bench), "BenchmarkX 1 1 ns/op\n"...),
		"a line less":     bytes.Replace(bench, []byte("\nBenchmarkOrders"), []byte("\n# Orders"), 1),
		"no syntax":       append(bytes.Clone(bench), "BenchmarkX many 1 ns/op\n"...),
	} {
		if bytes.Equal(damaged, bench) {
			t.Errorf("%s: nothing is damaged", name)
		}
		if _, err := check(results, damaged); err == nil {
			t.Errorf("%s is not found", name)
		}
	}
	if _, err := check([]byte("{"), bench); err == nil {
		t.Error("half a results.json is not found")
	}
}
