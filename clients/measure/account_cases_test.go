package measure

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// The cases have one stream of symbol A. Its ticks are due at 10, 20, 30, … by
// sequence, the window is [20, 60) with the sequences 2 to 5, and words of the
// script arrive at 100, 101, 102, …
var accountCases = []struct {
	name    string
	script  string
	want    figures
	charged []int64 // receipt of the successor - own due, of what was skipped
}{
	{"all arrive", "sub 0, tick 1, tick 2, tick 3, tick 4, tick 5, tick 6",
		figures{due: 4, received: 4}, nil},
	{"nothing but the subscribe", "sub 0",
		figures{due: 4, missed: 4}, nil},
	{"never subscribed", "",
		figures{due: 4, missed: 4}, nil},
	{"subscribed within the window", "sub 3, snapshot 3, tick 4, tick 5",
		figures{due: 2, received: 2}, nil},
	{"lost at both edges", "sub 0, tick 1, tick 3, tick 4, tick 6",
		figures{due: 4, received: 2, missed: 2}, nil},
	{"skip inside", "sub 0, tick 1, tick 2, conflated 3-4 due 30, tick 5",
		figures{due: 4, received: 2, conflated: 2}, []int64{104 - 30, 104 - 40}},
	{"skip widened over the first edge", "sub 0, conflated 1-3 due 10, tick 4, tick 5",
		figures{due: 4, received: 2, conflated: 2}, []int64{102 - 20, 102 - 30}},
	{"skip over the last edge", "sub 0, tick 1, tick 2, tick 3, dropped 4-6 due 40, tick 7",
		figures{due: 4, received: 2, dropped: 2}, []int64{105 - 40, 105 - 50}},
	{"skip over the whole window", "sub 0, tick 1, dropped 2-6 due 20, tick 7",
		figures{due: 4, dropped: 4}, []int64{103 - 20, 103 - 30, 103 - 40, 103 - 50}},
	{"skip with nothing behind it", "sub 0, tick 1, tick 2, conflated 3-4 due 30, end",
		figures{due: 4, received: 1, conflated: 2, missed: 1}, nil},
	{"skip from the last one on", "sub 0, tick 1, tick 2, dropped 0-4, tick 5",
		figures{due: 4, received: 2, dropped: 2}, []int64{104 - 30, 104 - 40}},
	{"neighbouring skips, each from its own due", "sub 0, tick 1, conflated 2-2 due 20, conflated 3-4 due 30, tick 5",
		figures{due: 4, received: 1, conflated: 3}, []int64{104 - 20, 104 - 30, 104 - 40}},
	{"neighbouring skips of an uneven schedule", "sub 0, tick 1, conflated 2-3 due 20, conflated 4-4 due 24, tick 5",
		figures{due: 4, received: 1, conflated: 3}, []int64{104 - 20, 104 - 22, 104 - 24}},
	{"a loss between the skip and its successor", "sub 0, tick 1, conflated 2-3 due 20, tick 5",
		figures{due: 4, received: 1, conflated: 2, missed: 1}, []int64{103 - 20, 103 - 30}},
	{"skip that begins with what has arrived", "sub 0, tick 1, tick 2, conflated 1-4 due 10, tick 5",
		figures{due: 4, received: 2, conflated: 2}, []int64{104 - 30, 104 - 40}},
	{"skip told after the successor", "sub 0, tick 1, tick 2, tick 5, dropped 3-4 due 30, tick 6",
		figures{due: 4, received: 2, dropped: 2}, nil},
	{"skip before the window told in it", "sub 0, tick 2, dropped 1-1 due 10, tick 3, tick 4, tick 5",
		figures{due: 4, received: 4}, nil},
	{"skipped, and arrives all the same", "sub 0, tick 1, conflated 2-3 due 20, tick 3, tick 4, tick 5",
		figures{due: 4, received: 2, conflated: 2}, []int64{104 - 20, 104 - 30}},
	{"ended as a slow consumer", "sub 0, tick 1, tick 2, slow",
		figures{due: 4, received: 1, dropped: 3}, nil},
	{"ended as a slow consumer by status alone", "sub 0, tick 1, tick 2, end slow",
		figures{due: 4, received: 1, dropped: 3}, nil},
	{"ended for another reason", "sub 0, tick 1, tick 2, end",
		figures{due: 4, received: 1, missed: 3}, nil},
	{"slow, with a loss before", "sub 0, tick 1, tick 3, slow",
		figures{due: 4, received: 1, dropped: 2, missed: 1}, nil},
	{"resumed from the ring", "sub 0, tick 1, tick 2, sub 4, tick 3, tick 4, tick 5",
		figures{due: 2, received: 2}, nil},
	{"resumed, but part of the replay is lost", "sub 0, tick 1, tick 2, sub 4, tick 4, tick 5",
		figures{due: 3, received: 2, missed: 1}, nil},
	{"resumed over a gap", "sub 0, tick 1, tick 2, sub 4, gap 0-4, snapshot 4, tick 5",
		figures{due: 4, received: 2, dropped: 2}, []int64{106 - 30, 106 - 40}},
	{"unsubscribed and subscribed again", "sub 0, tick 1, tick 2, unsub 2, sub 4, snapshot 4, tick 5",
		figures{due: 2, received: 2}, nil},
	{"unsubscribed", "sub 0, tick 1, tick 2, unsub 3",
		figures{due: 2, received: 1, missed: 1}, nil},
	{"gap of a resume at the start of the stream", "sub 1, gap 0-1, snapshot 1, tick 2, tick 3, tick 4, tick 5",
		figures{due: 4, received: 4}, nil},
}

