package feed

import (
	"cmp"
	"fmt"
	"slices"
)

// Subscribe adds symbols to the stream and queues the Subscribed message, the
// snapshots or, after a cursor, what the rings still have. It adds all or none:
// what is unknown, named twice or subscribed already is a *Problem. The policy
// counts on the first call; a later one must name the same or none.
func (s *Subscription) Subscribe(req Subscribe) error {
	if len(req.Symbols) == 0 {
		return &Problem{Code: CodeBadRequest, Message: "subscribe names no symbol"}
	}
	var cursor Cursor
	if req.Cursor != "" {
		var err error
		if cursor, err = ParseCursor(req.Cursor); err != nil {
			return &Problem{Code: CodeBadCursor, Message: err.Error()}
		}
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(); err != nil {
		return err
	}
	if s.policy != PolicyNone && req.Policy != PolicyNone && req.Policy != s.policy {
		return &Problem{Code: CodeBadRequest, Message: "the policy of a stream is that of its first subscribe; open another stream for another policy"}
	}
	added, err := s.newMembers(req.Symbols)
	if err != nil {
		return err
	}
	if s.policy == PolicyNone {
		s.policy = cmp.Or(req.Policy, PolicyConflate)
	}
	answer := &Subscribed{Policy: s.policy, Symbols: make([]SymbolSeq, 0, len(added))}
	for _, m := range added {
		l := m.listing
		m.pos = len(l.members)
		l.members = append(l.members, m)
		s.members[l.symbol.Name] = m
		m.told = l.state.Seq
		answer.Symbols = append(answer.Symbols, SymbolSeq{Symbol: l.symbol.Name, Seq: l.state.Seq})
	}
	s.bound = max(s.bound, s.places())
	s.answered += len(added)
	s.control = append(s.control, controlItem{message: Message{Subscribed: answer}})
	if req.Cursor == "" {
		s.snapshots(added)
	} else {
		s.resume(added, cursor)
		if cursor.Epoch == s.hub.epoch && cursor.HubSeq <= s.hub.hubSeq {
			// Until the answer is complete, a symbol with a gap stands where the cursor says.
			answer.Cursor = Cursor{Epoch: s.hub.epoch, HubSeq: min(cursor.HubSeq, s.accounted())}.String()
		}
	}
	s.setCursor()
	s.signal()
	return nil
}

// maxControl bounds the answers that wait for a stream whose reader has stopped
// while it goes on asking: messages, and symbols named in them.
const maxControl = 4096

// maxReplay bounds what one subscribe replays, which is merged under the hub's
// lock. Symbols beyond it get a gap.
const maxReplay = 16_384

func (s *Subscription) refused() error {
	switch {
	case s.ended == closedByOwner:
		return ErrClosed
	case s.ended != nil:
		return s.ended
	case len(s.control)+s.answered > maxControl:
		return &Problem{Code: CodeRateLimited, Message: fmt.Sprintf("%d answers wait to be read; read the stream before asking for more", len(s.control))}
	}
	return nil
}

func (s *Subscription) newMembers(names []string) ([]*member, error) {
	added := make([]*member, 0, len(names))
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		l := s.hub.byName[name]
		switch {
		case l == nil:
			return nil, unknownSymbol(name)
		case seen[name] || s.members[name] != nil:
			return nil, &Problem{Code: CodeAlreadySubscribed, Symbol: shortName(name),
				Message: fmt.Sprintf("symbol %s is subscribed already on this stream", quoteShort(name))}
		}
		seen[name] = true
		added = append(added, &member{sub: s, listing: l})
	}
	return added, nil
}

func (s *Subscription) snapshots(added []*member) {
	for _, m := range added {
		if f := m.listing.newest; f != nil {
			s.control = append(s.control, controlItem{message: Message{Snapshot: &Snapshot{Tick: f.Tick}}})
		}
	}
}

