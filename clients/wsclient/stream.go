package wsclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

const (
	// closeGrace is how long the closing handshake may take. The library's own
	// patience is 5 s for each half of it.
	closeGrace = time.Second
	// keepBytes is the largest buffer that is kept between messages.
	keepBytes = 64 << 10
)

// connection is a WebSocket and its one stream. The goroutine of the stream reads.
type connection struct {
	dialer *Dialer
	ws     *websocket.Conn
	socket net.Conn // under ws, for its deadlines alone
	sink   clients.Sink

	closing atomic.Bool // Close was called
	mu      sync.Mutex
	opened  bool
	stream  sync.WaitGroup

	in bytes.Buffer // of the goroutine of the stream
}

var (
	errOpened = errors.New("the connection has had its stream; WebSocket has one a connection")
	errClosed = errors.New("the connection is closed")
)

// Open subscribes. A second call is an error; after a first that failed, a
// refusal included, the connection is of no more use.
func (c *connection) Open(ctx context.Context, stream int, req feed.Subscribe) error {
	if err := c.open(ctx, stream, &req); err != nil {
		return fmt.Errorf("ws subscribe %s: %w", c.dialer.target, err)
	}
	return nil
}

func (c *connection) open(ctx context.Context, stream int, req *feed.Subscribe) error {
	ask, err := wire.AppendRequest(nil, c.dialer.opts.Encoding, &feed.Request{Subscribe: req})
	if err != nil {
		return err
	}
	opened := make(chan error, 1)
	if err := c.start(stream, opened); err != nil {
		return err
	}
	// A write fails on a connection that ends, and then the stream knows why: its
	// last messages may still wait to be read.
	_ = c.ws.Write(ctx, c.dialer.frames, ask)
	select {
	case err = <-opened:
	case <-ctx.Done():
		_ = c.ws.CloseNow()
		if err = <-opened; err != nil {
			err = ctx.Err()
		}
	}
	return err
}

// start starts the goroutine of the stream.
func (c *connection) start(stream int, opened chan<- error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closing.Load():
		return errClosed
	case c.opened:
		return errOpened
	}
	c.opened = true
	c.stream.Go(func() {
		clients.Pump(stream, c.sink, c.receive, opened, c.ended)
		_ = c.ws.CloseNow() // a stream that cannot be read has ended for the exchange as well
	})
	return nil
}

// receive reads one message. Reading has no context, which would cost each
// message several AfterFuncs: CloseNow and the socket's deadline free it.
func (c *connection) receive(d *clients.Delivery) error {
	frames, r, err := c.ws.Reader(context.Background())
	d.ReceivedNS = feed.Now()
	if err != nil {
		return err
	}
	if c.in.Cap() > keepBytes {
		c.in = bytes.Buffer{}
	}
	c.in.Reset()
	if _, err := c.in.ReadFrom(r); err != nil {
		return err
	}
	if frames != c.dialer.frames {
		return fmt.Errorf("a frame of %v, want %v under %s", frames, c.dialer.frames, c.dialer.subprotocol)
	}
	m := wire.StreamMessage{Feed: d.Message}
	if err := wire.UnmarshalStreamMessage(c.dialer.opts.Encoding, c.in.Bytes(), &m); err != nil {
		return err
	}
	d.Message, d.Execution, d.DecodedNS = m.Feed, m.Execution, feed.Now()
	return nil
}

// ended puts the end of the stream into the caller's terms: nil after Close.
func (c *connection) ended(err error) error {
	if c.closing.Load() {
		return nil
	}
	var end websocket.CloseError
	if errors.As(err, &end) {
		return fmt.Errorf("the exchange closed the stream with %d %s", end.Code, end.Reason)
	}
	return fmt.Errorf("ws stream of %s broke: %w", c.dialer.target, err)
}

// Close closes the connection with a closing handshake, for which the exchange
// has a second. Further calls only wait.
func (c *connection) Close() error {
	c.mu.Lock()
	c.closing.Store(true)
	c.mu.Unlock()
	_ = c.socket.SetDeadline(time.Now().Add(closeGrace)) // fails where the socket is closed
	_ = c.ws.Close(websocket.StatusNormalClosure, "")    // without an answer it is closed all the same
	c.stream.Wait()
	return nil
}
