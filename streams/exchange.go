package streams

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/streams/fanout"
)

// Exchange is what all servers of one process serve from: the hub, the options,
// and the sessions that are open. Its methods may be called from any goroutine.
type Exchange struct {
	hub     *feed.Hub
	opts    Options
	bootID  string
	closing chan struct{}
	pool    *fanout.Pool
	close   sync.Once

	mu       sync.Mutex
	sessions map[*Session]struct{}
	ended    chan struct{} // closed when closing and no session is left
	stats    exchangeStats
}

type exchangeStats struct{ opened, refused, timedOut, problems, reportsLost atomic.Int64 }

// ExchangeStats counts sessions and what was refused since the start.
type ExchangeStats struct {
	Open     int64 `json:"open"`      // sessions now
	Opened   int64 `json:"opened"`    // sessions ever
	Refused  int64 `json:"refused"`   // sessions refused for the limit
	TimedOut int64 `json:"timed_out"` // sessions ended since a write did not progress
	Problems int64 `json:"problems"`  // requests answered with a problem, on a stream or in its place

	Fanout fanout.Stats `json:"fanout"`

	ReportsLost int64 `json:"reports_lost"` // executions that left an account's ring before a stream took them
}

// NewExchange returns an exchange over hub. Options out of range are an error.
func NewExchange(hub *feed.Hub, opts Options) (*Exchange, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("new exchange: %w", err)
	}
	pool, err := fanout.NewPool(fanout.Options{Workers: opts.Workers, FlushInterval: opts.FlushInterval})
	if err != nil {
		return nil, fmt.Errorf("new exchange: %w", err)
	}
	return &Exchange{
		hub: hub, opts: opts, pool: pool, bootID: feed.BootID(),
		closing: make(chan struct{}), ended: make(chan struct{}),
		sessions: make(map[*Session]struct{}),
	}, nil
}

// Hub returns the hub that the exchange serves.
func (e *Exchange) Hub() *feed.Hub { return e.hub }

// Options returns the options with their defaults filled in.
func (e *Exchange) Options() Options { return e.opts }

// Closing is closed when Shutdown has begun.
func (e *Exchange) Closing() <-chan struct{} { return e.closing }

// CountProblem counts a request that a server answered with a problem without a
// session to do so.
func (e *Exchange) CountProblem() { e.stats.problems.Add(1) }

// Stats returns the counters.
func (e *Exchange) Stats() ExchangeStats {
	e.mu.Lock()
	open := int64(len(e.sessions))
	e.mu.Unlock()
	return ExchangeStats{
		Open: open, Opened: e.stats.opened.Load(), Refused: e.stats.refused.Load(),
		TimedOut: e.stats.timedOut.Load(), Problems: e.stats.problems.Load(), ReportsLost: e.stats.reportsLost.Load(),
		Fanout: e.pool.Stats(),
	}
}

func (e *Exchange) hello() *feed.Hello {
	return &feed.Hello{
		Version: e.opts.Version, Epoch: e.hub.Epoch(), BootID: e.bootID,
		WallOffsetNS: feed.WallOffset(), HeartbeatInterval: e.opts.Heartbeat, Limits: e.opts.Limits,
	}
}

// Open starts a session whose ticks come in the hub's encoding of that index. It
// ends with ctx, and must be closed. At the limit of streams, or once the
// exchange is closing, it is refused with a *feed.Problem.
func (e *Exchange) Open(ctx context.Context, encoding int) (*Session, error) {
	s := &Session{exchange: e, encoding: encoding, replies: make(chan reply, 16), watched: make(chan struct{}, 1)}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	sub, err := e.hub.NewSubscription(feed.SubscriptionOptions{
		Encoding: encoding, Queue: e.opts.Limits.QueueTicks, OnEnd: s.doom, OnReady: s.wake,
	})
	if err != nil {
		s.cancel(err)
		return nil, err
	}
	s.sub, s.queue = sub, sub
	if e.opts.Faults != nil {
		s.queue = e.opts.Faults(sub, e.closing)
	}
	if err := e.add(s); err != nil {
		e.stats.refused.Add(1)
		sub.Close()
		s.cancel(err)
		return nil, err
	}
	e.stats.opened.Add(1)
	return s, nil
}

func (e *Exchange) add(s *Session) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.closing:
		return shuttingDown()
	default:
	}
	if len(e.sessions) >= e.opts.Limits.MaxStreams {
		return &feed.Problem{Code: feed.CodeTooManyStreams, Fatal: true,
			Message: fmt.Sprintf("the exchange has its limit of %d streams; close some, or start it with a larger --max-streams", e.opts.Limits.MaxStreams)}
	}
	e.sessions[s] = struct{}{}
	return nil
}

func (e *Exchange) remove(s *Session) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.sessions[s]; !ok {
		return
	}
	delete(e.sessions, s)
	select {
	case <-e.closing:
		if len(e.sessions) == 0 {
			close(e.ended)
		}
	default:
	}
}

// Run ends sessions whose writes do not progress, and sees to the heartbeats of those
// that the workers write. It returns nil when ctx is done.
func (e *Exchange) Run(ctx context.Context) error {
	ticker := time.NewTicker(max(min(500*time.Millisecond, e.opts.WriteTimeout/2, e.opts.Heartbeat/4), time.Millisecond))
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		now := feed.Now()
		e.mu.Lock()
		for s := range e.sessions {
			s.sweep(now)
		}
		e.mu.Unlock()
	}
}

// Shutdown tells every session that the exchange ends, waits until all have
// closed, and cuts those that have not when ctx is done. No session opens after.
func (e *Exchange) Shutdown(ctx context.Context) {
	e.close.Do(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		close(e.closing)
		for s := range e.sessions {
			s.wake()
		}
		if len(e.sessions) == 0 {
			close(e.ended)
		}
	})
	select {
	case <-e.ended:
	case <-ctx.Done():
		e.mu.Lock()
		for s := range e.sessions {
			s.cancel(shuttingDown())
		}
		e.mu.Unlock()
	}
}

func shuttingDown() *feed.Problem {
	return &feed.Problem{Code: feed.CodeShuttingDown, Fatal: true, Message: "the exchange is shutting down; connect again later"}
}
