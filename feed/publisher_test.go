package feed

import (
	"context"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// listSource yields updates of the symbols A and B.
type listSource struct {
	opening []Update
	updates []Update
	end     error
	asked   int
}

func (s *listSource) Symbols() []Symbol { return []Symbol{{"A", 1e7}, {"B", 1e7}} }
func (s *listSource) Opening() []Update { return s.opening }

func (s *listSource) Next(u *Update) error {
	s.asked++
	if s.asked > len(s.updates) {
		return s.end
	}
	*u = s.updates[s.asked-1]
	return nil
}

func updates(symbol int, at ...time.Duration) (list []Update) {
	for _, d := range at {
		list = append(list, Update{Symbol: symbol, AtNS: int64(d), ExchangeTSNS: 1, Origin: OriginSchedule})
	}
	return list
}

// all takes the ticks that wait in s.
func all(t *testing.T, s *Subscription) (ticks []Tick) {
	t.Helper()
	var b Batch
	if err := s.Take(&b, 1_000_000); err != nil {
		t.Fatal(err)
	}
	for _, f := range b.Frames {
		ticks = append(ticks, f.Tick)
	}
	return ticks
}

func TestHeldPublisherPublishesTheOpening(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := &listSource{opening: slices.Concat(updates(1, 0), updates(0, 0)), updates: updates(0, 0), end: io.EOF}
		h, log := newHub(t, 2, HubOptions{}), NewScheduleLog(0)
		before := Now()
		p := NewPublisher(h, source, PublisherOptions{Log: log})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- p.Run(ctx) }()
		synctest.Wait()
		if got := h.LastSeqs(); !slices.Equal(got, []uint64{1, 1}) || source.asked != 0 {
			t.Errorf("held, it has published up to %d and asked the source %d times", got, source.asked)
		}
		if tick, _, _ := h.Newest("A"); tick.DueNS < before || tick.DueNS > tick.PublishNS {
			t.Errorf("the opening tick %+v was not due at once", tick)
		}
		if w, err := log.Window(0, Now()+1, 2); w.Scheduled != 0 || err != nil {
			t.Errorf("the opening is in the schedule: %+v, %v", w, err)
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want %v", err, context.Canceled)
		}
	})
}

func TestPublisherNeverMovesDueTimes(t *testing.T) {
	ms := time.Millisecond
	source := &listSource{opening: updates(0, 0), updates: slices.Concat(updates(0, 0, ms), updates(1, ms, 2*ms, 3*ms), updates(0, 3*ms)), end: io.EOF}
	for name, start := range map[string]int64{
		"in time": Now() + int64(ms),
		"late":    Now() - int64(time.Minute),
	} {
		source.asked = 0
		h, log := newHub(t, 2, HubOptions{}), NewScheduleLog(0)
		p := NewPublisher(h, source, PublisherOptions{Log: log})
		s := subscribed(t, h, 99, Subscribe{Symbols: []string{"A", "B"}})
		if err := p.Start(start, 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		var lag []int64
		ticks := all(t, s)
		for i, u := range source.updates {
			tick := ticks[i]
			if tick.DueNS != start+u.AtNS || tick.PublishNS < tick.DueNS || tick.Symbol != symbolName(u.Symbol) || tick.Origin != OriginSchedule {
				t.Errorf("%s: update %+v became %+v", name, u, tick)
			}
			if late := tick.PublishNS - tick.DueNS; name == "late" && late < int64(time.Minute-3*ms) {
				t.Errorf("late by %d ns, want a minute", late)
			}
			lag = append(lag, tick.PublishNS-tick.DueNS)
		}
		w, err := log.Window(start, start+int64(3*ms), 2)
		if err != nil || !w.Complete || w.Scheduled != 4 || w.Unpublished != 0 || !slices.Equal(w.LagNS, lag[:4]) ||
			!slices.Equal(w.Symbols, []SymbolWindow{{2, 0, 2, 3}, {2, 0, 1, 2}}) {
			t.Errorf("%s: the log says %+v, %v", name, w, err)
		}
	}
}

func TestPublisherStops(t *testing.T) {
	source := &listSource{updates: updates(0, 1, 2, 3, 4), end: io.EOF}
	h := newHub(t, 2, HubOptions{})
	p := NewPublisher(h, source, PublisherOptions{})
	start := Now()
	if err := p.Start(start, start+3); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); err != nil {
		t.Errorf("Run = %v", err)
	}
	if got := h.LastSeqs()[0]; got != 2 || source.asked != 3 {
		t.Errorf("published %d of the 2 before the stop, asked for %d", got, source.asked)
	}
}

