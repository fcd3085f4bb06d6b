package feed

import (
	"fmt"
	"slices"
	"strings"
)

// model is the hub in the plainest words: it keeps every tick, and finds by
// looking through all of them. It answers in the words of render.
type model struct {
	epoch     string
	ring      int
	ticks     []modelTick
	streams   []*modelStream
	stats     HubStats
	replayed  int64 // ticks put into queues by resumes
	taken     int64
	forgotten int64
}

type modelTick struct {
	symbol      string
	seq, hubSeq uint64
	life        *modelLife // of the queue that it waits in
}

type modelStream struct {
	model           *model
	policy          Policy
	capacity, bound int
	lives           []*modelLife
	said            []*modelSaid
	queue           []modelTick
	ended           ProblemCode // CodeInternal: closed
	ends            int         // calls of OnEnd
}

type modelLife struct {
	symbol string
	told   uint64
}

// modelSaid is a message that waits; from and to are those of a skip that may widen.
type modelSaid struct {
	text     string
	life     *modelLife
	from, to uint64
}

func (m *model) open(queue int) *modelStream {
	s := &modelStream{model: m, capacity: queue, bound: queue}
	m.streams = append(m.streams, s)
	m.stats.Subscriptions++
	return s
}

// of returns all ticks of a symbol.
func (m *model) of(symbol string) (ticks []modelTick) {
	for _, t := range m.ticks {
		if t.symbol == symbol {
			ticks = append(ticks, t)
		}
	}
	return ticks
}

func (m *model) last(symbol string) uint64 { return uint64(len(m.of(symbol))) }

func (m *model) publish(symbol string) {
	t := modelTick{symbol: symbol, seq: m.last(symbol) + 1, hubSeq: uint64(len(m.ticks)) + 1}
	m.ticks = append(m.ticks, t)
	m.stats.Published++
	for _, s := range m.streams {
		if l := s.life(symbol); l != nil {
			t.life = l
			s.enqueue(t)
		}
	}
}

func (s *modelStream) life(symbol string) *modelLife {
	for _, l := range s.lives {
		if l.symbol == symbol {
			return l
		}
	}
	return nil
}

func (s *modelStream) places() int { return max(s.capacity, len(s.lives)) }

func (s *modelStream) enqueue(t modelTick) {
	for len(s.queue) >= s.bound {
		goes := 0
		switch s.policy {
		case PolicyDisconnect:
			s.end(CodeSlowConsumer)
			s.ends++
			s.model.stats.Disconnected++
			return
		case PolicyDropOldest:
			s.model.stats.Dropped++
		default:
			goes = s.superseded(t)
			s.model.stats.Conflated++
		}
		s.skip(s.queue[goes])
		s.queue = slices.Delete(s.queue, goes, goes+1)
	}
	s.queue = append(s.queue, t)
	s.model.stats.Enqueued++
}

// superseded returns where the oldest waiting tick of t's symbol stands, or else
// the oldest that has a newer one of its own symbol behind it.
func (s *modelStream) superseded(t modelTick) int {
	for i, e := range s.queue {
		if e.symbol == t.symbol {
			return i
		}
	}
	for i, e := range s.queue {
		for _, behind := range s.queue[i+1:] {
			if behind.symbol == e.symbol {
				return i
			}
		}
	}
	panic("a full queue has no tick that a newer one supersedes")
}

func (s *modelStream) skip(t modelTick) {
	t.life.told = t.seq
	for _, said := range s.said {
		if said.life == t.life {
			said.to = t.seq
			return
		}
	}
	s.said = append(s.said, &modelSaid{life: t.life, from: t.seq, to: t.seq})
}

func (s *modelStream) end(code ProblemCode) {
	s.ended = code
	s.model.forgotten += int64(len(s.queue))
	s.lives, s.said, s.queue = nil, nil, nil
}

func (s *modelStream) close() {
	if s.ended != CodeInternal {
		s.model.stats.Subscriptions--
	}
	s.end(CodeInternal)
}

func (s *modelStream) say(format string, args ...any) *modelSaid {
	said := &modelSaid{text: fmt.Sprintf(format, args...)}
	s.said = append(s.said, said)
	return said
}

// accounted is the cursor that says that all is told but what waits.
func (s *modelStream) accounted() uint64 {
	if len(s.queue) > 0 {
		return s.queue[0].hubSeq - 1
	}
	return uint64(len(s.model.ticks))
}

