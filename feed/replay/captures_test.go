package replay

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// realCapture finds a capture from a live venue, or skips the test.
func realCapture(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv("TICKGAUGE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no capture %s; set TICKGAUGE_DATA to the folder that has it", path)
	}
	return path
}

const (
	binanceCapture  = "binance-spot-btcusdt.jsonl.gz"
	coinbaseCapture = "coinbase.ws.jsonl"
	krakenCapture   = "kraken.ws.jsonl"
)

func TestRealCaptures(t *testing.T) {
	for _, c := range []struct {
		file, format string
		ticks        int64
		trades       int
		symbols      int
		counts       map[string]int64
		grids        map[string]string
	}{
		{binanceCapture, FormatBinance, 37797, 9757, 1,
			map[string]int64{"bookTicker": 28040, "trade": 9757, "depthUpdate": 3451, "depthSnapshot": 1},
			map[string]string{"BTCUSDT": "0.01"}},
		{coinbaseCapture, FormatCoinbase, 1875, 97, 10,
			map[string]int64{"snapshot": 10, "l2update": 9719, "match": 97, "last_match": 10, "ticker": 107, "subscriptions": 3, "connection": 1, "sent": 3, "blank": 2},
			map[string]string{"BAND-GBP": "0.0001", "DASH-BTC": "0.00000001", "YFI-BTC": "0.00001"}},
		{krakenCapture, FormatKraken, 810, 0, 10,
			map[string]int64{"snapshot": 10, "update": 4269, "heartbeat": 31, "subscriptionStatus": 10, "systemStatus": 1, "level_out_of_range": 1, "connection": 1, "sent": 1, "blank": 2},
			map[string]string{"XBT/CHF": "0.1", "ADA/XBT": "0.00000001", "OMG/USD": "0.000001"}},
	} {
		t.Run(c.format, func(t *testing.T) {
			s := mustOpen(t, realCapture(t, c.file), Options{})
			if s.Format() != c.format || s.Ticks() != c.ticks || len(s.Symbols()) != c.symbols {
				t.Errorf("%s, %d ticks, symbols %v; want %s, %d and %d symbols", s.Format(), s.Ticks(), s.Symbols(), c.format, c.ticks, c.symbols)
			}
			if !maps.Equal(s.Counts(), c.counts) {
				t.Errorf("counts %v, want %v", s.Counts(), c.counts)
			}
			for _, symbol := range s.Symbols() {
				if want := c.grids[symbol.Name]; want != "" && symbol.TickSize.String() != want {
					t.Errorf("grid of %s is %s, want %s", symbol.Name, symbol.TickSize, want)
				}
			}
			_, updates := drain(t, s)
			checkReal(t, s, updates, c.ticks, c.trades)
		})
	}
}

func checkReal(t *testing.T, s *Source, updates []feed.Update, ticks int64, trades int) {
	t.Helper()
	if int64(len(updates)) != ticks {
		t.Errorf("replayed %d ticks, want %d", len(updates), ticks)
	}
	last := int64(0)
	for i, u := range updates {
		if u.AtNS < last || u.AtNS != u.ExchangeTSNS-updates[0].ExchangeTSNS {
			t.Fatalf("tick %d: at %d after %d, received at %d", i, u.AtNS, last, u.ExchangeTSNS)
		}
		last = u.AtNS
		if u.LastSz != 0 {
			trades--
		} else if !u.Quote || u.BidPx >= u.AskPx || u.BidSz == 0 {
			t.Fatalf("tick %d: %+v", i, u)
		}
	}
	if trades != 0 {
		t.Errorf("%d trades more or less than wanted", trades)
	}
	if s.Duration() != time.Duration(last) {
		t.Errorf("duration %v, want %v", s.Duration(), time.Duration(last))
	}
}

func TestRealCaptureAtRate(t *testing.T) {
	s := mustOpen(t, realCapture(t, krakenCapture), Options{Rate: 200, Loop: true})
	n := int(s.Ticks())
	at := times(t, s, 3*n)
	for lap := range 3 {
		if want := int64(lap) * int64(n) * 5e6; at[lap*n] < want-100 || at[lap*n] > want+100 {
			t.Errorf("lap %d starts at %d, want %d", lap, at[lap*n], want)
		}
	}
}

// Kraken sends a checksum of the ten best levels with its updates: the book
// built here has to agree with the venue's at every one of them.
func TestKrakenChecksums(t *testing.T) {
	raw, err := os.ReadFile(realCapture(t, krakenCapture))
	if err != nil {
		t.Fatal(err)
	}
	m := &market{byName: make(map[string]*instrument)}
	d := &kraken{market: m}
	decimals := make(map[string][2]int) // of prices and volumes, as the venue writes them
	checked := 0
	for line := range bytes.Lines(raw) {
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if err := d.decode(line, &event{}); err != nil {
			t.Fatal(err)
		}
		_, _, body, _ := cryptofeed(line)
		var parts []json.RawMessage
		if json.Unmarshal(body, &parts) != nil {
			continue
		}
		var pair string
		if err := json.Unmarshal(parts[len(parts)-1], &pair); err != nil {
			t.Fatal(err)
		}
		for _, part := range parts[1 : len(parts)-2] {
			var p struct {
				As [][3]string `json:"as"`
				C  string      `json:"c"`
			}
			if err := json.Unmarshal(part, &p); err != nil {
				t.Fatal(err)
			}
			if len(p.As) > 0 {
				_, px, _ := strings.Cut(p.As[0][0], ".")
				_, sz, _ := strings.Cut(p.As[0][1], ".")
				decimals[pair] = [2]int{len(px), len(sz)}
			}
			if p.C == "" {
				continue
			}
			checked++
			if got := krakenChecksum(&m.byName[pair].book, decimals[pair]); got != p.C {
				t.Fatalf("checksum %s, want %s after %s", got, p.C, shorten(line))
			}
		}
	}
	if checked < 4000 {
		t.Errorf("%d checksums", checked)
	}
}

func krakenChecksum(b *book, decimals [2]int) string {
	var text []byte
	for _, h := range []half{b.asks, b.bids} {
		for i := len(h) - 1; i >= max(0, len(h)-10); i-- {
			px := max(h[i].rank, -h[i].rank)
			for range feed.PriceDecimals - decimals[0] {
				px /= 10
			}
			sz := int64(h[i].sz)
			for range feed.SizeDecimals - decimals[1] {
				sz /= 10
			}
			text = strconv.AppendInt(text, px, 10)
			text = strconv.AppendInt(text, sz, 10)
		}
	}
	return strconv.FormatUint(uint64(crc32.ChecksumIEEE(text)), 10)
}

func BenchmarkNext(b *testing.B) {
	for _, name := range []string{binanceCapture, coinbaseCapture, krakenCapture} {
		b.Run(name, func(b *testing.B) {
			s := mustOpen(b, realCapture(b, name), Options{Loop: true})
			b.Logf("%d ticks", s.Ticks())
			b.ReportAllocs()
			var u feed.Update
			for b.Loop() {
				if err := s.Next(&u); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
