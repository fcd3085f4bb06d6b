package feed

import (
	"fmt"
	"maps"
	"slices"
)

// reader is a subscriber that knows the documented rules of a stream and no more.
// It returns an error for what breaks them, and can say after anything it has
// read how it would resume on another stream.
type reader struct {
	epoch  string
	asked  []request // not yet answered, oldest first
	fresh  bool      // the last answer was to a request without a cursor
	policy Policy
	lives  map[string]*life
	after  uint64 // hub_seq of the best cursor: the last tick's, or the last one told, whichever came later
	placed bool   // there is one
}

// request is a Subscribe with what earlier streams brought of its symbols.
type request struct {
	Subscribe
	lasts map[string]uint64
}

// life is a symbol between its Subscribed and its Unsubscribed. What the stream
// carries has neither holes nor overlaps; what the subscriber makes of it leaves
// out what it had before.
type life struct {
	resumed bool
	live    uint64 // live_after_seq
	next    uint64 // of the stream; 0 where a replay may still start at any up to live+1
	last    uint64 // of the subscriber: received or skipped, on this stream or before
	knows   bool   // there is a last
}

// standing is how a reader would resume.
type standing struct {
	cursor  string
	symbols []string
	lasts   map[string]uint64
}

func newReader(epoch string) *reader { return &reader{epoch: epoch, lives: make(map[string]*life)} }

// standing reports false where the reader has no cursor yet, and would start afresh.
func (r *reader) standing() (standing, bool) {
	s := standing{cursor: Cursor{r.epoch, r.after}.String(), symbols: slices.Sorted(maps.Keys(r.lives)), lasts: make(map[string]uint64)}
	for name, l := range r.lives {
		if l.knows {
			s.lasts[name] = l.last
		}
	}
	return s, r.placed && len(s.symbols) > 0
}

// read reads a batch in the order of the wire and calls between after each part.
func (r *reader) read(b *Batch, between func()) error {
	for i := range b.Control {
		if err := r.message(&b.Control[i]); err != nil {
			return err
		}
		between()
	}
	for _, f := range b.Frames {
		if err := r.tick(&f.Tick); err != nil {
			return err
		}
		between()
	}
	return nil
}

func (r *reader) message(m *Message) error {
	switch {
	case m.Subscribed != nil:
		if err := r.subscribed(m.Subscribed); err != nil {
			return err
		}
		return r.cursor(m.Subscribed.Cursor)
	case m.Unsubscribed != nil:
		return r.unsubscribed(m.Unsubscribed)
	case m.Skipped != nil:
		if err := r.skipped(m.Skipped); err != nil {
			return fmt.Errorf("%+v: %w", *m.Skipped, err)
		}
		return r.cursor(m.Skipped.Cursor)
	case m.Snapshot != nil:
		t := &m.Snapshot.Tick
		if l := r.lives[t.Symbol]; l == nil || t.Seq != l.live || l.next != l.live+1 || t.DueNS != dueOf(t.Symbol, t.Seq) {
			return fmt.Errorf("snapshot %+v of %+v", t, l)
		}
		return r.cursor(m.Snapshot.Cursor)
	}
	return fmt.Errorf("message %+v", *m)
}

func (r *reader) subscribed(a *Subscribed) error {
	if len(r.asked) == 0 {
		return fmt.Errorf("%+v answers nothing", *a)
	}
	req := r.asked[0]
	r.asked, r.policy, r.fresh = r.asked[1:], a.Policy, req.Cursor == ""
	if len(a.Symbols) != len(req.Symbols) {
		return fmt.Errorf("%+v answers %+v", *a, req)
	}
	for i, s := range a.Symbols {
		if s.Symbol != req.Symbols[i] || r.lives[s.Symbol] != nil {
			return fmt.Errorf("%+v answers %+v", *a, req)
		}
		l := &life{live: s.Seq, next: s.Seq + 1, last: s.Seq, knows: true}
		if !r.fresh {
			l.resumed, l.next = true, 0
			// Sequences of another epoch mean nothing in this one.
			if c, err := ParseCursor(req.Cursor); err != nil || c.Epoch == r.epoch {
				l.last, l.knows = req.lasts[s.Symbol]
			}
		}
		r.lives[s.Symbol] = l
	}
	return nil
}

