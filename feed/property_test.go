package feed

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// machine drives a hub and its model through the same random steps.
type machine struct {
	hub     *Hub
	model   *model
	names   []string
	streams []*stream
	stood   []standing // where a subscriber stood after each thing it read
}

type stream struct {
	sub    *Subscription
	model  *modelStream
	reader *reader
	ends   int
	parked standing // what the subscriber had on an earlier stream and has not resumed
	told   bool     // the end has been taken
}

// TestHubIsItsModel checks the hub against the model, and what streams carry
// against the rules for subscribers, who may lose their connection anywhere.
func TestHubIsItsModel(t *testing.T) {
	for range 60 { // times rapid's 100 sequences
		rapid.Check(t, testModel)
	}
}

func testModel(t *rapid.T) {
	ring := rapid.IntRange(1, 6).Draw(t, "ring")
	n := rapid.IntRange(1, 4).Draw(t, "symbols")
	m := &machine{hub: newHub(t, n, HubOptions{Epoch: "e", Ring: ring}), model: &model{epoch: "e", ring: ring}}
	for i := range n {
		m.names = append(m.names, symbolName(i))
	}
	for range rapid.IntRange(1, 3).Draw(t, "streams") {
		m.open(t, standing{})
	}
	t.Repeat(map[string]func(*rapid.T){
		"":            m.check,
		"publish":     m.publish,
		"publishMore": m.publish,
		"subscribe":   m.subscribe,
		"resume":      m.resume,
		"unsubscribe": m.unsubscribe,
		"take":        m.takeSome,
		"takeMore":    m.takeSome,
		"reconnect":   m.reconnect,
		"close":       m.closeOne,
	})
	for _, s := range m.streams {
		m.take(t, s, 1_000_000)
		if s.model.ended == "" {
			if err := s.reader.ended(m.hub); err != nil {
				t.Fatalf("%v", err)
			}
		}
	}
	for _, at := range m.stood {
		checkResume(t, m.hub, at)
	}
}

// checkResume resumes from where a subscriber stood, reads all, and checks that
// nothing is missed.
func checkResume(t failer, h *Hub, at standing) {
	t.Helper()
	s := subscription(t, h, SubscriptionOptions{})
	defer s.Close()
	r := newReader(h.Epoch())
	req := Subscribe{Symbols: at.symbols, Cursor: at.cursor}
	r.asked = append(r.asked, request{req, at.lasts})
	if err := s.Subscribe(req); err != nil {
		t.Fatalf("resume from %+v: %v", at, err)
	}
	var b Batch
	if err := errors.Join(s.Take(&b, 1_000_000), r.read(&b, func() {}), r.ended(h)); err != nil {
		t.Fatalf("resume from %+v: %v", at, err)
	}
}

func (m *machine) open(t *rapid.T, parked standing) {
	queue := rapid.IntRange(1, 5).Draw(t, "queue")
	s := &stream{model: m.model.open(queue), reader: newReader("e"), parked: parked}
	s.sub = subscription(t, m.hub, SubscriptionOptions{Queue: queue, OnEnd: func(*Problem) { s.ends++ }})
	m.streams = append(m.streams, s)
}

func (m *machine) any(t *rapid.T) *stream { return rapid.SampledFrom(m.streams).Draw(t, "stream") }

// some draws symbols, rarely one twice or one that is not listed.
func (m *machine) some(t *rapid.T) []string {
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(m.names), 1, len(m.names), rapid.ID[string]).Draw(t, "symbols")
	switch rapid.IntRange(0, 19).Draw(t, "spoil") {
	case 0:
		return append(names, "Z")
	case 1:
		return append(names, names[0])
	case 2:
		return nil
	}
	return names
}

func (m *machine) publish(t *rapid.T) {
	for _, name := range rapid.SliceOfN(rapid.SampledFrom(m.names), 1, 8).Draw(t, "ticks") {
		publish(m.hub, name)
		m.model.publish(name)
	}
}

func (m *machine) subscribe(t *rapid.T) {
	now := m.hub.hubSeq
	req := Subscribe{Symbols: m.some(t), Policy: rapid.SampledFrom([]Policy{PolicyNone, PolicyConflate, PolicyDropOldest, PolicyDisconnect}).Draw(t, "policy")}
	switch rapid.IntRange(0, 9).Draw(t, "cursor") {
	case 0:
		req.Cursor = fmt.Sprintf("f-%d", rapid.Uint64Range(0, now).Draw(t, "hub_seq"))
	case 1:
		req.Cursor = fmt.Sprintf("e-%d", now+rapid.Uint64Range(1, 3).Draw(t, "ahead"))
	case 2:
		req.Cursor = rapid.SampledFrom([]string{"e", "e-", "E-1", "e-x"}).Draw(t, "bad")
	case 3, 4, 5:
		req.Cursor = fmt.Sprintf("e-%d", rapid.Uint64Range(0, now).Draw(t, "hub_seq"))
	}
	m.ask(t, m.any(t), request{Subscribe: req})
}

