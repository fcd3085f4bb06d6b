package replay

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func zipped(t *testing.T, content []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// The name says nothing: what the content is shows in its first bytes.
func TestPlainAndGzip(t *testing.T) {
	text := []byte("1 " + binanceBook + "\r\n\r\n2 " + binanceTrade)
	for name, content := range map[string][]byte{
		"plain":       text,
		"gzip":        zipped(t, text),
		"gzip in two": append(zipped(t, text[:50]), zipped(t, text[50:])...),
	} {
		t.Run(name, func(t *testing.T) {
			s := mustOpen(t, writeFile(t, content), Options{})
			got, _ := drain(t, s)
			wantLines(t, got, "BTCUSDT quote 61837.63x3.78826/61837.64x1.54698", "BTCUSDT last 61837.63x0.02 id 3735683259 sell")
		})
	}
}

func TestLongLines(t *testing.T) {
	for _, n := range []int{65534, 65535, 65536, 65537, 79307, 1 << 20} {
		pad := strings.Repeat(" ", n-len(binanceBook)-2)
		s := mustOpen(t, capture(t, "c.gz", "1 "+binanceBook+pad, "2 "+binanceTrade), Options{})
		if got, _ := drain(t, s); len(got) != 2 {
			t.Errorf("%d bytes: %d ticks", n, len(got))
		}
	}
}

func TestLevelsWithoutEnd(t *testing.T) {
	var b strings.Builder
	b.WriteString(`1.0: {"type":"snapshot","product_id":"X","asks":[["2000000","1"]],"bids":[["1","1"]`)
	for i := 2; i < 50_000; i++ {
		fmt.Fprintf(&b, `,["%d","1"]`, i)
	}
	b.WriteString("]}")
	s := mustOpen(t, capture(t, "c", b.String()), Options{})
	got, _ := drain(t, s)
	wantLines(t, got, "X quote 49999x1/2000000x1")
}

func TestTooLongLine(t *testing.T) {
	path := capture(t, "c", "short", strings.Repeat("x", 200_000), "y", strings.Repeat("x", 300_000))
	in, err := openInput(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.close() }()
	in.limit = 100_000
	for i, want := range []error{nil, errLong, nil, errLong, io.EOF} {
		if _, err := in.next(); !errors.Is(err, want) {
			t.Fatalf("line %d: %v, want %v", i+1, err, want)
		}
	}
	in.limit = maxLine
	wantError(t, in.at(errLong), "c:4: line too long: over 64 MiB")
}

// A line past the limit costs no more memory than the limit, and can be skipped.
func TestGzipBomb(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks 70 MB")
	}
	path := filepath.Join(t.TempDir(), "bomb")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(f)
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 70 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	_, err = io.WriteString(w, "\n1 "+binanceBook+"\n")
	if err = errors.Join(err, w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	_, err = Open(path, Options{Format: FormatBinance})
	wantError(t, err, "bomb:1: line too long")
	s := mustOpen(t, path, Options{SkipBad: true})
	wantCounts(t, s, map[string]int64{"bad": 1, "bookTicker": 1})
}

func TestFileErrors(t *testing.T) {
	lines := []byte(strings.Repeat("1 "+binanceBook+"\n", 5000))
	whole := zipped(t, lines)
	damaged := bytes.Clone(whole)
	damaged[len(damaged)-6] ^= 1 // in the checksum
	scrambled := bytes.Clone(whole)
	copy(scrambled[20:], bytes.Repeat([]byte{0xff}, 40))
	for _, c := range []struct {
		name    string
		content []byte
		want    string
	}{
		{"empty", nil, "the file is empty"},
		{"empty gzip", zipped(t, nil), "the file is empty"},
		{"blank", []byte("\n\n"), "does not show in its first 2 lines; known are binance, coinbase, kraken; name the one it is with --format"},
		{"text", []byte("Dear reader,\n\nthis is no capture.\n"), "does not show in its first 3 lines"},
		{"other JSON", []byte("{\"type\":\"match\"}\n"), "does not show in its first 1 lines"},
		{"cut gzip", whole[:len(whole)-10], "the gzip data is cut off here"},
		{"cut gzip header", whole[:5], "file:1: the gzip data is cut off here"},
		{"damaged gzip", damaged, "file:5001: the gzip data is damaged"},
		{"scrambled gzip", scrambled, "the gzip data is damaged"},
		{"junk after gzip", append(bytes.Clone(whole), "junk junk junk"...), "the gzip data is damaged"},
		{"cut line", lines[:len(lines)-20], "file:5000: not JSON: unexpected end of JSON input (the file ends within this line)"},
		{"binary", []byte("1 " + binanceBook + "\n\x00\x01\x02\n"), "file:2: want <receive ns> <JSON>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Open(writeFile(t, c.content), Options{})
			wantError(t, err, c.want)
		})
	}
	t.Run("cut gzip is no bad line", func(t *testing.T) {
		_, err := Open(writeFile(t, whole[:len(whole)-10]), Options{SkipBad: true})
		wantError(t, err, "cut off")
	})
}
