package wsclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// OrderStamp says where an Ack's ReceivedNS is taken.
const OrderStamp = Stamp

// OrderOptions are the choices of NewOrders; the zero value works.
type OrderOptions struct {
	Encoding     wire.Encoding
	PayloadBytes int         // orders are padded to about it
	TLS          *tls.Config // nil: without TLS (ws); else wss
	Compress     bool        // as in Options
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Orders opens WebSocket connections that take orders, one entry a connection. Any
// goroutine may call it.
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
	c, err := o.dialer.dial(ctx, conn, nil)
	if err != nil {
		return nil, fmt.Errorf("ws dial %s: %w", o.dialer.target, err)
	}
	return &orderConn{orders: o, conn: c}, nil
}

type orderConn struct {
	orders *Orders
	conn   *connection

	mu     sync.Mutex
	opened bool
}

// OpenOrders returns the one entry of the connection; a second call is an error,
// since WebSocket has one stream a connection.
func (c *orderConn) OpenOrders(context.Context) (clients.OrderEntry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.conn.closing.Load():
		return nil, fmt.Errorf("ws orders %s: %w", c.orders.dialer.target, errClosed)
	case c.opened:
		return nil, fmt.Errorf("ws orders %s: %w", c.orders.dialer.target, errOpened)
	}
	c.opened = true
	return &entry{conn: c.conn, opts: &c.orders.opts}, nil
}

// Close closes the connection.
func (c *orderConn) Close() error { return c.conn.Close() }

// entry reads within Execute alone: what comes between orders is a heartbeat each
// 10 s, which the buffers of the two sockets hold for hours.
type entry struct {
	conn    *connection
	opts    *OrderOptions
	request wire.StreamRequest
	padded  bool
	out     []byte
}

// Execute is clients.OrderEntry's.
func (e *entry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	stop := context.AfterFunc(ctx, func() { _ = e.conn.ws.CloseNow() })
	ack, err := e.execute(req)
	if !stop() && err != nil {
		err = ctx.Err()
	}
	if err != nil {
		return clients.Ack{}, fmt.Errorf("ws order %s: %w", e.conn.dialer.target, err)
	}
	return ack, nil
}

func (e *entry) execute(req *order.Request) (clients.Ack, error) {
	if !e.padded {
		e.padded = true
		e.request.Padding = wire.OrderPadding(e.opts.Encoding, req, e.opts.PayloadBytes)
	}
	e.request.Order = *req
	var err error
	if e.out, err = wire.AppendStreamRequest(e.out[:0], e.opts.Encoding, &e.request); err != nil {
		return clients.Ack{}, err
	}
	// A write fails on a connection that ends, and its last message may say why.
	writeErr := e.conn.ws.Write(context.Background(), e.conn.dialer.frames, e.out)
	var d clients.Delivery
	for {
		if err := e.conn.receive(&d); err != nil {
			return clients.Ack{}, e.unanswered(writeErr, err)
		}
		switch p := d.Message.Problem; {
		case d.Execution != nil && d.Execution.ClOrdID == req.ClOrdID:
			return clients.Ack{ReceivedNS: d.ReceivedNS, Execution: *d.Execution}, nil
		case p != nil:
			return clients.Ack{}, p
		}
	}
}

// unanswered says why nothing more can be read. A closing frame says more than a
// write that failed, and that more than the read after it.
func (e *entry) unanswered(writeErr, readErr error) error {
	err := e.conn.ended(readErr)
	switch {
	case err == nil:
		return errClosed
	case writeErr != nil && websocket.CloseStatus(readErr) < 0:
		return writeErr
	}
	return err
}

// Close ends the entry with its connection.
func (e *entry) Close() error { return e.conn.Close() }
