package feed

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// subscriber has a goroutine that reads and one that asks, as a stream of the
// exchange has.
type subscriber struct {
	hub *Hub
	rnd *rand.Rand // of the goroutine that reads

	mu     sync.Mutex
	sub    *Subscription
	reader *reader
	err    error
}

// TestHubConcurrently has publishers and subscribers that come, go, ask and read
// slowly at the same time, and checks what each stream carried.
func TestHubConcurrently(t *testing.T) {
	const (
		symbols     = 5
		subscribers = 24
		requests    = 200 // of each subscriber
		between     = 8   // ticks between two requests of anybody
	)
	h := newHub(t, symbols, HubOptions{Ring: 32, Encoders: []Encoder{textEncoder, textEncoder}})
	var publishers, askers, readers sync.WaitGroup
	turns, stop, quiet := make(chan struct{}), make(chan struct{}), make(chan struct{})
	for i := range symbols {
		publishers.Go(func() {
			for n := 1; ; n++ {
				publish(h, symbolName(i))
				if n%between != 0 {
					continue
				}
				select {
				case turns <- struct{}{}:
				case <-stop:
					return
				}
			}
		})
	}
	all := make([]*subscriber, subscribers)
	for i := range all {
		s := &subscriber{hub: h, rnd: rand.New(rand.NewPCG(uint64(i), 1))}
		all[i] = s
		if err := s.connect(standing{}); err != nil {
			t.Fatal(err)
		}
		askers.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(i), 2))
			for range requests {
				<-turns
				s.ask(rnd)
			}
		})
		readers.Go(func() {
			if err := s.run(quiet); err != nil {
				t.Errorf("subscriber %d: %v", i, err)
			}
		})
	}
	askers.Wait()
	close(stop)
	publishers.Wait()
	close(quiet)
	readers.Wait()
	for i, s := range all {
		if s.err != nil {
			t.Errorf("subscriber %d asks: %v", i, s.err)
		}
		s.sub.Close()
	}
	got := h.Stats()
	if got.Subscriptions != 0 || got.Conflated == 0 || got.Dropped == 0 || got.Disconnected == 0 {
		t.Errorf("no subscription is open, and every policy should have acted: %+v", got)
	}
}

// connect resumes on a new stream.
func (s *subscriber) connect(at standing) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sub != nil {
		s.sub.Close()
	}
	var err error
	s.sub, err = s.hub.NewSubscription(SubscriptionOptions{Encoding: s.rnd.IntN(2), Queue: 1 + s.rnd.IntN(8)})
	if err != nil {
		return err
	}
	s.reader = newReader(s.hub.Epoch())
	if len(at.symbols) == 0 {
		return nil
	}
	req := Subscribe{Symbols: at.symbols, Cursor: at.cursor, Policy: Policy(s.rnd.IntN(4))}
	s.reader.asked = []request{{req, at.lasts}}
	return s.sub.Subscribe(req)
}

// ask may be refused for the state that the stream is in by now.
func (s *subscriber) ask(rnd *rand.Rand) {
	names := []string{"A", "B", "C", "D", "E"}
	rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = names[:1+rnd.IntN(2)]
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if rnd.IntN(3) == 0 {
		err = s.sub.Unsubscribe(Unsubscribe{Symbols: names})
	} else {
		req := Subscribe{Symbols: names, Policy: Policy(rnd.IntN(4))}
		if rnd.IntN(3) == 0 {
			now := uint64(s.hub.Stats().Published)
			req.Cursor = fmt.Sprintf("%s-%d", s.hub.Epoch(), now-min(now, rnd.Uint64N(300)))
		}
		s.reader.asked = append(s.reader.asked, request{Subscribe: req})
		if err = s.sub.Subscribe(req); err != nil {
			s.reader.asked = s.reader.asked[:len(s.reader.asked)-1]
		}
	}
	allowed := []ProblemCode{CodeAlreadySubscribed, CodeNotSubscribed, CodeBadRequest, CodeSlowConsumer}
	if err != nil && !slices.Contains(allowed, problemCode(err)) {
		s.err = err
	}
}

// run reads until all is quiet, losing its connection now and then.
func (s *subscriber) run(quiet <-chan struct{}) error {
	for {
		select {
		case <-s.sub.Ready():
		case <-quiet:
			return s.finish()
		}
		for range s.rnd.IntN(3) * 20 {
			runtime.Gosched() // a slow one
		}
		again, err := s.take(s.rnd.IntN(8))
		if err != nil {
			return err
		}
		if again || s.rnd.IntN(100) == 0 {
			s.mu.Lock()
			at, ok := s.reader.standing()
			s.mu.Unlock()
			if !ok {
				at = standing{}
			}
			if err := s.connect(at); err != nil {
				return err
			}
		}
	}
}

// take reports whether the policy has ended the stream.
func (s *subscriber) take(n int) (again bool, err error) {
	var b Batch
	err = s.sub.Take(&b, n)
	if problemCode(err) == CodeSlowConsumer {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	for _, f := range b.Frames {
		if got, want := string(s.sub.Encoded(f)), string(textEncoder(nil, s.hub.Epoch(), &f.Tick)); got != want {
			return false, fmt.Errorf("encoded %q, want %q", got, want)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return false, s.reader.read(&b, func() {})
}

// finish reads what waits when nothing more comes.
func (s *subscriber) finish() error {
	for {
		ended, err := s.take(3)
		if err != nil {
			return err
		}
		if ended {
			at, ok := s.reader.standing()
			if !ok {
				return nil
			}
			if err := s.connect(at); err != nil {
				return err
			}
			continue
		}
		if s.sub.Waiting() == 0 {
			return s.reader.ended(s.hub)
		}
	}
}
