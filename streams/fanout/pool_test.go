package fanout

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

func TestNewPoolRefuses(t *testing.T) {
	for _, opts := range []Options{{Workers: -1}, {FlushInterval: -1}} {
		if _, err := NewPool(opts); err == nil {
			t.Errorf("%+v was taken", opts)
		}
	}
}

// stream is a task that takes what was put before it, as a subscription is.
type stream struct {
	t       testing.TB
	task    *Task
	mu      sync.Mutex
	waiting int
	taken   int
	busy    atomic.Bool
	most    int // in a run; 0: all
	done    chan struct{}
	want    int
	write   func(n int)
}

func newStream(t testing.TB, c *Conn, want int) *stream {
	s := &stream{t: t, want: want, done: make(chan struct{}), write: func(int) {}}
	s.task = c.NewTask(s.run)
	return s
}

func (s *stream) put() {
	s.mu.Lock()
	s.waiting++
	s.mu.Unlock()
	s.task.Schedule()
}

func (s *stream) run() bool {
	if !s.busy.CompareAndSwap(false, true) {
		s.t.Error("a stream runs twice at a time")
	}
	defer s.busy.Store(false)
	s.mu.Lock()
	n := s.waiting
	if s.most > 0 {
		n = min(n, s.most)
	}
	s.waiting -= n
	s.taken += n
	more, done := s.waiting > 0, s.taken == s.want && n > 0
	s.mu.Unlock()
	s.write(n)
	if done {
		close(s.done)
	}
	return more
}

// Whatever is put before a stream is taken, by no more than one worker at a time,
// with sinks and without, however many workers and putters there are.
func TestEverythingIsTaken(t *testing.T) {
	const conns, each, puts, putters = 5, 7, 300, 4
	for _, workers := range []int{1, 3} {
		for _, interval := range []time.Duration{0, time.Millisecond} {
			for _, sinks := range []bool{true, false} {
				t.Run(fmt.Sprintf("%d workers, %s, sinks %t", workers, interval, sinks), func(t *testing.T) {
					p := newPool(t, Options{Workers: workers, FlushInterval: interval})
					var all []*stream
					for i := range conns {
						var sink Sink
						if sinks {
							sink = NewSocket(newKernel(-1))
						}
						c := p.NewConn(sink)
						for range each {
							s := newStream(t, c, puts*putters)
							s.most = i // the first takes all, others leave some
							all = append(all, s)
						}
					}
					var putting sync.WaitGroup
					for range putters {
						putting.Go(func() {
							for range puts {
								for _, s := range all {
									s.put()
								}
							}
						})
					}
					putting.Wait()
					for _, s := range all {
						receive(t, "a stream has taken all", s.done)
					}
				})
			}
		}
	}
}

// A connection that takes nothing keeps no other waiting, and what became ready on it
// meanwhile leaves together.
func TestBlockedConnection(t *testing.T) {
	p := newPool(t, Options{Workers: 1})
	k := newKernel(0)
	socket := NewSocket(k)
	slow := newStream(t, p.NewConn(socket), 4)
	runs := 0
	slow.write = func(n int) {
		runs++
		_ = socket.Send(make([]byte, n))
	}
	slow.put()
	eventually(t, "the connection is waited for", func() bool { return p.Stats().Blocked == 1 })
	fast := newStream(t, p.NewConn(NewSocket(newKernel(-1))), 3)
	for range 3 {
		slow.put()
		fast.put()
	}
	receive(t, "the other connection goes on", fast.done)
	if got := k.written(); got != "" {
		t.Fatalf("%d bytes were taken", len(got))
	}
	k.give(-1)
	receive(t, "the slow connection goes on", slow.done)
	if runs != 2 || p.Stats().Blocked != 1 {
		t.Errorf("%d runs, %+v; want one before and one after it was blocked", runs, p.Stats())
	}
}

// A stream that holds its worker loses it: the other streams go on, those of its own
// connection too, and it does once it is let go.
func TestStuckStream(t *testing.T) {
	p := newPool(t, Options{Workers: 1})
	c := p.NewConn(nil)
	const stuckStreams = 3
	free := make(chan struct{})
	var all []*stream
	for i := range 2 * stuckStreams {
		s := newStream(t, c, 2)
		if i < stuckStreams {
			s.write = func(int) { <-free }
		}
		s.most = 1
		all = append(all, s)
	}
	other := newStream(t, p.NewConn(nil), 2)
	all = append(all, other)
	for range 2 {
		for _, s := range all {
			s.put()
		}
	}
	for _, s := range all[stuckStreams:] {
		receive(t, "a stream beside one that is stuck", s.done)
	}
	if n := p.Stats().Replaced; n < stuckStreams {
		t.Errorf("%d workers were replaced by %d streams that held theirs", n, stuckStreams)
	}
	close(free)
	for _, s := range all[:stuckStreams] {
		receive(t, "a stream that was stuck", s.done)
	}
}

// With a flush interval the first is written at once, and then no sooner than that.
func TestFlushInterval(t *testing.T) {
	const interval = 20 * time.Millisecond
	p := newPool(t, Options{Workers: 1, FlushInterval: interval})
	began := make(chan int64, 4)
	s := newStream(t, p.NewConn(NewSocket(newKernel(-1))), 100)
	s.write = func(int) { began <- feed.Now() }
	s.put()
	last := receive(t, "the first turn", began)
	for range 2 {
		for range 3 {
			s.put()
		}
		at := receive(t, "the next turn", began)
		if at-last < int64(interval) {
			t.Errorf("a turn %s after the one before", time.Duration(at-last))
		}
		last = at
	}
}

// eventually waits for a condition that nothing signals.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(patience)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}

// BenchmarkTurn schedules each of 1,000 connections of their own, and on 10 shared ones
// each of 100 streams, and waits until all have run.
func BenchmarkTurn(b *testing.B) {
	for _, each := range []int{1, 100} {
		for _, sinks := range []bool{true, false} {
			b.Run(fmt.Sprintf("streams=%d/sinks=%t", each, sinks), func(b *testing.B) {
				p := newPool(b, Options{})
				var left atomic.Int64
				done := make(chan struct{})
				var tasks []*Task
				for range 1000 / each {
					var sink Sink
					if sinks {
						sink = NewSocket(newKernel(-1))
					}
					c := p.NewConn(sink)
					for range each {
						tasks = append(tasks, c.NewTask(func() bool {
							if left.Add(-1) == 0 {
								done <- struct{}{}
							}
							return false
						}))
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					left.Store(int64(len(tasks)))
					for _, t := range tasks {
						t.Schedule()
					}
					<-done
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(tasks)), "ns/stream")
			})
		}
	}
}
