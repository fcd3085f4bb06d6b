package restclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// OrderStamp says where an Ack's ReceivedNS is taken.
const OrderStamp = "the answer's body read whole (net/http)"

// OrderOptions are the choices of NewOrders; the zero value works.
type OrderOptions struct {
	Encoding     wire.Encoding
	HTTPVersion  string      // "1.1", which the empty string takes, or "2": h2c by prior knowledge, h2 with TLS
	PayloadBytes int         // orders are padded to about it
	TLS          *tls.Config // nil: without TLS
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Orders opens HTTP connections that take orders by POST. Over HTTP/1.1 the
// entries of a connection wait for each other, over HTTP/2 they share it. Any
// goroutine may call it.
type Orders struct {
	target string
	opts   OrderOptions
	http   *http.Transport
	url    url.URL
	header http.Header // of each request; never written after New
}

// connNumber is the key under which DialOrders hands its number to DialContext.
type connNumber struct{}

// NewOrders returns a dialer for target, a host:port.
func NewOrders(target string, opts OrderOptions) (*Orders, error) {
	if opts.Encoding != wire.Protobuf && opts.Encoding != wire.JSON {
		return nil, fmt.Errorf("REST target %q: no such encoding: %s", target, opts.Encoding)
	}
	if opts.DialContext == nil {
		opts.DialContext = func(ctx context.Context, conn int) (net.Conn, error) {
			return clients.TCPDialer(conn, target).DialContext(ctx, "tcp", target)
		}
	}
	c, err := New(target, Options{HTTPVersion: opts.HTTPVersion, TLS: opts.TLS, DialContext: func(ctx context.Context) (net.Conn, error) {
		return opts.DialContext(ctx, ctx.Value(connNumber{}).(int))
	}})
	if err != nil {
		return nil, err
	}
	o := &Orders{target: target, opts: opts, http: c.http, url: url.URL{Scheme: c.scheme, Host: target, Path: "/v2/orders/execute"}}
	o.http.DisableCompression = true
	contentType := "application/json"
	if opts.Encoding == wire.Protobuf {
		contentType = "application/x-protobuf"
	}
	o.header = http.Header{"Content-Type": {contentType}}
	return o, nil
}

// DialOrders opens one TCP connection, the only one that its entries ever use.
func (o *Orders) DialOrders(ctx context.Context, conn int) (clients.OrderConn, error) {
	cc, err := o.http.NewClientConn(context.WithValue(ctx, connNumber{}, conn), o.url.Scheme, o.target)
	if err != nil {
		return nil, fmt.Errorf("REST dial %s: %w", o.target, err)
	}
	return &orderConn{orders: o, http: cc}, nil
}

type orderConn struct {
	orders *Orders
	http   *http.ClientConn
}

// OpenOrders returns a handle; one whose connection is gone is an error.
func (c *orderConn) OpenOrders(context.Context) (clients.OrderEntry, error) {
	if err := c.http.Err(); err != nil {
		return nil, fmt.Errorf("REST orders %s: %w", c.orders.target, err)
	}
	return &entry{conn: c}, nil
}

// Close closes the connection.
func (c *orderConn) Close() error { return c.http.Close() }

type entry struct {
	conn    *orderConn
	padding *string
	body    bytes.Buffer
}

// Execute is clients.OrderEntry's.
func (e *entry) Execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	ack, err := e.execute(ctx, req)
	if err != nil {
		return clients.Ack{}, fmt.Errorf("REST POST %s of %s: %w", e.conn.orders.url.Path, e.conn.orders.target, err)
	}
	return ack, nil
}

func (e *entry) execute(ctx context.Context, req *order.Request) (clients.Ack, error) {
	o := e.conn.orders
	if e.padding == nil {
		padding := wire.OrderPadding(o.opts.Encoding, req, o.opts.PayloadBytes)
		e.padding = &padding
	}
	// Bytes of its own for each order: net/http may still be writing those of one
	// that was given up, or answered early.
	out, err := wire.AppendOrder(nil, o.opts.Encoding, req, *e.padding)
	if err != nil {
		return clients.Ack{}, err
	}
	// net/http closes a connection whose writer was late to say that it is done, as on
	// a busy machine, and any other that it would not use again.
	if err := e.conn.http.Err(); err != nil {
		return clients.Ack{}, fmt.Errorf("%w: %w", clients.ErrNotSent, err)
	}
	target := o.url
	post := (&http.Request{
		Method: http.MethodPost, URL: &target, Host: o.target, Header: o.header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(out)), ContentLength: int64(len(out)),
	}).WithContext(ctx)
	resp, err := e.conn.http.RoundTrip(post)
	if err != nil {
		return clients.Ack{}, err
	}
	e.body.Reset()
	_, err = e.body.ReadFrom(io.LimitReader(resp.Body, maxBodyBytes))
	ack := clients.Ack{ReceivedNS: feed.Now()}
	_ = resp.Body.Close()
	if err != nil {
		return clients.Ack{}, err
	}
	if resp.StatusCode == http.StatusOK {
		return ack, e.accepted(resp, &ack.Execution)
	}
	return ack, e.refused(resp, &ack.Execution)
}

// accepted reads an answer of 200. No bytes at all are an empty execution in
// protobuf, and no answer to an order.
func (e *entry) accepted(resp *http.Response, x *order.Execution) error {
	err := wire.UnmarshalExecution(e.conn.orders.opts.Encoding, e.body.Bytes(), x)
	if err == nil && x.ClOrdID == "" {
		err = errors.New("an execution without a cl_ord_id")
	}
	if err != nil {
		return fmt.Errorf("%w: it answered %s with content type %q: %w", clients.ErrNoExchange, resp.Status, resp.Header.Get("Content-Type"), err)
	}
	return nil
}

// refused reads an answer that is no execution: nil where it refuses the order, a
// *feed.Problem, or what it is.
func (e *entry) refused(resp *http.Response, x *order.Execution) error {
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "application/json" {
		p := new(feed.Problem)
		if rejected, err := wire.UnmarshalRejection(e.body.Bytes(), p, x); err == nil && rejected {
			return nil
		} else if err == nil && p.Code != "" {
			return p
		}
	}
	return fmt.Errorf("%w: it answered %s", clients.ErrNoExchange, resp.Status)
}

// Close is clients.OrderEntry's.
func (e *entry) Close() error { return nil }