// resume asks for some of what an earlier stream had, the rest stays for later.
func (m *machine) resume(t *rapid.T) {
	s := m.any(t)
	if len(s.parked.symbols) == 0 {
		t.Skip("nothing to resume")
	}
	names := rapid.SliceOfNDistinct(rapid.SampledFrom(s.parked.symbols), 1, len(s.parked.symbols), rapid.ID[string]).Draw(t, "symbols")
	m.ask(t, s, request{Subscribe{Symbols: names, Cursor: s.parked.cursor}, s.parked.lasts})
	s.parked.symbols = slices.DeleteFunc(slices.Clone(s.parked.symbols), func(name string) bool { return slices.Contains(names, name) })
}

func (m *machine) ask(t *rapid.T, s *stream, req request) {
	s.reader.asked = append(s.reader.asked, req)
	code := problemCode(s.sub.Subscribe(req.Subscribe))
	if code != "" {
		s.reader.asked = s.reader.asked[:len(s.reader.asked)-1]
	}
	if want := modelCode(s.model.subscribe(req.Subscribe)); code != want {
		t.Fatalf("subscribe %+v: %q, want %q", req.Subscribe, code, want)
	}
}

// modelCode is what problemCode makes of ErrClosed, which is no problem.
func modelCode(code ProblemCode) ProblemCode {
	if code == CodeInternal {
		return ""
	}
	return code
}

func (m *machine) unsubscribe(t *rapid.T) {
	s, names := m.any(t), m.some(t)
	code := problemCode(s.sub.Unsubscribe(Unsubscribe{Symbols: names}))
	if want := modelCode(s.model.unsubscribe(names)); code != want {
		t.Fatalf("unsubscribe %s: %q, want %q", names, code, want)
	}
}

func (m *machine) takeSome(t *rapid.T) {
	m.take(t, m.any(t), rapid.IntRange(0, 6).Draw(t, "take"))
}

func (m *machine) take(t *rapid.T, s *stream, n int) {
	select {
	case <-s.sub.Ready():
	default: // check sees to it that nothing waits
	}
	var b Batch
	err := s.sub.Take(&b, n)
	if s.model.ended != "" {
		s.told = true
		if closed := s.model.ended == CodeInternal; closed != errors.Is(err, ErrClosed) || !closed && problemCode(err) != s.model.ended {
			t.Fatalf("take: %v, want the end by %s", err, s.model.ended)
		}
		return
	}
	if got, want := render(m.hub, &b), s.model.take(n); got != want || err != nil {
		t.Fatalf("take of %d brings\n\t%s, %v, want\n\t%s", n, got, err, want)
	}
	stand := func() {
		if at, ok := s.reader.standing(); ok {
			m.stood = append(m.stood, at)
		}
	}
	if err := s.reader.read(&b, stand); err != nil {
		t.Fatalf("%v", err)
	}
}

// reconnect gives a subscriber another stream, on which it has still to resume.
func (m *machine) reconnect(t *rapid.T) {
	i := rapid.IntRange(0, len(m.streams)-1).Draw(t, "stream")
	at, ok := m.streams[i].reader.standing()
	if !ok {
		at = standing{}
	}
	m.streams[i].sub.Close()
	m.streams[i].model.close()
	m.streams = slices.Delete(m.streams, i, i+1)
	m.open(t, at)
}

func (m *machine) closeOne(t *rapid.T) {
	if rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("rarely")
	}
	s := m.any(t)
	s.sub.Close()
	s.model.close()
}

func (m *machine) check(t *rapid.T) {
	waiting := int64(0)
	for i, s := range m.streams {
		if got, want := s.sub.Waiting(), len(s.model.queue); got != want {
			t.Fatalf("on stream %d %d ticks wait, want %d", i, got, want)
		}
		if s.ends != s.model.ends {
			t.Fatalf("OnEnd of stream %d was called %d times, want %d", i, s.ends, s.model.ends)
		}
		if something := len(s.model.said)+len(s.model.queue) > 0 || s.model.ended != "" && !s.told; something && len(s.sub.ready) == 0 {
			t.Fatalf("stream %d has something to take and no signal", i)
		}
		waiting += int64(s.sub.Waiting())
	}
	got := m.hub.Stats()
	if got != m.model.stats {
		t.Fatalf("stats %+v, want %+v", got, m.model.stats)
	}
	if in, out := got.Enqueued+m.model.replayed, m.model.taken+got.Conflated+got.Dropped+waiting+m.model.forgotten; in != out {
		t.Fatalf("%d ticks entered queues, %d are accounted for: %+v", in, out, got)
	}
	for i, name := range m.names {
		if got, want := m.hub.LastSeqs()[i], m.model.last(name); got != want {
			t.Fatalf("the last of %s is %d, want %d", name, got, want)
		}
	}
}
