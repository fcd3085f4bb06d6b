package fanout

import (
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
)

// stuck is how long a stream may hold its worker. It is looked for at every such
// time, so that a worker is replaced after one to two of them.
const stuck = time.Millisecond

// worker serves a lane, until it has nothing to do or a stream held it too long.
type worker struct {
	lane   *lane
	phase  atomic.Int32
	runs   atomic.Uint64 // streams run, so that one that lasts is seen
	watch  *time.Timer
	served *Conn         // whose streams write by themselves; set while the watch runs
	seen   atomic.Uint64 // runs when the watch last looked
	rest   []*Conn       // what is to be served after it
}

// The phases of a worker.
const (
	between  int32 = iota
	inStream       // that writes by itself
	replaced
)

func newWorker(l *lane) *worker { return &worker{lane: l} }

func (w *worker) run() {
	timer := time.NewTimer(linger)
	defer timer.Stop()
	var conns []*Conn
	for {
		if conns = w.lane.next(conns, timer); conns == nil {
			return
		}
		for i, c := range conns {
			if c.notBefore > 0 && c.notBefore > feed.Now() {
				w.lane.hold(c)
				continue
			}
			if c.sink != nil {
				w.turn(c)
			} else if w.rest = conns[i+1:]; !w.watched(c) {
				return
			}
		}
	}
}

// turn runs what is ready on a connection and flushes it.
func (w *worker) turn(c *Conn) {
	for last := c.waiting(); last != nil; {
		t := c.take()
		c.ran(t, t.run())
		if t == last {
			break
		}
	}
	w.begin(c)
	if !c.sink.Flush() {
		w.lane.pool.blocked.Add(1)
		go c.alone()
		return
	}
	c.release()
}

// begin sets when the next turn may begin.
func (w *worker) begin(c *Conn) {
	if interval := w.lane.pool.interval; interval > 0 {
		c.notBefore = feed.Now() + interval
	}
}

// watched runs what is ready on a connection whose streams write by themselves. It
// reports false where one of them held the worker, which another has replaced then.
func (w *worker) watched(c *Conn) bool {
	w.served = c
	w.seen.Store(w.runs.Load())
	if w.watch == nil {
		w.watch = time.AfterFunc(stuck, w.look)
	} else {
		w.watch.Reset(stuck)
	}
	for last := c.waiting(); last != nil; {
		t := c.take()
		w.runs.Add(1)
		w.phase.Store(inStream)
		more := t.run()
		if !w.phase.CompareAndSwap(inStream, between) {
			c.ran(t, more)
			return false
		}
		c.ran(t, more)
		if t == last {
			break
		}
	}
	w.watch.Stop()
	w.begin(c)
	c.release()
	return true
}

// look runs at every stuck while a turn is watched.
func (w *worker) look() {
	runs := w.runs.Load()
	if w.phase.Load() != inStream {
		return // the turn is over, or about to be; a later one resets the watch
	}
	if w.seen.Swap(runs) != runs {
		w.watch.Reset(stuck)
		return
	}
	if !w.phase.CompareAndSwap(inStream, replaced) {
		return
	}
	// From here the held goroutine has nothing but its stream.
	l := w.lane
	l.pool.replaced.Add(1)
	l.mu.Lock()
	l.queue = append(append(make([]*Conn, 0, len(w.rest)+len(l.queue)), w.rest...), l.queue...)
	l.mu.Unlock()
	w.served.release()
	newWorker(l).run()
}
