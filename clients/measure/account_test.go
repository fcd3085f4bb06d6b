package measure

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

// play gives the scripts of several streams to a recorder, and the same messages
// to a reference for each stream and symbol.
func play(w *world, scripts []*script) (*Recorder, [][]*reference) {
	r := NewRecorder(1)
	r.streams = make([]streamAccount, len(scripts)) // on one shard: its histograms are what takes time
	r.SetWindow(w.from, w.to)
	refs := make([][]*reference, len(scripts))
	for i, s := range scripts {
		r.Opening(i, s.asked...)
		refs[i] = referencesOf(w, s.asked)
		stray := &reference{} // takes what is of no symbol that was asked for
		of := func(symbol string) *reference {
			if j := slices.Index(s.asked, symbol); j >= 0 {
				return refs[i][j]
			}
			return stray
		}
		for n := range s.messages {
			m := &s.messages[n]
			r.Message(i, int64(1000+n), int64(1001+n), m)
			for k := range m.Ticks {
				of(m.Ticks[k].Symbol).tick(&m.Ticks[k])
			}
			switch {
			case m.Subscribed != nil:
				for _, q := range m.Subscribed.Symbols {
					of(q.Symbol).subscribed(q.Seq)
				}
			case m.Unsubscribed != nil:
				for _, q := range m.Unsubscribed.Symbols {
					of(q.Symbol).unsubscribed(q.Seq)
				}
			case m.Skipped != nil:
				of(m.Skipped.Symbol).skipped(m.Skipped)
			}
		}
		if s.slow {
			r.Ended(i, errors.New("the connection was cut"))
		}
		refs[i] = append(refs[i], stray)
	}
	return r, refs
}

func referencesOf(w *world, symbols []string) []*reference {
	var refs []*reference
	for _, symbol := range symbols {
		ref := &reference{from: w.from, to: w.to, fates: map[uint64]fate{}, unpublished: map[uint64]bool{}}
		for i, t := range w.ticks {
			if t.Symbol == symbol {
				ref.schedule = append(ref.schedule, t)
				ref.unpublished[t.Seq] = i >= w.published
			}
		}
		refs = append(refs, ref)
	}
	return refs
}

// ledger is what the exchange of the world says of the window.
func (w *world) ledger() map[string]SymbolDue {
	due := map[string]SymbolDue{}
	for _, ref := range referencesOf(w, w.symbols) {
		if d := ref.ledger(); d.Scheduled > 0 {
			due[d.Symbol] = d
		}
	}
	return due
}

func figuresOf(d *Deliveries) figures {
	return figures{due: d.Due, received: d.Received, conflated: d.Conflated, dropped: d.Dropped, missed: d.Missed, unpublished: d.Unpublished}
}

func drawScripts(t *rapid.T, w *world) []*script {
	scripts := make([]*script, 1+below(t, 3, "streams"))
	for i := range scripts {
		scripts[i] = drawScript(t, w)
	}
	return scripts
}

// checkOften checks a property on more than rapid's hundred cases: what goes wrong
// takes several faults at once.
func checkOften(t *testing.T, property func(*rapid.T)) {
	for range 4 {
		rapid.Check(t, property)
	}
}

func TestAccountWithLedger(t *testing.T) {
	inexact, runs := 0, 0
	checkOften(t, func(t *rapid.T) {
		w := drawWorld(t)
		scripts := drawScripts(t, w)
		r, refs := play(w, scripts)
		got := r.Finish(w.ledger())

		var want figures
		exact := true
		for i, s := range scripts {
			for _, ref := range refs[i][:len(s.asked)] {
				f, ok := ref.byLedger(s.slow)
				want.add(f)
				exact = exact && ok
			}
		}
		checkCounts(t, got, refs)
		runs++
		if !exact {
			inexact++
			if got.Received != want.received || got.Conflated < 0 || got.Dropped < 0 || got.Missed < 0 ||
				got.Due != got.Received+got.Conflated+got.Dropped+got.Missed {
				t.Fatalf("figures %+v do not add up; window [%d, %d)%s", figuresOf(got), w.from, w.to, transcript(w, scripts))
			}
			return
		}
		if figuresOf(got) != want {
			t.Fatalf("figures\n got %+v\nwant %+v; window [%d, %d)%s", figuresOf(got), want, w.from, w.to, transcript(w, scripts))
		}
	})
	if inexact > runs/4 {
		t.Errorf("%d of %d runs could not be compared", inexact, runs)
	}
}

func TestAccountWithoutLedger(t *testing.T) {
	checkOften(t, func(t *rapid.T) {
		w := drawWorld(t)
		scripts := drawScripts(t, w)
		r, refs := play(w, scripts)
		got := r.Finish(nil)

		type seqs struct{ first, last uint64 }
		seen := make(map[string]seqs)
		for i, s := range scripts {
			for j, name := range s.asked {
				first, last := refs[i][j].arrived()
				if first == 0 {
					continue
				}
				w, ok := seen[name]
				if !ok {
					w = seqs{first, last}
				}
				seen[name] = seqs{min(w.first, first), max(w.last, last)}
			}
		}
		var want figures
		for i, s := range scripts {
			for j, name := range s.asked {
				want.add(refs[i][j].byArrivals(seen[name].first, seen[name].last, s.slow))
			}
		}
		checkCounts(t, got, refs)
		if figuresOf(got) != want {
			t.Fatalf("figures\n got %+v\nwant %+v; window [%d, %d)%s", figuresOf(got), want, w.from, w.to, transcript(w, scripts))
		}
	})
}

// checkCounts compares what no ledger is needed for.
func checkCounts(t *rapid.T, got *Deliveries, refs [][]*reference) {
	t.Helper()
	var duplicated, reordered, stray int64
	for i := range refs {
		for _, ref := range refs[i] {
			duplicated += ref.duplicated
			reordered += ref.reordered
			stray += ref.stray
		}
	}
	if got.Duplicated != duplicated || got.Reordered != reordered || got.Stray != stray {
		t.Fatalf("duplicated %d, reordered %d, stray %d; want %d, %d, %d", got.Duplicated, got.Reordered, got.Stray, duplicated, reordered, stray)
	}
	if n := got.Latency.Count(); n != got.Received {
		t.Fatalf("%d latencies of %d received", n, got.Received)
	}
}

// transcript writes the schedule and what was said, for a counterexample.
func transcript(w *world, scripts []*script) string {
	var b []byte
	for i, t := range w.ticks {
		b = fmt.Appendf(b, "\n%s seq %d due %d", t.Symbol, t.Seq, t.DueNS)
		if t.Origin == feed.OriginOrder {
			b = append(b, " of an order"...)
		}
		if i >= w.published {
			b = append(b, " unpublished"...)
		}
	}
	for i, s := range scripts {
		b = fmt.Appendf(b, "\nstream %d asked %v, slow %t:", i, s.asked, s.slow)
		for _, m := range s.messages {
			for _, t := range m.Ticks {
				b = fmt.Appendf(b, " tick %s %d;", t.Symbol, t.Seq)
			}
			switch {
			case m.Subscribed != nil:
				b = fmt.Appendf(b, " subscribed %v;", m.Subscribed.Symbols)
			case m.Unsubscribed != nil:
				b = fmt.Appendf(b, " unsubscribed %v;", m.Unsubscribed.Symbols)
			case m.Skipped != nil:
				b = fmt.Appendf(b, " skipped %s %d-%d reason %d;", m.Skipped.Symbol, m.Skipped.FromSeq, m.Skipped.ToSeq, m.Skipped.Reason)
			}
		}
	}
	return string(b)
}