// resume queues what each ring has after the cursor, merged in hub_seq order.
// While that drains, the queue has as many more places.
func (s *Subscription) resume(added []*member, c Cursor) {
	reason := SkipNone
	switch {
	case c.Epoch != s.hub.epoch:
		reason = SkipEpoch
	case c.HubSeq > s.hub.hubSeq:
		reason = SkipGap
	}
	var (
		replay []queued
		frames []*Frame
		gaps   []*member
	)
	for _, m := range added {
		l := m.listing
		why := reason
		if why == SkipNone && l.ring.evicted > c.HubSeq {
			why = SkipGap
		}
		if why == SkipNone {
			frames = l.ring.after(frames[:0], c.HubSeq)
			if len(replay)+len(frames) > maxReplay {
				why = SkipGap
			}
		}
		if why != SkipNone {
			gaps = append(gaps, m)
			s.control = append(s.control, controlItem{message: Message{Skipped: &Skipped{
				Symbol: l.symbol.Name, ToSeq: l.state.Seq, Reason: why}}})
			continue
		}
		if len(frames) > 0 {
			m.told = frames[0].Tick.Seq - 1
		}
		for _, f := range frames {
			replay = append(replay, queued{frame: f, member: m})
		}
	}
	s.snapshots(gaps)
	if len(replay) == 0 {
		return
	}
	// What waits already is newer than the replay only where it is live, so the
	// whole queue is sorted again: cursors must grow along the stream.
	for s.queue.len > 0 {
		replay = append(replay, s.queue.popFront())
	}
	slices.SortFunc(replay, func(a, b queued) int { return cmp.Compare(a.frame.Tick.HubSeq, b.frame.Tick.HubSeq) })
	for _, e := range replay {
		e.member.waiting++
	}
	// No more than the rings can give, or a stream that resumes again and again
	// without reading would have more places each time.
	s.bound = s.places() + min(len(replay), len(s.members)*added[0].listing.ring.limit)
	s.queue = frameQueue{buf: replay, len: len(replay)}
}

// setCursor puts a cursor on the message that completes a subscribe: all before
// what waits in the queue is accounted for once that message has arrived.
func (s *Subscription) setCursor() {
	c := Cursor{Epoch: s.hub.epoch, HubSeq: s.accounted()}
	switch last := &s.control[len(s.control)-1].message; {
	case last.Snapshot != nil:
		last.Snapshot.Cursor = c.String()
	case last.Skipped != nil:
		last.Skipped.Cursor = c.String()
	case last.Subscribed != nil:
		last.Subscribed.Cursor = c.String()
	}
}

// accounted is the hub_seq up to which nothing of the stream's symbols is still
// to come, once the control messages have left.
func (s *Subscription) accounted() uint64 {
	if s.queue.len > 0 {
		return s.queue.at(0).frame.Tick.HubSeq - 1
	}
	return s.hub.hubSeq
}

// Unsubscribe ends symbols of the stream, all or none, forgets what waits of
// them and queues the Unsubscribed message. A symbol that is not subscribed is
// a *Problem.
func (s *Subscription) Unsubscribe(req Unsubscribe) error {
	if len(req.Symbols) == 0 {
		return &Problem{Code: CodeBadRequest, Message: "unsubscribe names no symbol"}
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(); err != nil {
		return err
	}
	gone := make(map[string]*member, len(req.Symbols))
	for _, name := range req.Symbols {
		if s.members[name] == nil || gone[name] != nil {
			return &Problem{Code: CodeNotSubscribed, Symbol: shortName(name),
				Message: fmt.Sprintf("symbol %s is not subscribed on this stream", quoteShort(name))}
		}
		gone[name] = s.members[name]
	}
	answer := &Unsubscribed{}
	for _, name := range req.Symbols {
		m := gone[name]
		m.listing.remove(m)
		m.gone = true
		delete(s.members, name)
		answer.Symbols = append(answer.Symbols, SymbolSeq{Symbol: name, Seq: m.told})
	}
	s.queue.removeGone()
	s.answered += len(req.Symbols)
	s.control = append(s.control, controlItem{message: Message{Unsubscribed: answer}})
	s.signal()
	return nil
}