func (s *modelStream) subscribe(req Subscribe) ProblemCode {
	m := s.model
	cursor, err := ParseCursor(req.Cursor)
	switch {
	case len(req.Symbols) == 0:
		return CodeBadRequest
	case req.Cursor != "" && err != nil:
		return CodeBadCursor
	case s.ended != "":
		return s.ended
	case s.policy != PolicyNone && req.Policy != PolicyNone && s.policy != req.Policy:
		return CodeBadRequest
	}
	for i, name := range req.Symbols {
		switch {
		case name == "Z":
			return CodeUnknownSymbol
		case s.life(name) != nil || slices.Contains(req.Symbols[:i], name):
			return CodeAlreadySubscribed
		}
	}
	if s.policy == PolicyNone {
		s.policy = max(req.Policy, PolicyConflate)
	}
	answer := s.say("")
	answer.text = "subscribed"
	for _, name := range req.Symbols {
		s.lives = append(s.lives, &modelLife{symbol: name, told: m.last(name)})
		answer.text += fmt.Sprintf(" %s%d", name, m.last(name))
	}
	answer.text += " " + policyNames[s.policy]
	s.bound = max(s.bound, s.places())
	snapshots := req.Symbols
	if req.Cursor != "" {
		snapshots = s.resume(req.Symbols, cursor)
	}
	for _, name := range snapshots {
		if m.last(name) > 0 {
			s.say("snapshot %s%d", name, m.last(name))
		}
	}
	if end := s.said[len(s.said)-1]; end != answer {
		end.text += fmt.Sprintf(" after %d", s.accounted())
		if req.Cursor != "" && cursor.Epoch == m.epoch && cursor.HubSeq <= uint64(len(m.ticks)) {
			answer.text += fmt.Sprintf(" after %d", min(cursor.HubSeq, s.accounted()))
		}
	} else {
		answer.text += fmt.Sprintf(" after %d", s.accounted())
	}
	return ""
}

// resume queues what the rings have after c, and returns the symbols whose rings
// have not all of it.
func (s *modelStream) resume(names []string, c Cursor) (gaps []string) {
	m := s.model
	var replay []modelTick
	for _, name := range names {
		all, reason := m.of(name), ""
		kept := all[max(0, len(all)-m.ring):]
		switch {
		case c.Epoch != m.epoch:
			reason = "epoch"
		case c.HubSeq > uint64(len(m.ticks)), len(kept) < len(all) && all[len(all)-len(kept)-1].hubSeq > c.HubSeq:
			reason = "gap"
		}
		if reason != "" {
			gaps = append(gaps, name)
			s.say("skipped %s0-%d %s", name, len(all), reason)
			continue
		}
		for _, t := range slices.Backward(kept) {
			if t.hubSeq > c.HubSeq {
				t.life = s.life(name)
				t.life.told = t.seq - 1
				replay = append(replay, t)
			}
		}
	}
	if len(replay) == 0 {
		return gaps
	}
	m.replayed += int64(len(replay))
	s.queue = append(s.queue, replay...)
	slices.SortFunc(s.queue, func(a, b modelTick) int { return int(a.hubSeq) - int(b.hubSeq) })
	s.bound = s.places() + min(len(s.queue), len(s.lives)*m.ring)
	return gaps
}

func (s *modelStream) unsubscribe(names []string) ProblemCode {
	switch {
	case len(names) == 0:
		return CodeBadRequest
	case s.ended != "":
		return s.ended
	}
	for i, name := range names {
		if s.life(name) == nil || slices.Contains(names[:i], name) {
			return CodeNotSubscribed
		}
	}
	answer := s.say("unsubscribed")
	for _, name := range names {
		l := s.life(name)
		answer.text += fmt.Sprintf(" %s%d", name, l.told)
		s.lives = slices.DeleteFunc(s.lives, func(o *modelLife) bool { return o == l })
		before := len(s.queue)
		s.queue = slices.DeleteFunc(s.queue, func(t modelTick) bool { return t.life == l })
		s.model.forgotten += int64(before - len(s.queue))
	}
	return ""
}

func (s *modelStream) take(n int) string {
	var out []string
	for _, said := range s.said {
		if said.life != nil {
			said.text = fmt.Sprintf("skipped %s%d-%d %s", said.life.symbol, said.from, said.to, reasonNames[map[Policy]SkipReason{
				PolicyConflate: SkipConflated, PolicyDropOldest: SkipDropped}[s.policy]])
		}
		out = append(out, said.text)
	}
	s.said = nil
	for ; n > 0 && len(s.queue) > 0; n-- {
		t := s.queue[0]
		s.queue = s.queue[1:]
		t.life.told = t.seq
		s.model.taken++
		out = append(out, fmt.Sprintf("%s%d@%d", t.symbol, t.seq, t.hubSeq))
	}
	if len(s.queue) == 0 {
		s.bound = s.places()
	}
	return strings.Join(out, ", ")
}
