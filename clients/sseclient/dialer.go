// Package sseclient subscribes to server-sent events with net/http, mirror of
// sseserver. The parser of the event stream is its own.
package sseclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"slices"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Stamp says where ReceivedNS is taken. Events that one read brought share a
// stamp.
const Stamp = "Body.Read returning (net/http)"

// streamWindow is what one HTTP/2 stream may hold of what has not been read;
// net/http would take 4 MiB, and an exchange would be late to see a slow reader.
const streamWindow = 256 << 10

// Options are the choices of New; the zero value works.
type Options struct {
	Encoding    wire.Encoding
	HTTPVersion string      // "1.1", which the empty string takes, or "2": h2c by prior knowledge, h2 with TLS
	TLS         *tls.Config // nil: without TLS
	Compress    bool        // asks for gzip; an exchange that does not compress is an error
	// DialContext opens the socket of a connection; nil dials TCP from the source
	// address of clients.SourceAddr.
	DialContext func(ctx context.Context, conn int) (net.Conn, error)
}

// Dialer opens HTTP connections to one target. Over HTTP/1.1 a connection
// carries one stream, over HTTP/2 as many as the exchange allows. Any goroutine
// may call it.
type Dialer struct {
	target   string
	scheme   string
	encoding wire.Encoding
	compress bool
	single   bool // one stream a connection
	http     *http.Transport
}

// New returns a dialer for target, a host:port.
func New(target string, opts Options) (*Dialer, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("SSE target %q: want host:port: %w", target, err)
	}
	if !slices.Contains(wire.Encodings(), opts.Encoding) {
		return nil, fmt.Errorf("SSE target %s: no such encoding: %s", target, opts.Encoding)
	}
	protocols := new(http.Protocols)
	scheme, alpn := "http", clients.ALPNHTTP1
	if opts.TLS != nil {
		scheme = "https"
	}
	switch opts.HTTPVersion {
	case "", "1.1":
		protocols.SetHTTP1(true)
	case "2":
		alpn = clients.ALPNHTTP2
		protocols.SetHTTP2(opts.TLS != nil)
		protocols.SetUnencryptedHTTP2(opts.TLS == nil)
	default:
		return nil, fmt.Errorf("SSE target %s: HTTP version %q, want 1.1 or 2", target, opts.HTTPVersion)
	}
	dial := opts.DialContext
	if dial == nil {
		dial = func(ctx context.Context, conn int) (net.Conn, error) {
			return clients.TCPDialer(conn, target).DialContext(ctx, "tcp", target)
		}
	}
	return &Dialer{target: target, scheme: scheme, encoding: opts.Encoding, compress: opts.Compress, single: protocols.HTTP1(), http: &http.Transport{
		Protocols:       protocols,
		TLSClientConfig: clients.TLSFor(opts.TLS, target, alpn),
		// The transport only makes connections here, and pools none. Its zero Proxy
		// takes none, whatever the environment says.
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dial(ctx, ctx.Value(connNumber{}).(int))
		},
		DisableCompression: true,
		WriteBufferSize:    512, // one request
		HTTP2:              &http.HTTP2Config{MaxReceiveBufferPerStream: streamWindow},
	}}, nil
}

// connNumber is the key under which Dial hands its number to DialContext.
type connNumber struct{}

// Dial opens one TCP connection, the only one that its streams ever use.
func (d *Dialer) Dial(ctx context.Context, conn int, sink clients.Sink) (clients.Conn, error) {
	cc, err := d.http.NewClientConn(context.WithValue(ctx, connNumber{}, conn), d.scheme, d.target)
	if err != nil {
		return nil, fmt.Errorf("SSE dial %s: %w", d.target, err)
	}
	return newConnection(d, cc, sink), nil
}
