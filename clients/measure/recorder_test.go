package measure

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

func subscribedTo(symbols ...string) *feed.Message {
	s := &feed.Subscribed{}
	for _, symbol := range symbols {
		s.Symbols = append(s.Symbols, feed.SymbolSeq{Symbol: symbol})
	}
	return &feed.Message{Subscribed: s}
}

// tickOf returns a tick that is due at 1000 ns times its sequence.
func tickOf(symbol string, seq uint64) feed.Tick {
	due := 1000 * int64(seq)
	return feed.Tick{Symbol: symbol, Seq: seq, DueNS: due, PublishNS: due + 3, Origin: feed.OriginSchedule}
}

// Many streams deliver at once while others look on; every figure is the exact sum.
func TestRecorderSumsOverStreams(t *testing.T) {
	const streams, readers, rounds = 48, 12, 200 // a round is nine ticks and a skip of one
	r := NewRecorder(streams)
	r.SetWindow(0, 1<<40)
	var left atomic.Int64
	left.Store(readers)
	var deliver, look sync.WaitGroup
	for reader := range readers {
		deliver.Go(func() {
			defer left.Add(-1)
			for i := reader; i < streams; i += readers {
				r.Opening(i, "A", "B")
				r.Message(i, feed.Now(), feed.Now(), &feed.Message{Hello: &feed.Hello{BootID: feed.BootID()}})
				r.Message(i, feed.Now(), feed.Now(), subscribedTo("A", "B"))
				r.Message(i, feed.Now(), feed.Now(), &feed.Message{Snapshot: &feed.Snapshot{Tick: tickOf("A", 0)}})
			}
			for round := range uint64(rounds) {
				for i := reader; i < streams; i += readers {
					playRound(r, i, 10*round)
				}
			}
			r.Ended(reader, nil)
			r.Ended(reader+readers, errors.New("cut"))
		})
	}
	final := map[string]uint64{"A": 10 * rounds, "B": 10 * rounds}
	look.Go(func() {
		for left.Load() > 0 {
			if p := r.Progress(); p.Received > 2*9*rounds*streams {
				t.Errorf("%d received on the way, want at most %d", p.Received, 2*9*rounds*streams)
			}
			_, _, _ = r.Streams()
			r.Reached(final)
		}
	})
	deliver.Wait()
	look.Wait()

	if !r.Reached(final) {
		t.Error("the last sequences are not reached")
	}
	if open, broken, first := r.Streams(); open != streams-2*readers || broken != readers || first == nil || r.Broken() != readers {
		t.Errorf("%d open, %d and %d broken, first %v; want %d and %d", open, broken, r.Broken(), first, streams-2*readers, readers)
	}
	if p := r.Progress(); p.Received != 2*9*rounds*streams || p.P50 < 400 || p.P50 > 600 {
		t.Errorf("progress %+v, want %d received at about 500 ns", p, 2*9*rounds*streams)
	}
	due := SymbolDue{Scheduled: 10 * rounds, FirstSeq: 1, LastSeq: 10 * rounds}
	d := r.Finish(map[string]SymbolDue{"A": due, "B": due})
	want := figures{due: 20 * rounds * streams, received: 18 * rounds * streams, conflated: 2 * rounds * streams}
	if got := figuresOf(d); got != want || d.Duplicated != rounds*streams || d.Problems != rounds*streams {
		t.Errorf("figures %+v, %d duplicated, %d problems; want %+v and %d of each", got, d.Duplicated, d.Problems, want, rounds*streams)
	}
	for name, h := range map[string]*Histogram{"latency": d.Latency, "decoded": d.Decoded, "publish lag": d.PublishLag} {
		if h.Count() != want.received {
			t.Errorf("%d values of %s, want %d", h.Count(), name, want.received)
		}
	}
	if q := *d.Latency.Quantiles(); q != (Quantiles{500, 500, 500, 500, 500, 500}) {
		t.Errorf("latency %+v, want 500 ns throughout", q)
	}
	if q := *d.Decoded.Quantiles(); q != (Quantiles{700, 700, 700, 700, 700, 700}) {
		t.Errorf("decoded latency %+v, want 700 ns throughout", q)
	}
	if q := *d.PublishLag.Quantiles(); q != (Quantiles{3, 3, 3, 3, 3, 3}) {
		t.Errorf("publish lag %+v, want 3 ns throughout", q)
	}
	if n, _ := d.FirstTick.Negative(); n != 0 {
		t.Errorf("%d first ticks before the opening", n)
	}
	if d.Connect.Count() != streams || d.FirstTick.Count() != streams || d.ForeignClock != 0 {
		t.Errorf("%d connects, %d first ticks, %d foreign clocks; want %d, %d, 0",
			d.Connect.Count(), d.FirstTick.Count(), d.ForeignClock, streams, streams)
	}
}

// playRound delivers the sequences after base of A and B: one is skipped, nine
// arrive 500 ns after they were due, the last of B twice.
func playRound(r *Recorder, stream int, base uint64) {
	for _, symbol := range []string{"A", "B"} {
		r.Message(stream, 0, 0, &feed.Message{Skipped: &feed.Skipped{
			Symbol: symbol, FromSeq: base + 1, ToSeq: base + 1, FirstDueNS: 1000 * int64(base+1), Reason: feed.SkipConflated}})
		for seq := base + 2; seq <= base+10; seq++ {
			tick := tickOf(symbol, seq)
			r.Message(stream, tick.DueNS+500, tick.DueNS+700, &feed.Message{Ticks: []feed.Tick{tick}})
		}
	}
	r.Message(stream, 0, 0, &feed.Message{Ticks: []feed.Tick{tickOf("B", base+10)}})
	r.Message(stream, 0, 0, &feed.Message{Problem: &feed.Problem{Code: feed.CodeRateLimited}})
}

