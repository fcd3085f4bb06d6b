package main

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/clients/report"
)

// TestAxesOfAFleet: TLS, compression and padding of an exchange and fleets as
// programs, and what the results say of them.
func TestAxesOfAFleet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	_, ready, _ := exchangeProcess(t, "--tls=self", "--tls-ca-out="+file, "--compression", "--pad-ticks=1024", "--rate=500", "--symbols=5")
	if ready.TLSCA != file {
		t.Fatalf("the ready line says %+v, want the CA's file %s", ready, file)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if status, got := getCA(t, ready.Debug); status != http.StatusOK || !bytes.Equal(got, want) {
		t.Errorf("/debug/ca.pem: %d %s, want %s", status, got, want)
	}
	for i := range transports {
		tr := &transports[i]
		target := ready.HTTP
		if tr.overGRPC {
			target = ready.GRPC
		}
		for _, compression := range []string{noCompression, tr.compression} {
			out := filepath.Join(t.TempDir(), "run.json")
			status, table, errs := program(t, "fleet", "--transport="+tr.name, "--http-version="+tr.httpVersion, "--target="+target, "--debug-target="+ready.Debug,
				"--ca="+file, "--compression="+compression, "--streams=5", "--warmup=0s", "--duration=200ms", "--json="+out)
			if status != 0 {
				t.Fatalf("%s: status %d: %s", tr.name, status, errs)
			}
			results, err := report.ReadFile(out)
			if err != nil {
				t.Fatal(err)
			}
			cell := results.Cells[0]
			run := cell.Runs[0]
			if !cell.TLS || cmp.Or(cell.Compression, noCompression) != compression || cell.PayloadBytes != 1024 || !strings.Contains(table, " tls") {
				t.Errorf("%s: cell %+v\n%s", tr.name, cell.Cell, table)
			}
			// Ticks that leave together share what compression makes of their padding.
			if run.Received == 0 || run.Missed != 0 || run.WireBytesPerDelivery == nil || compression == noCompression && *run.WireBytesPerDelivery < 1000 {
				t.Errorf("%s: run %+v", tr.name, run)
			}
		}
	}
}

func TestNoCAWithoutTLS(t *testing.T) {
	_, ready, _ := exchangeProcess(t)
	if status, got := getCA(t, ready.Debug); status != http.StatusNotFound || !strings.Contains(string(got), "--tls self") || ready.TLSCA != "" {
		t.Errorf("/debug/ca.pem: %d %s; ready %+v", status, got, ready)
	}
}

func getCA(t *testing.T, debug string) (int, []byte) {
	t.Helper()
	resp, err := http.Get("http://" + debug + "/debug/ca.pem")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body
}

// TestPlansAllowWhatTransportsHave: the plan knows the same compressions.
func TestPlansAllowWhatTransportsHave(t *testing.T) {
	for i := range transports {
		tr := &transports[i]
		for _, compression := range []string{"", "none", "gzip", "deflate"} {
			c := plan.DefaultBase()
			c.Transport, c.HTTPVersion, c.Connections, c.Compression = tr.name, tr.httpVersion, c.Streams, compression
			_, err := (&compressionFlag{Compression: cmp.Or(compression, noCompression)}).compresses(tr.name, tr.compression, nil)
			if got := c.Validate(); (got == nil) != (err == nil) {
				t.Errorf("%s with %q: the plan says %v, the fleet %v", tr.name, compression, got, err)
			}
		}
	}
}

// TestBatchesOfPaddedTicksFitTheirReaders: what leaves in one message stays far
// below the 16 MiB that clients take.
func TestBatchesOfPaddedTicksFitTheirReaders(t *testing.T) {
	for _, bytes := range []int{0, 1024, 4096, 5000, 1 << 16} {
		n := cmp.Or((&paddingFlag{PadTicks: bytes}).batchTicks(), 256)
		if n < 1 || n*bytes > batchBytes || bytes <= 4096 && n != 256 {
			t.Errorf("%d ticks of %d bytes", n, bytes)
		}
	}
}
