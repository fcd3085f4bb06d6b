package grpcclient

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// OrderStamp says where an Ack's ReceivedNS is taken: for what is refused by a
// status when the call returned.
const OrderStamp = Stamp

// OrderOptions are the choices of NewOrders; the zero value works.
type OrderOptions struct {
	Encoding     wire.Encoding
	Stream       bool        // StreamOrders, a stream for each entry; else the unary ExecuteOrder
	PayloadBytes int         // orders are padded to about it
	TLS          *tls.Config // nil: without TLS
	Compress     bool        // gzip, both ways
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Orders opens gRPC connections that take orders; any number of entries share one.
// Any goroutine may call it.
type Orders struct {
	dialer *Dialer
	opts   OrderOptions
}

// NewOrders returns a dialer for target, a host:port.
func NewOrders(target string, opts OrderOptions) (*Orders, error) {
	d, err := New(target, Options{Encoding: opts.Encoding, TLS: opts.TLS, Compress: opts.Compress, DialContext: opts.DialContext})
	if err != nil {
		return nil, err
	}
	return &Orders{dialer: d, opts: opts}, nil
}

// DialOrders opens a connection as Dial does.
func (o *Orders) DialOrders(ctx context.Context, conn int) (clients.OrderConn, error) {
	cc, err := o.dialer.connect(ctx, conn)
	if err != nil {
		return nil, fmt.Errorf("gRPC dial %s: %w", o.dialer.target, err)
	}
	c := &orderConn{orders: o, cc: cc, closeSocket: sync.OnceValue(cc.Close)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c, nil
}

type orderConn struct {
	orders      *Orders
	cc          *grpc.ClientConn
	ctx         context.Context // of the streams
	cancel      context.CancelFunc
	closeSocket func() error
}

// OpenOrders opens a stream of orders, or returns a handle for unary calls.
func (c *orderConn) OpenOrders(ctx context.Context) (clients.OrderEntry, error) {
	if c.ctx.Err() != nil {
		return nil, fmt.Errorf("gRPC orders %s: %w", c.orders.dialer.target, errClosed)
	}
	if !c.orders.opts.Stream {
		return &unaryEntry{conn: c}, nil
	}
	e := &streamEntry{conn: c}
	var sctx context.Context
	sctx, e.cancel = context.WithCancel(c.ctx)
	stop := context.AfterFunc(ctx, e.cancel)
	var err error
	if e.stream, err = c.cc.NewStream(sctx, streamOrdersDesc, pb.OrderEntry_StreamOrders_FullMethodName); err == nil {
		// The exchange sends its headers once it has taken the stream. Where none came
		// grpc-go gives no error, and the status has it.
		if headers, headersErr := e.stream.Header(); headersErr != nil || headers == nil {
			err = e.stream.RecvMsg(&e.received)
		}
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		e.cancel()
		return nil, fmt.Errorf("gRPC orders %s: %w", c.orders.dialer.target, c.failed(ctx, err))
	}
	return e, nil
}

// failed puts the error of a call or a stream under ctx into the caller's terms.
func (c *orderConn) failed(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case c.ctx.Err() != nil:
		return errClosed
	}
	return explain(err)
}

// Close ends the streams and the connection.
func (c *orderConn) Close() error {
	c.cancel()
	return c.closeSocket()
}

var streamOrdersDesc = &grpc.StreamDesc{StreamName: "StreamOrders", ServerStreams: true, ClientStreams: true}

// padded makes an entry's orders as large as was asked for.
type padded struct {
	order wire.PaddedOrder
	known bool
}

func (p *padded) of(opts *OrderOptions, req *order.Request) *wire.PaddedOrder {
	if !p.known {
		p.known = true
		p.order.Padding = wire.OrderPadding(opts.Encoding, req, opts.PayloadBytes)
		p.order.Stream = opts.Stream
	}
	p.order.Request = *req
	return &p.order
}

type unaryEntry struct {
	conn     *orderConn
	padded   padded
	received wire.ReceivedExecution
}

// Execute is clients.OrderEntry's.
func (e *unaryEntry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	err := e.conn.cc.Invoke(ctx, pb.OrderEntry_ExecuteOrder_FullMethodName, e.padded.of(&e.conn.orders.opts, req), &e.received)
	if err == nil {
		return clients.Ack{ReceivedNS: e.received.AtNS, Execution: e.received.Execution}, nil
	}
	if x, ok := wire.RejectedExecution(err); ok {
		return clients.Ack{ReceivedNS: feed.Now(), Execution: x}, nil
	}
	err = e.conn.failed(ctx, err)
	var p *feed.Problem
	if errors.As(err, &p) {
		p.Fatal = false // it ended this call alone
	}
	return clients.Ack{}, fmt.Errorf("gRPC ExecuteOrder %s: %w", e.conn.orders.dialer.target, err)
}

// Close is clients.OrderEntry's.
func (e *unaryEntry) Close() error { return nil }

type streamEntry struct {
	conn     *orderConn
	stream   grpc.ClientStream
	cancel   context.CancelFunc // of the stream
	closed   atomic.Bool
	padded   padded
	received wire.ReceivedExecution
}

// Execute is clients.OrderEntry's.
func (e *streamEntry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	defer context.AfterFunc(ctx, e.cancel)()
	ack, err := e.execute(req)
	if err != nil {
		e.cancel()
		if err = e.conn.failed(ctx, err); e.closed.Load() {
			err = errClosed
		}
		return clients.Ack{}, fmt.Errorf("gRPC StreamOrders %s: %w", e.conn.orders.dialer.target, err)
	}
	return ack, nil
}

func (e *streamEntry) execute(req *order.Request) (clients.Ack, error) {
	// After io.EOF RecvMsg has the status.
	if err := e.stream.SendMsg(e.padded.of(&e.conn.orders.opts, req)); err != nil && !errors.Is(err, io.EOF) {
		return clients.Ack{}, err
	}
	for {
		if err := e.stream.RecvMsg(&e.received); err != nil {
			return clients.Ack{}, err
		}
		// What could not be read has no id, and its refusal neither.
		if x := &e.received.Execution; x.ClOrdID == req.ClOrdID || x.ClOrdID == "" && x.Reject == order.RejectBadRequest {
			return clients.Ack{ReceivedNS: e.received.AtNS, Execution: *x}, nil
		}
	}
}

// Close ends the stream.
func (e *streamEntry) Close() error {
	e.closed.Store(true)
	e.cancel()
	return nil
}
