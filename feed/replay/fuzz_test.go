package replay

import (
	"bytes"
	"slices"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

func FuzzBinance(f *testing.F) {
	for _, body := range []string{binanceBook, binanceTrade, binanceDepth, binanceAll, `{"id":1}`, `{"stream":"!ticker@arr","data":[]}`} {
		f.Add([]byte("1723161253937085768 " + body))
	}
	f.Add([]byte(binanceQuote("1e-9", "0.5", "12345.678", `""`)))
	fuzzDecoder(f, FormatBinance, "1 "+binanceBook)
}

func FuzzCoinbase(f *testing.F) {
	for _, body := range []string{coinbaseAll, coinbaseMatch, coinbaseLast, coinbaseTicker, `{"type":"heartbeat"}`} {
		f.Add([]byte("1618677817.0208309: " + body))
	}
	for _, line := range []string{coinbaseOpened, coinbaseSent, coinbaseChanges(`["buy","10","0"],["sell","11.25","1"],["sell","9999999999","1"]`)} {
		f.Add([]byte(line))
	}
	fuzzDecoder(f, FormatCoinbase, "1.0: "+coinbaseAll, "1.0: "+coinbaseLast)
}

func FuzzKraken(f *testing.F) {
	for _, line := range []string{krakenOpened, krakenSent, krakenStatus, krakenAll,
		krakenPayloads(`{"a":[["11","0","1.0"],["9999999999","1","1"]]},{"b":[["10","4","1.0","r"]],"c":"1"}`),
		`2.5: [1,[["1","1","1.0","b","l",""]],"trade","X/Y"]`} {
		f.Add([]byte(line))
	}
	fuzzDecoder(f, FormatKraken, krakenAll)
}

// fuzzDecoder gives a line to a decoder that has read the lines before it. It
// must not crash, must leave no trace of a line that it refuses, and must keep
// books in order otherwise.
func fuzzDecoder(f *testing.F, format string, before ...string) {
	f.Fuzz(func(t *testing.T, line []byte) {
		_ = sniff(line)
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		m := &market{byName: make(map[string]*instrument)}
		d, err := newDecoder(format, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range before {
			if err := d.decode([]byte(b), &event{}); err != nil {
				t.Fatal(err)
			}
		}
		old := make(map[string]instrument)
		for name, in := range m.byName {
			was := *in
			was.book.bids, was.book.asks = slices.Clone(in.book.bids), slices.Clone(in.book.asks)
			old[name] = was
		}
		var e event
		if err := d.decode(line, &e); err != nil {
			for name, in := range m.byName {
				was, known := old[name]
				if known && !sameInstrument(in, &was) || !known && in.book.known {
					t.Fatalf("refused with %v, but changed %s: %+v, was %+v", err, name, in, was)
				}
			}
			return
		}
		for _, in := range m.byName {
			checkBook(t, &in.book)
		}
		if e.in != nil {
			checkTick(t, &e)
		}
	})
}

func sameInstrument(a, b *instrument) bool {
	return slices.Equal(a.book.bids, b.book.bids) && slices.Equal(a.book.asks, b.book.asks) &&
		a.book.known == b.book.known && a.book.far == b.book.far && a.lastPx == b.lastPx && a.grid == b.grid
}

func checkBook(t *testing.T, b *book) {
	for _, h := range []half{b.bids, b.asks} {
		for i, l := range h {
			if l.sz <= 0 || l.rank == 0 || i > 0 && h[i-1].rank >= l.rank {
				t.Fatalf("level %d of %v", i, h)
			}
		}
	}
	if err := b.check(); err != nil {
		t.Fatal(err)
	}
}

func checkTick(t *testing.T, e *event) {
	u := &e.update
	q := quote{u.BidPx, u.BidSz, u.AskPx, u.AskSz}
	if err := q.crossed(); err != nil {
		t.Fatal(err)
	}
	switch {
	case e.at <= 0 || e.kind == "":
		t.Fatalf("%+v", e)
	case u.Quote == (u.LastSz != 0):
		t.Fatalf("neither quote nor trade, or both: %+v", u)
	case u.LastSz != 0 && (u.LastPx <= 0 || u.LastSz < 0 || u.Aggressor == feed.SideNone):
		t.Fatalf("trade %+v", u)
	case (u.BidPx == 0) != (u.BidSz == 0) || (u.AskPx == 0) != (u.AskSz == 0) || min(u.BidPx, u.AskPx) < 0 || min(u.BidSz, u.AskSz) < 0:
		t.Fatalf("quote %+v", u)
	}
	if u.BidPx%e.in.grid != 0 || u.AskPx%e.in.grid != 0 || u.LastPx%e.in.grid != 0 {
		t.Fatalf("off the grid of %s: %+v", e.in.grid, u)
	}
}