// TestPublisherGivesUp runs long after the grace of its stop.
func TestPublisherGivesUp(t *testing.T) {
	source := &listSource{opening: updates(0, 0), updates: slices.Concat(updates(0, 1, 2), updates(1, 3), updates(0, 4)), end: io.EOF}
	h, log := newHub(t, 2, HubOptions{}), NewScheduleLog(0)
	p := NewPublisher(h, source, PublisherOptions{Log: log})
	h.Publish(&Update{Origin: OriginOrder, LastPx: 1, LastSz: 1}, Now()) // a trade of the book
	stop := Now() - int64(LateGrace) - 1
	start := stop - 10
	if err := p.Start(start, stop); err != nil {
		t.Fatal(err)
	}
	if err := p.Run(t.Context()); err != nil {
		t.Errorf("Run = %v", err)
	}
	if got := h.LastSeqs(); !slices.Equal(got, []uint64{2, 0}) {
		t.Errorf("published up to %d after giving up", got)
	}
	// The sequences go on from those that the hub has given.
	w, err := log.Window(start, stop, 2)
	if err != nil || !w.Complete || w.Scheduled != 4 || w.Unpublished != 4 || len(w.LagNS) != 0 ||
		!slices.Equal(w.Symbols, []SymbolWindow{{3, 3, 3, 5}, {1, 1, 1, 1}}) {
		t.Errorf("the log says %+v, %v", w, err)
	}

	// Within the grace it still publishes.
	source.asked = 0
	p = NewPublisher(h, source, PublisherOptions{})
	start = Now() - int64(LateGrace)/2
	if err := errors.Join(p.Start(start-10, start), p.Run(t.Context())); err != nil {
		t.Fatal(err)
	}
	if got := h.LastSeqs(); !slices.Equal(got, []uint64{2 + 1 + 3, 1}) {
		t.Errorf("within the grace it published up to %d", got)
	}
}

func TestPublisherStart(t *testing.T) {
	p := NewPublisher(newHub(t, 2, HubOptions{}), &listSource{end: io.EOF}, PublisherOptions{})
	for _, stop := range []int64{9, 10} {
		if err := p.Start(10, stop); err == nil {
			t.Errorf("starts at 10 and stops at %d", stop)
		}
	}
	if err := p.Start(10, 11); err != nil {
		t.Errorf("after starts that were refused: %v", err)
	}
	if err := p.Start(10, 11); !errors.Is(err, ErrStarted) {
		t.Errorf("started twice: %v, want %v", err, ErrStarted)
	}
}

func TestPublisherEnds(t *testing.T) {
	broken := errors.New("broken")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		end  error
		want error
	}{
		{"at the end", t.Context(), io.EOF, nil},
		{"with the source's error", t.Context(), broken, broken},
		{"with the context, though it is late", cancelled, io.EOF, context.Canceled},
	} {
		log := NewScheduleLog(0)
		p := NewPublisher(newHub(t, 2, HubOptions{}), &listSource{updates: updates(0, 0), end: c.end}, PublisherOptions{Log: log})
		if err := p.Start(Now()-1, 0); err != nil {
			t.Fatal(err)
		}
		if err := p.Run(c.ctx); !errors.Is(err, c.want) {
			t.Errorf("%s: Run = %v, want %v", c.name, err, c.want)
		}
		if w, err := log.Window(0, Now(), 2); c.ctx.Err() == nil && (err != nil || !w.Complete) {
			t.Errorf("%s: the log says %+v, %v; nothing is still to come", c.name, w, err)
		}
	}
}

// TestPublishedIsTold: the hub has each update when the hook is told, in order, the
// opening ones first; what is given up is not told.
func TestPublishedIsTold(t *testing.T) {
	source := &listSource{opening: updates(1, 0), updates: updates(0, 1, 2, 30), end: io.EOF}
	h := newHub(t, 2, HubOptions{})
	var told []int
	p := NewPublisher(h, source, PublisherOptions{Published: func(u *Update) {
		seqs := h.LastSeqs() // takes the hub's lock
		told = append(told, u.Symbol, int(seqs[0]), int(seqs[1]))
	}})
	start := Now()
	if err := errors.Join(p.Start(start, start+20), p.Run(t.Context())); err != nil {
		t.Fatal(err)
	}
	if want := []int{1, 0, 1, 0, 1, 1, 0, 2, 1}; !slices.Equal(told, want) {
		t.Errorf("told %d, want %d", told, want)
	}
}
