// Package restclient asks for quotes and symbols over plain HTTP, mirror of
// restserver.
package restclient

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// maxBodyBytes bounds one answer.
const maxBodyBytes = 16 << 20

// Options are the choices of New; the zero value works.
type Options struct {
	HTTPVersion string      // "1.1", which the empty string takes, or "2": h2c by prior knowledge, h2 with TLS
	TLS         *tls.Config // nil: without TLS
	// DialContext opens the sockets; nil dials TCP.
	DialContext func(ctx context.Context) (net.Conn, error)
}

// Client asks one target. It opens connections as it needs them, and must be
// closed. Any goroutine may call it.
type Client struct {
	target string
	scheme string
	http   *http.Transport
}

// New returns a client of target, a host:port.
func New(target string, opts Options) (*Client, error) {
	if _, _, err := net.SplitHostPort(target); err != nil {
		return nil, fmt.Errorf("REST target %q: want host:port: %w", target, err)
	}
	protocols := new(http.Protocols)
	alpn := clients.ALPNHTTP1
	switch opts.HTTPVersion {
	case "", "1.1":
		protocols.SetHTTP1(true)
	case "2":
		alpn = clients.ALPNHTTP2
		protocols.SetHTTP2(opts.TLS != nil)
		protocols.SetUnencryptedHTTP2(opts.TLS == nil)
	default:
		return nil, fmt.Errorf("REST target %s: HTTP version %q, want 1.1 or 2", target, opts.HTTPVersion)
	}
	// The zero Proxy takes none, whatever the environment says.
	t := &http.Transport{Protocols: protocols, TLSClientConfig: clients.TLSFor(opts.TLS, target, alpn)}
	if opts.DialContext != nil {
		t.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) { return opts.DialContext(ctx) }
	}
	c := &Client{target: target, scheme: "http", http: t}
	if opts.TLS != nil {
		c.scheme = "https"
	}
	return c, nil
}

// Quote returns the newest tick of a symbol. What the exchange refuses is a
// *feed.Problem: UNKNOWN_SYMBOL, or NO_TICK where the symbol has had none yet.
func (c *Client) Quote(ctx context.Context, symbol string) (feed.Tick, error) {
	// "." and ".." mean something to all that handles paths on the way.
	segment := strings.ReplaceAll(url.PathEscape(symbol), ".", "%2E")
	body, err := c.get(ctx, "/v2/quotes/"+segment)
	if err != nil {
		return feed.Tick{}, err
	}
	var t feed.Tick
	if err := wire.UnmarshalTick(body, &t); err != nil {
		return feed.Tick{}, fmt.Errorf("REST quote of %s: %w", c.target, err)
	}
	return t, nil
}

// Symbols returns what the target lists, in its order.
func (c *Client) Symbols(ctx context.Context) ([]feed.Symbol, error) {
	body, err := c.get(ctx, "/v2/symbols")
	if err != nil {
		return nil, err
	}
	symbols, err := wire.UnmarshalSymbols(body)
	if err != nil {
		return nil, fmt.Errorf("REST symbols of %s: %w", c.target, err)
	}
	return symbols, nil
}

// Close closes the connections; requests that are under way go on.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func (c *Client) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.scheme+"://"+c.target+path, nil)
	if err != nil {
		return nil, fmt.Errorf("REST GET %s: %w", path, err)
	}
	// A RoundTrip follows no redirect: an exchange sends none.
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("REST GET %s of %s: %w", path, c.target, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBodyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("REST GET %s of %s: %w", path, c.target, err)
	}
	if len(body) > maxBodyBytes {
		return nil, fmt.Errorf("REST GET %s of %s: an answer of more than %d MiB", path, c.target, maxBodyBytes>>20)
	}
	if err := refusal(resp, body); err != nil {
		return nil, fmt.Errorf("REST GET %s of %s: %w", path, c.target, err)
	}
	return body, nil
}

// refusal returns nil where the answer is what was asked for, else what it is.
func refusal(resp *http.Response, body []byte) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if kind == "application/json" {
		if resp.StatusCode == http.StatusOK {
			return nil
		}
		p := new(feed.Problem)
		if err := wire.UnmarshalProblem(body, p); err == nil && p.Code != "" {
			return p
		}
	}
	return fmt.Errorf("%w: it answered %s with content type %q", clients.ErrNoExchange, resp.Status, kind)
}
