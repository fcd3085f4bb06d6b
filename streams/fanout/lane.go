package fanout

import (
	"container/heap"
	"sync"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// linger is how long a worker without work stays.
const linger = 100 * time.Millisecond

// lane is a queue of connections that have something to write, and the one worker
// that serves it.
type lane struct {
	pool *Pool
	wake chan struct{} // has room for one

	mu     sync.Mutex
	queue  []*Conn
	spare  []*Conn // the other buffer of the queue
	held   byDue
	worker bool // there is one
	asleep bool // it waits for wake
}

func newLane(p *Pool) *lane { return &lane{pool: p, wake: make(chan struct{}, 1)} }

// add queues an active connection.
func (l *lane) add(c *Conn) {
	l.mu.Lock()
	l.queue = append(l.queue, c)
	start, wake := !l.worker, l.asleep
	l.worker, l.asleep = true, false
	l.mu.Unlock()
	switch {
	case start:
		go newWorker(l).run()
	case wake:
		l.wake <- struct{}{} // has room: the worker has not taken one since it fell asleep
	}
}

// next returns the connections that are to be served, in their order, or nil where
// the worker is to end. The caller gives the slice back with its next call.
func (l *lane) next(served []*Conn, timer *time.Timer) []*Conn {
	clear(served)
	for {
		l.mu.Lock()
		if cap(l.spare) == 0 && cap(served) > 0 {
			l.spare, served = served[:0], nil
		}
		l.due()
		if len(l.queue) > 0 {
			out := l.queue
			l.queue, l.spare = l.spare[:0], nil
			l.mu.Unlock()
			return out
		}
		patience := linger
		if len(l.held) > 0 {
			patience = time.Duration(max(l.held[0].notBefore-feed.Now(), 0))
		}
		l.asleep = true
		l.mu.Unlock()
		timer.Reset(patience)
		select {
		case <-l.wake:
			timer.Stop()
			continue
		case <-timer.C:
		}
		l.mu.Lock()
		if !l.asleep { // somebody has just queued a connection, and wakes
			l.mu.Unlock()
			<-l.wake
			continue
		}
		l.asleep = false
		if len(l.queue) == 0 && len(l.held) == 0 {
			l.worker = false
			l.queue, l.spare = nil, nil
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
	}
}

// due queues the held connections whose time has come. The caller has the lock.
func (l *lane) due() {
	if len(l.held) == 0 {
		return
	}
	for now := feed.Now(); len(l.held) > 0 && l.held[0].notBefore <= now; {
		l.queue = append(l.queue, heap.Pop(&l.held).(*Conn))
	}
}

// hold keeps a connection back until its flush interval is over.
func (l *lane) hold(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	heap.Push(&l.held, c)
}

// byDue is a container/heap of connections, the earliest first.
type byDue []*Conn

func (h byDue) Len() int           { return len(h) }
func (h byDue) Less(i, j int) bool { return h[i].notBefore < h[j].notBefore }
func (h byDue) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push is heap.Interface's.
func (h *byDue) Push(c any) { *h = append(*h, c.(*Conn)) }

// Pop is heap.Interface's.
func (h *byDue) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}