func TestRecorderReached(t *testing.T) {
	final := map[string]uint64{"A": 3}
	tick := func(seq uint64) *feed.Message { return &feed.Message{Ticks: []feed.Tick{tickOf("A", seq)}} }
	for _, c := range []struct {
		name     string
		messages []*feed.Message
		ended    error
		want     bool
	}{
		{"not subscribed yet", nil, nil, false},
		{"behind", []*feed.Message{subscribedTo("A"), tick(1), tick(2)}, nil, false},
		{"there", []*feed.Message{subscribedTo("A"), tick(1), tick(2), tick(3)}, nil, true},
		{"beyond", []*feed.Message{subscribedTo("A"), tick(1), tick(2), tick(3), tick(4)}, nil, true},
		{"a hole is still open", []*feed.Message{subscribedTo("A"), tick(1), tick(3)}, nil, false},
		{"the hole was filled late", []*feed.Message{subscribedTo("A"), tick(1), tick(3), tick(2)}, nil, true},
		{"told of the rest", []*feed.Message{subscribedTo("A"), tick(1), {Skipped: &feed.Skipped{Symbol: "A", ToSeq: 3, Reason: feed.SkipDropped}}}, nil, true},
		{"unsubscribed", []*feed.Message{subscribedTo("A"), {Unsubscribed: &feed.Unsubscribed{Symbols: []feed.SymbolSeq{{Symbol: "A"}}}}}, nil, true},
		{"broken", []*feed.Message{subscribedTo("A")}, errors.New("cut"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := NewRecorder(1)
			r.Opening(0, "A")
			for _, m := range c.messages {
				r.Message(0, 0, 0, m)
			}
			if c.ended != nil {
				r.Ended(0, c.ended)
			}
			if got := r.Reached(final); got != c.want {
				t.Errorf("reached %t, want %t", got, c.want)
			}
		})
	}
}

func TestRecorderThirdsAndForeignClock(t *testing.T) {
	r := NewRecorder(2)
	r.SetWindow(1000, 10_000)
	for i, boot := range []string{feed.BootID(), "another"} {
		r.Opening(i, "A")
		r.Message(i, 0, 0, &feed.Message{Hello: &feed.Hello{BootID: boot}})
		r.Message(i, 0, 0, subscribedTo("A"))
	}
	for seq := range uint64(9) {
		tick := tickOf("A", seq+1) // three in each third; the latency is 10 ns a tick
		r.Message(0, tick.DueNS+10*int64(seq), 0, &feed.Message{Ticks: []feed.Tick{tick}})
	}
	d := r.Finish(nil)
	if want := [3]int64{10, 40, 70}; d.MeanByThird != want {
		t.Errorf("means by third %v, want %v", d.MeanByThird, want)
	}
	if d.ForeignClock != 1 {
		t.Errorf("%d foreign clocks, want 1", d.ForeignClock)
	}
}

func TestRecordingAllocatesNothing(t *testing.T) {
	r, m := benchRecorder(1)
	if n := testing.AllocsPerRun(1000, func() {
		deliverNext(r, 0, m)
	}); n != 0 {
		t.Errorf("a delivery allocates %v times", n)
	}
	skip := &feed.Message{Skipped: &feed.Skipped{Symbol: "SYM001", Reason: feed.SkipConflated}}
	if n := testing.AllocsPerRun(1000, func() {
		skip.Skipped.ToSeq = m.Ticks[0].Seq + 2
		r.Message(0, 0, 0, skip)
		m.Ticks[0].Seq += 2
		deliverNext(r, 0, m)
	}); n != 0 {
		t.Errorf("a skip and a delivery allocate %v times", n)
	}
}

// benchRecorder returns a recorder of subscribed streams, and a message with the
// first tick.
func benchRecorder(streams int) (*Recorder, *feed.Message) {
	r := NewRecorder(streams)
	r.SetWindow(0, 1<<62)
	for i := range streams {
		r.Opening(i, "SYM001")
		r.Message(i, 0, 0, subscribedTo("SYM001"))
	}
	return r, &feed.Message{Ticks: []feed.Tick{tickOf("SYM001", 1)}}
}

func deliverNext(r *Recorder, stream int, m *feed.Message) {
	t := &m.Ticks[0]
	r.Message(stream, t.DueNS+80_000, t.DueNS+85_000, m)
	t.Seq++
	t.DueNS += 1000
	t.PublishNS += 1000
}

func BenchmarkRecorderMessage(b *testing.B) {
	b.ReportAllocs()
	r, m := benchRecorder(1)
	for b.Loop() {
		deliverNext(r, 0, m)
	}
}

// Every goroutine reads streams of its own, as the readers of connections do.
func BenchmarkRecorderMessageParallel(b *testing.B) {
	readers := runtime.GOMAXPROCS(0)
	for _, each := range []int{1, 10_000 / readers} {
		b.Run(fmt.Sprintf("streams=%d", each*readers), func(b *testing.B) {
			b.ReportAllocs()
			r, _ := benchRecorder(each * readers)
			var started atomic.Int64
			b.RunParallel(func(pb *testing.PB) {
				reader := int(started.Add(1)) - 1
				t := tickOf("SYM001", 1)
				m := &feed.Message{Ticks: []feed.Tick{t}}
				for i := 0; pb.Next(); i++ {
					m.Ticks[0].Seq = t.Seq + uint64(i/each)
					r.Message(reader+i%each*readers, t.DueNS+80_000, t.DueNS+85_000, m)
				}
			})
		})
	}
}
