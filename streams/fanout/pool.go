// Package fanout writes many streams from a few workers. A stream that has
// something to write is scheduled on its connection, and a worker runs all that is
// ready on a connection in one turn, which ends in one flush. A connection that
// takes no more leaves the workers until it takes bytes again; what became ready on
// it meanwhile leaves together. So nothing of a slow connection keeps another
// waiting, and an idle connection costs no goroutine here.
package fanout

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
)

// Options are the choices of NewPool; the zero value works.
type Options struct {
	Workers       int           // 0 takes GOMAXPROCS
	FlushInterval time.Duration // the least time from one turn of a connection to its next; 0 waits for nothing
}

// Stats counts what a pool has done since it was made.
type Stats struct {
	Blocked  int64 `json:"blocked"`  // turns that left a connection which took no more
	Replaced int64 `json:"replaced"` // workers replaced since a stream held them
}

// Pool is a fixed number of workers. Its goroutines start when there is something
// to write and end soon after there is not, so it needs no end. All methods may be
// called from any goroutine.
type Pool struct {
	lanes    []*lane
	interval int64
	next     atomic.Uint64
	blocked  atomic.Int64
	replaced atomic.Int64
}

// NewPool returns a pool. Options out of range are an error.
func NewPool(opts Options) (*Pool, error) {
	if opts.Workers < 0 {
		return nil, fmt.Errorf("fan-out: %d workers, want 0 for one a processor, or more", opts.Workers)
	}
	if opts.FlushInterval < 0 {
		return nil, fmt.Errorf("fan-out: a flush interval of %s, want 0 or more", opts.FlushInterval)
	}
	if opts.Workers == 0 {
		opts.Workers = runtime.GOMAXPROCS(0)
	}
	p := &Pool{interval: int64(opts.FlushInterval)}
	for range opts.Workers {
		p.lanes = append(p.lanes, newLane(p))
	}
	return p, nil
}

// Stats returns the counters.
func (p *Pool) Stats() Stats {
	return Stats{Blocked: p.blocked.Load(), Replaced: p.replaced.Load()}
}

// Sink is what the streams of a connection write into.
type Sink interface {
	// Flush writes what the streams of a turn have given, without waiting. It reports
	// false where the connection takes no more now.
	Flush() bool
	// Wait returns when the connection has taken all, or is over. It may block.
	Wait()
}

// NewConn returns a connection of the pool. Where sink is nil its streams write by
// themselves, and may block: a worker that one of them holds for a millisecond or
// two is replaced, and that stream goes on by itself.
func (p *Pool) NewConn(sink Sink) *Conn {
	i := p.next.Add(1) % uint64(len(p.lanes))
	return &Conn{lane: p.lanes[i], sink: sink}
}
