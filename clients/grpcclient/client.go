// Package grpcclient subscribes and executes orders over gRPC with grpc-go, mirror
// of grpcserver.
package grpcclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding/gzip"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Stamp says where ReceivedNS is taken.
const Stamp = "entry of the codec's Unmarshal (grpc-go)"

// Options are the choices of New; the zero value works.
type Options struct {
	Encoding wire.Encoding
	TLS      *tls.Config // nil: without TLS
	Compress bool        // gzip, both ways
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Dialer opens gRPC connections to one target; any number of streams share one.
// Any goroutine may call it.
type Dialer struct {
	target string
	opts   Options
}

// New returns a dialer for target, a host:port.
func New(target string, opts Options) (*Dialer, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("gRPC target %q: want host:port: %w", target, err)
	}
	if opts.Encoding != wire.Protobuf && opts.Encoding != wire.JSON {
		return nil, fmt.Errorf("gRPC target %q: no such encoding: %s", target, opts.Encoding)
	}
	if opts.DialContext == nil {
		opts.DialContext = func(ctx context.Context, conn int) (net.Conn, error) {
			return clients.TCPDialer(conn, target).DialContext(ctx, "tcp", target)
		}
	}
	return &Dialer{target: target, opts: opts}, nil
}

// Dial opens a connection and waits until the target has answered as an HTTP/2
// server. One that answers otherwise wraps clients.ErrNoExchange.
func (d *Dialer) Dial(ctx context.Context, conn int, sink clients.Sink) (clients.Conn, error) {
	cc, err := d.connect(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("gRPC dial %s: %w", d.target, err)
	}
	c := &connection{cc: cc, target: d.target, sink: sink, closeSocket: sync.OnceValue(cc.Close)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

func (d *Dialer) connect(ctx context.Context, conn int) (*grpc.ClientConn, error) {
	call := []grpc.CallOption{grpc.ForceCodecV2(wire.Codec(d.opts.Encoding)), grpc.MaxCallRecvMsgSize(maxMessageBytes)}
	if d.opts.Compress {
		call = append(call, grpc.UseCompressor(gzip.Name))
	}
	return connect(ctx, d.target, d.opts.TLS, func(ctx context.Context) (net.Conn, error) { return d.opts.DialContext(ctx, conn) },
		grpc.WithDefaultCallOptions(call...))
}
