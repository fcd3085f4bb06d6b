package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// LateGrace is how long after its stop a schedule still publishes what is late;
// what has not been published by then is counted as unpublished.
const LateGrace = 5 * time.Second

// ErrStarted is returned by Start when the publisher has a schedule already.
var ErrStarted = errors.New("the source runs already; a held exchange takes one run")

// Publisher publishes a source's schedule into a hub, each update at its due
// time or as soon after as it can. A due time never moves: lateness is the
// publisher's, and shows.
type Publisher struct {
	hub    *Hub
	source Source
	opts   PublisherOptions

	mu      sync.Mutex
	started chan struct{}
	startNS int64
	stopNS  int64
}

// PublisherOptions are the choices of NewPublisher; the zero value works.
type PublisherOptions struct {
	Log *ScheduleLog // records each update of the schedule
	// Published, where set, is told each update once the hub has it, opening ones
	// too, by the goroutine that publishes and under no lock.
	Published func(u *Update)
}

// NewPublisher returns a publisher that waits for Start, and publishes the
// source's opening ticks at once.
func NewPublisher(hub *Hub, source Source, opts PublisherOptions) *Publisher {
	if opts.Published == nil {
		opts.Published = func(*Update) {}
	}
	for _, u := range source.Opening() {
		hub.Publish(&u, Now())
		opts.Published(&u)
	}
	return &Publisher{hub: hub, source: source, opts: opts, started: make(chan struct{})}
}

// Start sets when the schedule starts and stops, CLOCK_MONOTONIC; stopNS 0 never
// stops. It may be called once, from any goroutine.
func (p *Publisher) Start(startNS, stopNS int64) error {
	if stopNS != 0 && stopNS <= startNS {
		return fmt.Errorf("start source: stop %d is not after start %d", stopNS, startNS)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.started:
		return ErrStarted
	default:
	}
	p.startNS, p.stopNS = startNS, stopNS
	close(p.started)
	return nil
}

// Started reports whether Start has set the schedule. Any goroutine may call it.
func (p *Publisher) Started() bool {
	select {
	case <-p.started:
		return true
	default:
		return false
	}
}

// Run waits for Start, publishes, and returns nil at the end of the schedule,
// ctx's error when that is done, or the source's error. It keeps one OS thread
// to itself.
func (p *Publisher) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.started:
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var until int64
	defer func() { p.opts.Log.finish(until) }()
	var u Update
	for {
		u = Update{}
		if err := p.source.Next(&u); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("source: %w", err)
		}
		due := p.startNS + u.AtNS
		if p.stopNS != 0 && due >= p.stopNS {
			until = p.stopNS
			return nil
		}
		if err := SleepUntil(ctx, due); err != nil {
			return err
		}
		if p.stopNS != 0 && Now() > p.stopNS+int64(LateGrace) {
			p.opts.Log.unpublished(u.Symbol, due, p.hub.lastSeq(u.Symbol))
			continue
		}
		seq, _, published := p.hub.Publish(&u, due)
		p.opts.Log.published(u.Symbol, due, published, seq)
		p.opts.Published(&u)
	}
}
