package feed

import (
	"errors"
	"fmt"
	"sync"
)

// DefaultQueue is the number of places in a subscription's queue.
const DefaultQueue = 256

// SubscriptionOptions are the choices of NewSubscription.
type SubscriptionOptions struct {
	Encoding int // index into HubOptions.Encoders
	Queue    int // ticks that may wait; 0 takes DefaultQueue

	// OnEnd, where set, is called when the policy ends the subscription. It runs
	// under the hub's lock and must neither block nor call the hub.
	OnEnd func(*Problem)

	// OnReady, where set, is called beside each signal of Ready, mostly under locks of
	// the hub and the subscription: it must neither block nor call either.
	OnReady func()
}

// Subscription is one stream's bounded queue of what the hub has for it. One
// goroutine may call Take while others call Subscribe, Unsubscribe and Close.
type Subscription struct {
	hub      *Hub
	encoding int
	capacity int
	onEnd    func(*Problem)
	onReady  func()
	ready    chan struct{}

	mu       sync.Mutex
	policy   Policy
	members  map[string]*member
	control  []controlItem
	answered int // symbols named in control
	queue    frameQueue
	bound    int // places now: more than capacity while a replay drains
	ended    *Problem
}

// controlItem is a message, or the member whose pending skip stands here, so
// that a skip keeps its place while it widens.
type controlItem struct {
	message Message
	skip    *member
}

// Batch is what left a subscription's queue together, in the order in which it
// goes on the wire: Control first, then Frames, which are in hub_seq order.
type Batch struct {
	Control []Message
	Frames  []*Frame
}

// ErrClosed is returned by a Subscription after Close.
var ErrClosed = errors.New("subscription closed")

// NewSubscription returns a subscription to no symbol. It must be closed.
func (h *Hub) NewSubscription(opts SubscriptionOptions) (*Subscription, error) {
	if opts.Encoding < 0 || opts.Encoding >= len(h.encoders) {
		return nil, fmt.Errorf("new subscription: encoding %d of %d", opts.Encoding, len(h.encoders))
	}
	if opts.Queue < 0 {
		return nil, fmt.Errorf("new subscription: queue of %d ticks", opts.Queue)
	}
	if opts.Queue == 0 {
		opts.Queue = DefaultQueue
	}
	s := &Subscription{
		hub: h, encoding: opts.Encoding, capacity: opts.Queue, bound: opts.Queue,
		onEnd: opts.OnEnd, onReady: opts.OnReady, ready: make(chan struct{}, 1), members: make(map[string]*member, 1),
	}
	h.mu.Lock()
	h.active[s.encoding]++
	h.mu.Unlock()
	h.stats.subscriptions.Add(1)
	return s, nil
}

// Ready is signalled when there is something to Take. A signal may come for
// what an earlier Take has brought already.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Encoded returns the shared bytes of a frame in the subscription's encoding.
func (s *Subscription) Encoded(f *Frame) []byte { return s.hub.Encoded(f, s.encoding) }

// Take moves all waiting control messages and at most maxFrames ticks into b,
// whose former contents are lost. It never blocks. After the end of the
// subscription it returns the *Problem that ended it, or ErrClosed.
func (s *Subscription) Take(b *Batch, maxFrames int) error {
	b.Control, b.Frames = b.Control[:0], b.Frames[:0]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		if s.ended == closedByOwner {
			return ErrClosed
		}
		return s.ended
	}
	for i := range s.control {
		c := &s.control[i]
		if c.skip != nil {
			c.message.Skipped, c.skip.skip = c.skip.skip, nil
		}
		b.Control = append(b.Control, c.message)
		*c = controlItem{}
	}
	s.control, s.answered = s.control[:0], 0
	for len(b.Frames) < maxFrames && s.queue.len > 0 {
		e := s.queue.popFront()
		e.member.told = e.frame.Tick.Seq
		b.Frames = append(b.Frames, e.frame)
	}
	if s.queue.len > 0 {
		s.signal()
	} else if s.bound != s.places() {
		s.bound = s.places() // a replay has drained
		s.queue = frameQueue{}
	}
	return nil
}

// Waiting returns how many ticks wait now.
func (s *Subscription) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.len
}

// Close ends the subscription and forgets what waits. It may be called twice.
func (s *Subscription) Close() { s.end(closedByOwner) }

var closedByOwner = &Problem{Code: CodeInternal, Message: ErrClosed.Error()}

func (s *Subscription) end(why *Problem) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != closedByOwner {
		s.hub.active[s.encoding]--
		s.hub.stats.subscriptions.Add(-1)
	}
	s.ended = why
	for _, m := range s.members {
		m.listing.remove(m)
	}
	s.members, s.control, s.queue = nil, nil, frameQueue{}
	s.signal()
}

// Wake signals Ready. Whoever stands between the subscription and its reader, and
// holds back what it took, calls it once there is something to read; from any
// goroutine, and without harm after Close.
func (s *Subscription) Wake() { s.signal() }

// signal never blocks: one waiting signal is enough.
func (s *Subscription) signal() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
	if s.onReady != nil {
		s.onReady()
	}
}

// places is the bound of the queue: one place per symbol at least, so that a
// conflated stream always has the newest tick of each.
func (s *Subscription) places() int { return max(s.capacity, len(s.members)) }

// enqueue adds a frame that was just published, under the hub's lock. It
// reports false when the subscription takes no more and m must go.
func (s *Subscription) enqueue(m *member, f *Frame) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return false
	}
	for s.queue.len >= s.bound {
		switch s.policy {
		case PolicyDisconnect:
			s.ended = &Problem{Code: CodeSlowConsumer, Fatal: true,
				Message: fmt.Sprintf("%d ticks wait and the policy is disconnect; read faster, ask for fewer symbols, or resume with another policy", s.queue.len)}
			s.hub.stats.disconnected.Add(1)
			s.control, s.queue = nil, frameQueue{}
			s.signal()
			if s.onEnd != nil {
				s.onEnd(s.ended)
			}
			return false
		case PolicyDropOldest:
			s.skip(s.queue.popFront(), SkipDropped)
			s.hub.stats.dropped.Add(1)
		default:
			s.skip(s.queue.popSuperseded(m), SkipConflated)
			s.hub.stats.conflated.Add(1)
		}
	}
	s.queue.push(queued{frame: f, member: m}, s.bound)
	if s.queue.len == 1 || len(s.control) > 0 {
		s.signal()
	}
	return true
}

// skip widens the member's pending Skipped by a tick that left the queue. Ticks
// of one symbol leave oldest first, so the range has no holes.
func (s *Subscription) skip(e queued, reason SkipReason) {
	m, t := e.member, &e.frame.Tick
	m.told = t.Seq
	if m.skip != nil {
		m.skip.ToSeq = t.Seq
		return
	}
	m.skip = &Skipped{Symbol: t.Symbol, FromSeq: t.Seq, ToSeq: t.Seq, FirstDueNS: t.DueNS, Reason: reason}
	s.control = append(s.control, controlItem{skip: m})
}
