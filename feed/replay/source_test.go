package replay

import (
	"errors"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

var _ feed.Source = (*Source)(nil)

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// timed is a capture of trades received at the given nanoseconds.
func timed(t testing.TB, at ...int64) string {
	lines := make([]string, len(at))
	for i, ns := range at {
		lines[i] = strconv.FormatInt(ns, 10) + " " + binanceTrade
	}
	return capture(t, "timed", lines...)
}

func times(t *testing.T, s *Source, n int) []int64 {
	t.Helper()
	out := make([]int64, n)
	for i := range out {
		var u feed.Update
		if err := s.Next(&u); err != nil {
			t.Fatal(err)
		}
		out[i] = u.AtNS
	}
	return out
}

func TestTimes(t *testing.T) {
	const start = 1723161253937085768
	after := []int64{start, start + 1e9, start + 1e9, start + 3e9}
	for _, c := range []struct {
		name  string
		at    []int64
		opts  Options
		want  []int64
		speed float64
		loops bool
	}{
		{"as recorded", after, Options{}, []int64{0, 1e9, 1e9, 3e9}, 1, false},
		{"speed 1", after, Options{Speed: 1}, []int64{0, 1e9, 1e9, 3e9}, 1, false},
		{"faster", after, Options{Speed: 4}, []int64{0, 25e7, 25e7, 75e7}, 4, false},
		{"slower", after, Options{Speed: 0.5}, []int64{0, 2e9, 2e9, 6e9}, 0.5, false},
		{"rate", after, Options{Rate: 10}, []int64{0, 1e8, 1e8, 3e8}, 10, false},
		{"loop", after, Options{Loop: true}, []int64{0, 1e9, 1e9, 3e9, 4e9, 5e9, 5e9, 7e9, 8e9}, 1, true},
		{"loop at a rate", after, Options{Loop: true, Rate: 10}, []int64{0, 1e8, 1e8, 3e8, 4e8, 5e8, 5e8, 7e8, 8e8}, 10, true},
		{"clock back", []int64{start, start + 5, start + 3, start - 7, start + 6}, Options{}, []int64{0, 5, 5, 5, 6}, 1, false},
		{"clock back and loop", []int64{start + 2e3, start + 4e3, start}, Options{Loop: true}, []int64{0, 2e3, 2e3, 3e3, 5e3, 5e3, 6e3}, 1, true},
		{"one tick", []int64{start}, Options{Speed: 3}, []int64{0}, 3, false},
		{"all at once", []int64{start, start}, Options{}, []int64{0, 0}, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := mustOpen(t, timed(t, c.at...), c.opts)
			if got := times(t, s, len(c.want)); !slices.Equal(got, c.want) {
				t.Errorf("got %d, want %d", got, c.want)
			}
			if s.Speed() != c.speed {
				t.Errorf("speed %v, want %v", s.Speed(), c.speed)
			}
			if last := time.Duration(c.want[len(c.at)-1]); s.Duration() != last {
				t.Errorf("duration %v, want %v", s.Duration(), last)
			}
			var u feed.Update
			if err := s.Next(&u); errors.Is(err, io.EOF) == c.loops {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestClockBackwards(t *testing.T) {
	s := mustOpen(t, timed(t, 100, 105, 103, 104, 105), Options{})
	wantCounts(t, s, map[string]int64{"trade": 5, "clock_backwards": 2})
	_, updates := drain(t, s)
	if got := updates[2].ExchangeTSNS; got != 103 {
		t.Errorf("receive time %d, want it as recorded", got)
	}
}

func TestLoopBuildsTheBookAgain(t *testing.T) {
	s := mustOpen(t, capture(t, "c", "1.0: "+coinbaseLast, "1.0: "+coinbaseAll, coinbaseChanges(`["sell","11","0"]`)), Options{Loop: true})
	want := []string{"X quote 10x5/11x1 last 10.25x0 id 0 none", "X quote 10x5/11.5x3"}
	for i := range 6 {
		var u feed.Update
		if err := s.Next(&u); err != nil {
			t.Fatal(err)
		}
		if got := show(s, &u); got != want[i%2] {
			t.Errorf("tick %d: %s, want %s", i, got, want[i%2])
		}
	}
}

func TestGrid(t *testing.T) {
	path := capture(t, "c",
		`1.0: {"type":"snapshot","product_id":"A","asks":[["11.500","1.0"],["12","2"]],"bids":[["10.2500","5"]]}`,
		`1.0: {"type":"snapshot","product_id":"B","asks":[["1200","1"]],"bids":[]}`,
		`1.0: {"type":"snapshot","product_id":"C","asks":[],"bids":[]}`, // never a tick: not listed
		`1.0: {"type":"snapshot","product_id":"D","asks":[["0.000000001","1"]],"bids":[]}`,
	)
	s := mustOpen(t, path, Options{})
	want := []feed.Symbol{{Name: "A", TickSize: 1e7}, {Name: "B", TickSize: 1e9}, {Name: "D", TickSize: 1}}
	if got := s.Symbols(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if s.Opening() != nil {
		t.Error("opening ticks")
	}
	_, err := Open(path, Options{TickSize: 5e8})
	wantError(t, err, "c:1: price 10.25 of A is not on the grid of 0.5")
	skipped := mustOpen(t, path, Options{TickSize: 5e8, SkipBad: true})
	if got := skipped.Symbols(); !slices.Equal(got, []feed.Symbol{{Name: "B", TickSize: 5e8}}) {
		t.Errorf("got %v", got)
	}
}

func TestOptionErrors(t *testing.T) {
	path := timed(t, 1, 2e9)
	once := timed(t, 5, 5)
	for _, c := range []struct {
		path string
		opts Options
		want string
	}{
		{path, Options{Format: "bitfinex"}, `format "bitfinex" is not known; want one of binance, coinbase, kraken`},
		{path, Options{Speed: -1}, "speed -1"},
		{path, Options{Speed: math.NaN()}, "speed NaN"},
		{path, Options{Speed: math.Inf(1)}, "speed +Inf"},
		{path, Options{Rate: -1}, "rate -1"},
		{path, Options{Rate: math.NaN()}, "rate NaN"},
		{path, Options{Rate: 1, Speed: 1}, "speed and rate both set"},
		{path, Options{TickSize: -1}, "tick size -0.000000001"},
		{path, Options{Speed: 1e-300}, "timed: a replay at speed 1e-300 takes over"},
		{path, Options{Speed: 1e300, Loop: true}, "timed: a loop at speed 1e+300 takes less than"},
		{once, Options{Rate: 5}, "timed: its 2 ticks were all received at once"},
		{once, Options{Loop: true}, "timed: its 2 ticks were all received at once"},
		{path, Options{Format: FormatKraken}, "timed:1: want <receive seconds>: <JSON>"},
		{path + "-none", Options{}, "no such file"},
		{t.TempDir(), Options{}, "is no regular file"},
	} {
		_, err := Open(c.path, c.opts)
		wantError(t, err, c.want)
	}
}

func TestNoTick(t *testing.T) {
	_, err := Open(capture(t, "c", "1 "+binanceDepth, "2 "+binanceDepth), Options{})
	wantError(t, err, "c: no tick in 2 lines read as binance; counted were map[depthUpdate:2]")
	_, err = Open(capture(t, "c", "x", "y"), Options{Format: FormatBinance, SkipBad: true})
	wantError(t, err, "counted were map[bad:2]")
}

func TestManyKinds(t *testing.T) {
	lines := []string{"1.0: " + coinbaseMatch}
	for i := range 200 {
		lines = append(lines, `1.0: {"type":"kind`+strconv.Itoa(i)+`"}`)
	}
	lines = append(lines, `1.0: {"type":"`+strings.Repeat("x", 100)+`"}`, "bad")
	counts := mustOpen(t, capture(t, "c", lines...), Options{SkipBad: true}).Counts()
	if len(counts) > maxKinds+2 || counts["other"] != 201-(maxKinds-1) || counts["bad"] != 1 {
		t.Errorf("%d kinds, other %d, bad %d", len(counts), counts["other"], counts["bad"])
	}
}

func TestFileChanges(t *testing.T) {
	for _, loop := range []bool{false, true} {
		at := make([]int64, 5000)
		for i := range at {
			at[i] = int64(i+1) * 1e6
		}
		path := timed(t, at...)
		s := mustOpen(t, path, Options{Loop: loop})
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		var u feed.Update
		var err error
		for range at { // what was read ahead still comes
			if err = s.Next(&u); err != nil {
				break
			}
		}
		wantError(t, err, "/timed:")
		if again := s.Next(&u); !errors.Is(again, err) {
			t.Errorf("then %v", again)
		}
	}
}

func TestNextAfterTheEnd(t *testing.T) {
	s := mustOpen(t, timed(t, 1), Options{})
	drain(t, s)
	var u feed.Update
	if err := s.Next(&u); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Next(&u), "the source is closed")
}