func TestAccountCases(t *testing.T) {
	ledger := map[string]SymbolDue{"A": {Symbol: "A", Scheduled: 4, FirstSeq: 2, LastSeq: 5}}
	for _, c := range accountCases {
		t.Run(c.name, func(t *testing.T) {
			r := NewRecorder(1)
			r.SetWindow(20, 60)
			r.Opening(0, "A")
			for n, words := range strings.Split(c.script, ", ") {
				act(t, r, int64(100+n), words)
			}
			d := r.Finish(ledger)
			if got := figuresOf(d); got != c.want {
				t.Errorf("figures\n got %+v\nwant %+v", got, c.want)
			}
			charged := chargedOf(r)
			slices.Sort(c.charged)
			if !slices.Equal(charged, c.charged) {
				t.Errorf("charged %v, want %v", charged, c.charged)
			}
			if n := d.WithConflated.Count(); n != d.Received+int64(len(c.charged)) {
				t.Errorf("%d values with those charged, want %d received and %d charged", n, d.Received, len(c.charged))
			}
		})
	}
}

// act lets the exchange of a case say something at a time.
func act(t *testing.T, r *Recorder, at int64, words string) {
	t.Helper()
	verb, rest, _ := strings.Cut(words, " ")
	var from, to uint64
	var due int64
	m := &feed.Message{}
	switch verb {
	case "":
		return
	case "end":
		err := errors.New("the connection was cut")
		if rest == "slow" {
			err = fmt.Errorf("status 8: %w", &feed.Problem{Code: feed.CodeSlowConsumer})
		}
		r.Ended(0, err)
		return
	case "slow":
		m.Problem = &feed.Problem{Code: feed.CodeSlowConsumer, Fatal: true}
	case "conflated", "dropped", "gap":
		reasons := map[string]feed.SkipReason{"conflated": feed.SkipConflated, "dropped": feed.SkipDropped, "gap": feed.SkipGap}
		if n, _ := fmt.Sscanf(rest, "%d-%d due %d", &from, &to, &due); n < 2 {
			t.Fatalf("cannot read %q", words)
		}
		m.Skipped = &feed.Skipped{Symbol: "A", FromSeq: from, ToSeq: to, FirstDueNS: due, Reason: reasons[verb]}
	default:
		if n, _ := fmt.Sscanf(rest, "%d", &to); n < 1 {
			t.Fatalf("cannot read %q", words)
		}
		tick := feed.Tick{Symbol: "A", Seq: to, DueNS: 10 * int64(to), PublishNS: 10 * int64(to), Origin: feed.OriginSchedule}
		seq := []feed.SymbolSeq{{Symbol: "A", Seq: to}}
		switch verb {
		case "sub":
			m.Subscribed = &feed.Subscribed{Symbols: seq}
		case "unsub":
			m.Unsubscribed = &feed.Unsubscribed{Symbols: seq}
		case "snapshot":
			m.Snapshot = &feed.Snapshot{Tick: tick}
		case "tick":
			m.Ticks = []feed.Tick{tick}
		default:
			t.Fatalf("cannot read %q", words)
		}
	}
	r.Message(0, at, at, m)
}

// chargedOf returns the charged values of a recorder's only shard, ascending.
// Below 2048 ns a histogram is exact.
func chargedOf(r *Recorder) (values []int64) {
	for _, bar := range r.shards[0].charged.hdr.Distribution() {
		for range bar.Count {
			values = append(values, bar.From)
		}
	}
	return values
}
