package replay

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// capture writes lines to a file, gzip where the name says so.
func capture(t testing.TB, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	var w io.WriteCloser = f
	if strings.HasSuffix(name, ".gz") {
		w = gzip.NewWriter(f)
	}
	for _, l := range lines {
		if _, err := io.WriteString(w, l+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w != io.WriteCloser(f) {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func mustOpen(t testing.TB, path string, opts Options) *Source {
	t.Helper()
	s, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// show writes an update as one short line: the symbol, the quote, the trade.
func show(s *Source, u *feed.Update) string {
	var b strings.Builder
	b.WriteString(s.Symbols()[u.Symbol].Name)
	if u.Quote {
		fmt.Fprintf(&b, " quote %sx%s/%sx%s", u.BidPx, u.BidSz, u.AskPx, u.AskSz)
	}
	if u.LastPx != 0 || u.LastSz != 0 || u.TradeID != 0 || u.Aggressor != feed.SideNone {
		fmt.Fprintf(&b, " last %sx%s id %d %s", u.LastPx, u.LastSz, u.TradeID,
			map[feed.Side]string{feed.SideNone: "none", feed.SideBuy: "buy", feed.SideSell: "sell"}[u.Aggressor])
	}
	return b.String()
}

// drain reads a source to its end.
func drain(t testing.TB, s *Source) (shown []string, updates []feed.Update) {
	t.Helper()
	for {
		var u feed.Update
		err := s.Next(&u)
		if errors.Is(err, io.EOF) {
			return shown, updates
		}
		if err != nil {
			t.Fatal(err)
		}
		shown = append(shown, show(s, &u))
		updates = append(updates, u)
	}
}

// rule is a capture by hand and the ticks or the error that it gives.
type rule struct {
	name    string
	lines   []string
	want    []string
	wantErr string // part of the error, with the line
}

func testRules(t *testing.T, format string, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			path := capture(t, "capture", r.lines...)
			s, err := Open(path, Options{Format: format})
			if r.wantErr != "" {
				wantError(t, err, r.wantErr)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			got, updates := drain(t, s)
			if !slices.Equal(got, r.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(r.want, "\n"))
			}
			if s.Ticks() != int64(len(got)) {
				t.Errorf("Ticks %d, got %d", s.Ticks(), len(got))
			}
			for _, u := range updates {
				if u.Origin != feed.OriginCapture || u.ExchangeTSNS == 0 {
					t.Errorf("origin %d, exchange time %d", u.Origin, u.ExchangeTSNS)
				}
			}
			sniffed := mustOpen(t, path, Options{})
			if sniffed.Format() != format {
				t.Errorf("found format %q", sniffed.Format())
			}
		})
	}
}

func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", part)
	}
	if !strings.Contains(err.Error(), part) || !strings.HasPrefix(err.Error(), "replay") {
		t.Fatalf("error %q, want it to start with replay and to have %q", err, part)
	}
}
