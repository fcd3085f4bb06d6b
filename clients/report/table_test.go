package report

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestWriteTable(t *testing.T) {
	var b bytes.Buffer
	if err := WriteTable(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "table.txt", b.Bytes())
}

func TestWriteTableTellsThatItCouldNot(t *testing.T) {
	for _, word := range []string{"verdict", "without a word"} { // in the table, and below it
		err := WriteTable(fullAt(word), sample(t))
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write table: ") {
			t.Errorf("full at %q: error %v, want that the table could not be written", word, err)
		}
	}
}

var errFull = errors.New("no space left on device")

// fullAt is a writer that takes everything up to a word.
type fullAt string

func (word fullAt) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(word)) {
		return 0, errFull
	}
	return len(b), nil
}

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 999: "999 ns",
		1000: "1.00 µs", 1234: "1.23 µs", 9994: "9.99 µs", 9996: "10.0 µs", 12_345: "12.3 µs", 99_940: "99.9 µs", 99_960: "100 µs",
		123_456: "123 µs", 999_400: "999 µs", 999_600: "1.00 ms",
		1_000_000: "1.00 ms", 45_600_000: "45.6 ms", 999_999_999: "1.00 s",
		1_500_000_000: "1.50 s", 61_000_000_000: "61.0 s", 3_600_000_000_000: "3600 s",
	} {
		if got := duration(ns); got != want {
			t.Errorf("%d ns is written %q, want %q", ns, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0", 7: "7", 999: "999", 1000: "1,000", 12_345: "12,345", 123_456: "123,456", 1_234_567: "1,234,567",
		-1: "-1", -999: "-999", -1000: "-1,000", -123_456: "-123,456",
	} {
		if got := count(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}
