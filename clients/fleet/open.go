package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
)

// connection is dialled by the first of its streams.
type connection struct {
	mu     sync.Mutex
	conn   clients.Conn
	err    error
	dialed bool
}

// ErrInterrupted is returned by Run when it was interrupted before its window
// began, so that there is nothing to show.
var ErrInterrupted = errors.New("interrupted before the window")

// sink hands what the clients deliver to the recorder.
type sink struct{ f *Fleet }

func (s sink) Deliver(d *clients.Delivery) {
	s.f.rec.Message(d.Stream, d.ReceivedNS, d.DecodedNS, &d.Message)
}

func (s sink) Ended(stream int, err error) { s.f.rec.Ended(stream, err) }

// openAll opens every stream, or returns the first error, after which nothing is
// being opened any more.
func (f *Fleet) openAll(ctx context.Context, interrupt <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-interrupt:
			cancel(ErrInterrupted)
		case <-ctx.Done():
		}
	})
	defer func() { cancel(nil); watch.Wait() }()
	err := f.openEach(ctx)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx) // what was given up says less
	}
	return err
}

func (f *Fleet) openEach(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	next := make(chan int)
	g.Go(func() error {
		defer close(next)
		began := feed.Now()
		for i := range f.streams {
			if f.opts.Ramp > 0 {
				if err := sleepUntil(ctx, began+int64(float64(i)/f.opts.Ramp*float64(time.Second))); err != nil {
					return err
				}
			}
			select {
			case next <- i:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	})
	for range min(openers, f.streams) {
		g.Go(func() error {
			for i := range next {
				if err := f.open(ctx, i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

func (f *Fleet) open(ctx context.Context, stream int) error {
	ctx, cancel := context.WithTimeout(ctx, f.opts.OpenTimeout)
	defer cancel()
	req := feed.Subscribe{Policy: f.opts.Policy}
	for _, i := range f.place.Indices(stream) {
		req.Symbols = append(req.Symbols, f.symbols[i])
	}
	f.rec.Opening(stream, req.Symbols...)
	conn, err := f.connection(ctx, f.place.Connection(stream))
	if err == nil {
		err = conn.Open(ctx, stream, req)
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("stream %d did not open within %s", stream, f.opts.OpenTimeout)
		}
		return err
	}
	f.opened.Add(1)
	return nil
}

func (f *Fleet) connection(ctx context.Context, i int) (clients.Conn, error) {
	c := &f.conns[i]
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dialed {
		c.dialed = true
		c.conn, c.err = f.dialer.Dial(ctx, i, sink{f})
	}
	return c.conn, c.err
}

// closeAll closes what is open; a second call finds nothing.
func (f *Fleet) closeAll() {
	var g errgroup.Group
	g.SetLimit(openers)
	for i := range f.conns {
		c := &f.conns[i]
		c.mu.Lock()
		conn := c.conn
		c.conn = nil
		c.mu.Unlock()
		if conn != nil {
			g.Go(func() error {
				_ = conn.Close() // the run is over; there is nobody to tell
				return nil
			})
		}
	}
	_ = g.Wait()
}

// sleepUntil waits for a time that need not be met to the millisecond.
func sleepUntil(ctx context.Context, deadline int64) error {
	wait := time.Duration(deadline - feed.Now())
	if wait <= 0 {
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
