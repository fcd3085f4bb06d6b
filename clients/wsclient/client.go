// Package wsclient subscribes and executes orders over WebSocket with
// coder/websocket, mirror of wsserver: one stream a connection.
package wsclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Stamp says where ReceivedNS is taken.
const Stamp = "Reader() returning (coder/websocket)"

// maxMessageBytes bounds one message of the exchange.
const maxMessageBytes = 16 << 20

// Options are the choices of New; the zero value works.
type Options struct {
	Encoding wire.Encoding
	TLS      *tls.Config // nil: without TLS (ws); else wss
	// Compress asks for permessage-deflate, each message by itself (RFC 7692, without
	// context takeover). An exchange that does not compress is an error.
	Compress bool
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Dialer opens WebSocket connections to one target. Any goroutine may call it.
type Dialer struct {
	target      string
	opts        Options
	subprotocol string
	frames      websocket.MessageType
}

// New returns a dialer for target, a host:port.
func New(target string, opts Options) (*Dialer, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("ws target %q: want host:port: %w", target, err)
	}
	opts.TLS = clients.TLSFor(opts.TLS, target, clients.ALPNHTTP1)
	d := &Dialer{target: target, opts: opts}
	switch opts.Encoding {
	case wire.JSON:
		d.subprotocol, d.frames = wire.SubprotocolJSON, websocket.MessageText
	case wire.Protobuf:
		d.subprotocol, d.frames = wire.SubprotocolProto, websocket.MessageBinary
	default:
		return nil, fmt.Errorf("ws target %q: no such encoding: %s", target, opts.Encoding)
	}
	if d.opts.DialContext == nil {
		d.opts.DialContext = func(ctx context.Context, conn int) (net.Conn, error) {
			return clients.TCPDialer(conn, target).DialContext(ctx, "tcp", target)
		}
	}
	return d, nil
}

// Dial opens a connection and shakes hands. A refusal of the exchange is a
// *feed.Problem; what answers as no exchange does wraps clients.ErrNoExchange.
func (d *Dialer) Dial(ctx context.Context, conn int, sink clients.Sink) (clients.Conn, error) {
	c, err := d.dial(ctx, conn, sink)
	if err != nil {
		return nil, fmt.Errorf("ws dial %s: %w", d.target, err)
	}
	return c, nil
}

func (d *Dialer) dial(ctx context.Context, conn int, sink clients.Sink) (*connection, error) {
	socket, err := d.opts.DialContext(ctx, conn)
	if err != nil {
		return nil, err
	}
	if d.opts.TLS != nil {
		secured := tls.Client(socket, d.opts.TLS)
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = socket.Close()
			return nil, err
		}
		socket = secured
	}
	ws, err := d.handshake(ctx, socket)
	if err != nil {
		_ = socket.Close()
		return nil, err
	}
	ws.SetReadLimit(maxMessageBytes)
	return &connection{dialer: d, ws: ws, socket: socket, sink: sink}, nil
}
