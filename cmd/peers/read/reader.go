package read

import (
	"context"
	"errors"
	"fmt"
	"net"

	"time"

	"golang.org/x/sync/errgroup"
)

// Options say what is read.
type Options struct {
	Protocol string // one of Protocols
	Addr     string
	Placement
}

// Reader reads many streams in one loop. Open, Window and Report may be called
// from any goroutine while Run runs.
type Reader struct {
	opts  Options
	loop  *loop
	start protocol

	// Of the loop's goroutine:
	account *account
	open    int // streams that are subscribed
	over    int // of them, those that the other side ended
	err     error

	changed chan struct{}
}

// protocol makes the handler of a connection. Its handler calls c.opened once for
// each stream, when the other side has said that it is subscribed.
type protocol func(c *connection) wireHandler

// wireHandler is a handler that begins once its connection stands.
type wireHandler interface {
	begin()
	feed(b []byte, atNS int64) error
}

// connection is what is common to the connections of all protocols.
type connection struct {
	reader  *Reader
	socket  socket
	streams []int // by their number
	handler wireHandler
	waiting int // streams that are not subscribed yet
	done    func()
}

// NewReader returns a reader of what opts say.
func NewReader(opts Options) (*Reader, error) {
	if err := opts.Check(); err != nil {
		return nil, err
	}
	start, err := protocolOf(opts.Protocol)
	if err != nil {
		return nil, err
	}
	l, err := newLoop()
	if err != nil {
		return nil, err
	}
	return &Reader{opts: opts, loop: l, start: start, account: newAccount(opts.Streams), changed: make(chan struct{}, 1)}, nil
}

// Run reads until ctx is done.
func (r *Reader) Run(ctx context.Context) error { return r.loop.run(ctx) }

// opening is how many connections may be on their way at once, and openingPatience
// how long one may take.
const (
	opening         = 64
	openingPatience = 30 * time.Second
)

// Open opens all streams and returns when the other side has subscribed each.
func (r *Reader) Open(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, openingPatience, fmt.Errorf("the streams did not open within %s", openingPatience))
	defer cancel()
	places := make(chan struct{}, opening)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for i := range r.opts.Connections {
			select {
			case places <- struct{}{}:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if err := r.connect(ctx, i, func() { <-places }); err != nil {
				return err
			}
		}
		return nil
	})
	g.Go(func() error {
		for {
			select {
			case <-r.changed:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			open, err := 0, error(nil)
			r.in(func() { open, err = r.open, r.err })
			if err != nil || open == r.opts.Streams {
				return err
			}
		}
	})
	return g.Wait()
}

func (r *Reader) connect(ctx context.Context, i int, done func()) error {
	var dialer net.Dialer
	tcp, err := dialer.DialContext(ctx, "tcp", r.opts.Addr)
	if err != nil {
		return fmt.Errorf("connection %d: %w", i, err)
	}
	c := &connection{reader: r, streams: r.opts.On(i), done: done}
	c.waiting = len(c.streams)
	return r.loop.add(tcp, c, func(s socket) {
		c.socket = s
		c.handler = r.start(c)
		c.handler.begin()
	})
}

// in has the loop call f, and waits for it.
func (r *Reader) in(f func()) {
	done := make(chan struct{})
	r.loop.do(func() { f(); close(done) })
	<-done
}

// Window sets which ticks count: those due from fromNS to before toNS.
func (r *Reader) Window(fromNS, toNS int64) {
	r.in(func() { r.account.fromNS, r.account.toNS = fromNS, toNS })
}

// Report returns what has been counted so far, and the first error of a
// connection.
func (r *Reader) Report() (out Report, err error) {
	r.in(func() {
		out = r.account.report()
		out.Streams, out.Ended, out.BytesIn, out.BytesOut = r.open, r.over, r.loop.in, r.loop.out
		err = r.err
	})
	return out, err
}

func (r *Reader) tell() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// symbol returns the name of a stream's symbol.
func (c *connection) symbol(stream int) string {
	return c.reader.opts.Name(c.reader.opts.Symbol(stream))
}

// opened says that one more stream of the connection is subscribed.
func (c *connection) opened() {
	c.reader.open++
	if c.waiting--; c.waiting == 0 {
		c.done()
	}
	if c.reader.open == c.reader.opts.Streams {
		c.reader.tell()
	}
}

var errProblem = errors.New("the exchange told of a problem")

// message counts a MarketDataMessage of a stream.
func (c *connection) message(stream int, b []byte, atNS int64) error {
	event, err := c.reader.account.message(stream, b, atNS)
	switch {
	case err != nil:
		return err
	case event == fieldSubscribed:
		c.opened()
	case event == fieldProblem:
		return fmt.Errorf("%w: %q", errProblem, b)
	}
	return nil
}

func (c *connection) data(b []byte, atNS int64) {
	if err := c.handler.feed(b, atNS); err != nil {
		c.fail(err)
		c.socket.close()
	}
}

func (c *connection) ended(err error) {
	if errors.Is(err, errStopped) {
		return
	}
	c.reader.over += len(c.streams) - c.waiting
	if c.waiting > 0 {
		c.fail(err)
	}
}

func (c *connection) fail(err error) {
	if c.reader.err == nil {
		c.reader.err = fmt.Errorf("%s, stream %d: %w", c.reader.opts.Protocol, c.streams[0], err)
		c.reader.tell()
	}
}