func (r *reader) unsubscribed(a *Unsubscribed) error {
	for _, s := range a.Symbols {
		l := r.lives[s.Symbol]
		switch {
		case l == nil:
			return fmt.Errorf("unsubscribed %s, which is not subscribed", s.Symbol)
		case l.next != 0 && s.Seq != l.next-1:
			return fmt.Errorf("unsubscribed %s at %d, the stream had brought %d", s.Symbol, s.Seq, l.next-1)
		case l.knows && l.last < s.Seq:
			return fmt.Errorf("unsubscribed %s at %d, of which only %d came", s.Symbol, s.Seq, l.last)
		}
		delete(r.lives, s.Symbol)
	}
	return nil
}

func (r *reader) skipped(k *Skipped) error {
	l := r.lives[k.Symbol]
	if l == nil {
		return fmt.Errorf("not subscribed")
	}
	if k.FromSeq == 0 {
		if !l.resumed || l.next != 0 || k.ToSeq != l.live || k.FirstDueNS != 0 || k.Reason != SkipGap && k.Reason != SkipEpoch {
			return fmt.Errorf("after %+v", *l)
		}
		l.next, l.last, l.knows = k.ToSeq+1, max(l.last, k.ToSeq), true
		return nil
	}
	reasons := map[Policy]SkipReason{PolicyConflate: SkipConflated, PolicyDropOldest: SkipDropped}
	if k.ToSeq < k.FromSeq || k.Reason != reasons[r.policy] || k.FirstDueNS != dueOf(k.Symbol, k.FromSeq) {
		return fmt.Errorf("under policy %d", r.policy)
	}
	return l.carry(k.FromSeq, k.ToSeq)
}

func (r *reader) tick(t *Tick) error {
	l := r.lives[t.Symbol]
	if l == nil {
		return fmt.Errorf("tick %s%d is not subscribed", t.Symbol, t.Seq)
	}
	if r.placed && t.HubSeq <= r.after {
		return fmt.Errorf("tick %s%d@%d after the cursor %d", t.Symbol, t.Seq, t.HubSeq, r.after)
	}
	if t.DueNS != dueOf(t.Symbol, t.Seq) {
		return fmt.Errorf("tick %s%d is due at %d", t.Symbol, t.Seq, t.DueNS)
	}
	r.after, r.placed = t.HubSeq, true
	if err := l.carry(t.Seq, t.Seq); err != nil {
		return fmt.Errorf("tick %s%d@%d: %w", t.Symbol, t.Seq, t.HubSeq, err)
	}
	return nil
}

// carry accounts for the sequences from to to of the stream.
func (l *life) carry(from, to uint64) error {
	switch {
	case l.next == 0 && from > l.live+1, l.next != 0 && from != l.next:
		return fmt.Errorf("the stream leaves a hole or overlaps, %+v", *l)
	case l.knows && from > l.last+1:
		return fmt.Errorf("the subscriber misses ticks, %+v", *l)
	case l.knows && to <= l.last && from > l.live:
		return fmt.Errorf("the subscriber gets live ticks twice, %+v", *l)
	}
	l.next, l.last, l.knows = to+1, max(l.last, to), true
	return nil
}

func (r *reader) cursor(text string) error {
	if text == "" {
		return nil
	}
	c, err := ParseCursor(text)
	if err != nil || c.Epoch != r.epoch || r.fresh && r.placed && c.HubSeq < r.after {
		return fmt.Errorf("cursor %s after %d, %w", text, r.after, err)
	}
	r.after, r.placed = c.HubSeq, true
	return nil
}

// ended checks, once all was read, that every live symbol was accounted for up to
// its last sequence.
func (r *reader) ended(h *Hub) error {
	if len(r.asked) > 0 {
		return fmt.Errorf("no answer to %+v", r.asked[0])
	}
	for name, l := range r.lives {
		final := h.lastSeq(int(name[0] - 'A'))
		switch {
		case l.next == 0 && l.live != final, l.next != 0 && l.next != final+1:
			return fmt.Errorf("the stream ends %s with %+v, the hub at %d", name, *l, final)
		case l.knows && l.last != final:
			return fmt.Errorf("the subscriber ends %s with %+v, the hub at %d", name, *l, final)
		}
	}
	return nil
}
