// Package grpcclient subscribes over gRPC with grpc-go, mirror of grpcserver.
package grpcclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Stamp says where ReceivedNS is taken.
const Stamp = "entry of the codec's Unmarshal (grpc-go)"

// maxMessageBytes bounds one message of the exchange.
const maxMessageBytes = 16 << 20

// Options are the choices of New; the zero value works.
type Options struct {
	Encoding wire.Encoding
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Dialer opens gRPC connections to one target; any number of streams share one.
type Dialer struct {
	target string
	opts   Options
}

// New returns a dialer for target, a host:port.
func New(target string, opts Options) (*Dialer, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("gRPC target %q: want host:port: %w", target, err)
	}
	return &Dialer{target: target, opts: opts}, nil
}

// Dial opens a connection and waits until the server has answered on it.
func (d *Dialer) Dial(ctx context.Context, conn int, sink clients.Sink) (clients.Conn, error) {
	dial := d.opts.DialContext
	if dial == nil {
		dial = func(ctx context.Context, conn int) (net.Conn, error) {
			return clients.TCPDialer(conn, d.target).DialContext(ctx, "tcp", d.target)
		}
	}
	cc, err := grpc.NewClient("passthrough:///"+d.target,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return dial(ctx, conn) }),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(wire.Codec(d.opts.Encoding)), grpc.MaxCallRecvMsgSize(maxMessageBytes)),
		grpc.WithDisableServiceConfig(),
		grpc.WithDisableRetry(),
		grpc.WithNoProxy(),
		grpc.WithIdleTimeout(0),
	)
	if err != nil {
		return nil, fmt.Errorf("gRPC dial %s: %w", d.target, err)
	}
	if err := connect(ctx, cc); err != nil {
		_ = cc.Close()
		return nil, fmt.Errorf("gRPC dial %s: %w", d.target, err)
	}
	c := &connection{cc: cc, target: d.target, sink: sink}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

// connect waits for the first connection attempt. After a failure a call that
// does not wait tells the reason, which the state alone does not.
func connect(ctx context.Context, cc *grpc.ClientConn) error {
	cc.Connect()
	for {
		switch state := cc.GetState(); state {
		case connectivity.Ready:
			return nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			err := cc.Invoke(ctx, pb.MarketData_ListSymbols_FullMethodName, &pb.ListSymbolsRequest{}, &pb.SymbolList{})
			if err == nil {
				return nil
			}
			return errors.New(status.Convert(err).Message())
		default:
			if !cc.WaitForStateChange(ctx, state) {
				return ctx.Err()
			}
		}
	}
}

type connection struct {
	cc     *grpc.ClientConn
	target string
	sink   clients.Sink
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup
}

var subscribeDesc = &pb.MarketData_ServiceDesc.Streams[0]

// Open opens a stream on the connection.
func (c *connection) Open(ctx context.Context, stream int, req feed.Subscribe) error {
	sctx, cancel := context.WithCancel(c.ctx)
	s, err := c.cc.NewStream(sctx, subscribeDesc, pb.MarketData_Subscribe_FullMethodName)
	if err == nil {
		err = s.SendMsg(&feed.Request{Subscribe: &req})
	}
	if err != nil && !errors.Is(err, io.EOF) { // after io.EOF RecvMsg has the status
		cancel()
		return fmt.Errorf("gRPC subscribe %s: %w", c.target, c.ended(err))
	}
	opened := make(chan error, 1)
	var received wire.Received
	c.wg.Go(func() {
		defer cancel()
		clients.Pump(stream, c.sink, func(d *clients.Delivery) error {
			received.Message = d.Message
			if err := s.RecvMsg(&received); err != nil {
				return err
			}
			d.ReceivedNS, d.DecodedNS, d.Message = received.AtNS, feed.Now(), received.Message
			return nil
		}, opened, c.ended)
	})
	select {
	case err = <-opened:
	case <-ctx.Done():
		cancel()
		if <-opened != nil {
			err = ctx.Err()
		}
	}
	if err != nil {
		return fmt.Errorf("gRPC subscribe %s: %w", c.target, err)
	}
	return nil
}

// ended puts the end of a stream into the caller's terms.
func (c *connection) ended(err error) error {
	if c.ctx.Err() != nil {
		return nil
	}
	s, ok := status.FromError(err)
	switch {
	case !ok:
		return err
	case s.Code() == codes.Unimplemented:
		return fmt.Errorf("%w: %s", clients.ErrNoExchange, s.Message())
	}
	return fmt.Errorf("%s: %s", s.Code(), s.Message())
}

// Close ends all streams and the connection.
func (c *connection) Close() error {
	c.cancel()
	c.wg.Wait()
	return c.cc.Close()
}
