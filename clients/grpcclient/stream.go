package grpcclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// connection is a gRPC connection, whose streams have a goroutine each. After the
// exchange has gone, a stream that is opened on it connects anew.
type connection struct {
	cc          *grpc.ClientConn
	target      string
	sink        clients.Sink
	closeSocket func() error

	// Of all streams; cancelled by Close.
	ctx    context.Context
	cancel context.CancelFunc

	mu      sync.Mutex
	closed  bool
	streams sync.WaitGroup
}

var (
	subscribeDesc = &pb.MarketData_ServiceDesc.Streams[0]
	errClosed     = errors.New("the connection is closed")
)

// Open opens a stream on the connection.
func (c *connection) Open(ctx context.Context, stream int, req feed.Subscribe) error {
	if err := c.open(ctx, stream, &req); err != nil {
		return fmt.Errorf("gRPC subscribe %s: %w", c.target, err)
	}
	return nil
}

func (c *connection) open(ctx context.Context, stream int, req *feed.Subscribe) error {
	sctx, cancel := context.WithCancel(c.ctx)
	opened := make(chan error, 1)
	if !c.start(func() {
		defer cancel()
		c.run(sctx, stream, req, opened)
	}) {
		cancel()
		return errClosed
	}
	select {
	case err := <-opened:
		return err
	case <-ctx.Done():
		cancel()
		if <-opened == nil {
			return nil // it opened at the last moment; the sink hears of its end
		}
		return ctx.Err()
	}
}

// start runs a stream's goroutine, unless the connection is closed.
func (c *connection) start(run func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.streams.Go(run)
	}
	return !c.closed
}

// run is a stream from beginning to end. Opening is part of it, since grpc-go
// waits in NewStream for a connection and for a place among the streams that the
// exchange allows on it.
func (c *connection) run(ctx context.Context, stream int, req *feed.Subscribe, opened chan<- error) {
	s, err := c.cc.NewStream(ctx, subscribeDesc, pb.MarketData_Subscribe_FullMethodName)
	if err == nil {
		err = s.SendMsg(&feed.Request{Subscribe: req})
	}
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF RecvMsg has the status
		if err = c.ended(err); err == nil {
			err = errClosed
		}
		opened <- err
		return
	}
	var received wire.Received
	clients.Pump(stream, c.sink, func(d *clients.Delivery) error {
		received.Message = d.Message
		if err := s.RecvMsg(&received); err != nil {
			return err
		}
		d.ReceivedNS, d.DecodedNS, d.Message, d.Execution = received.AtNS, feed.Now(), received.Message, received.Execution
		return nil
	}, opened, c.ended)
}

// ended puts the end of a stream into the caller's terms: nil after Close.
func (c *connection) ended(err error) error {
	if c.ctx.Err() != nil {
		return nil
	}
	return explain(err)
}

// Close ends all streams and the connection. Further calls only wait.
func (c *connection) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.cancel()
	c.streams.Wait()
	return c.closeSocket()
}
