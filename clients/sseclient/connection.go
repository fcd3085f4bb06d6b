package sseclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"sync"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

var (
	errOneStream = errors.New("an HTTP/1.1 connection carries one stream; dial another")
	errCutShort  = errors.New("the exchange ended the stream and did not say why")
)

type connection struct {
	dialer *Dialer
	http   *http.ClientConn
	sink   clients.Sink
	ctx    context.Context // done once Close is called
	cancel context.CancelFunc

	mu      sync.Mutex // so that no stream is added while Close waits
	opened  bool
	streams sync.WaitGroup
}

func newConnection(d *Dialer, cc *http.ClientConn, sink clients.Sink) *connection {
	c := &connection{dialer: d, http: cc, sink: sink}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Open opens a stream on the connection.
func (c *connection) Open(ctx context.Context, stream int, req feed.Subscribe) error {
	err := c.add()
	if err == nil {
		err = c.open(ctx, stream, req)
	}
	if err != nil {
		return fmt.Errorf("SSE subscribe %s: %w", c.dialer.target, err)
	}
	return nil
}

// add counts a stream that is to be opened, and which Close will wait for.
func (c *connection) add() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return net.ErrClosed
	}
	if c.opened && c.dialer.single {
		return errOneStream
	}
	c.opened = true
	c.streams.Add(1)
	return nil
}

// open starts the goroutine that reads the stream, and waits for the answer. The
// stream has a context of its own, as net/http ends a body with the context of
// its request and ctx bounds the opening alone.
func (c *connection) open(ctx context.Context, stream int, req feed.Subscribe) error {
	streamCtx, cancel := context.WithCancel(c.ctx)
	stop := context.AfterFunc(ctx, cancel)
	opened := make(chan error, 1)
	go func() {
		defer c.streams.Done()
		defer cancel()
		body, err := c.subscribe(streamCtx, req)
		if err != nil {
			opened <- err
			return
		}
		defer func() { _ = body.Close() }()
		clients.Pump(stream, c.sink, newReceiver(body, c.dialer.encoding, c.dialer.compress).receive, opened, c.ended)
	}()
	err := <-opened
	cut := !stop() // ctx has ended, and the stream with it
	switch {
	case err == nil && cut:
		return ctx.Err()
	case err == nil:
		return nil
	case c.ctx.Err() != nil:
		return net.ErrClosed
	case ctx.Err() != nil && c.http.Available() == 0 && c.http.Err() == nil && !c.dialer.single:
		return fmt.Errorf("%w while the connection had the %d streams that the target allows it", ctx.Err(), c.http.InFlight())
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return err
}

// subscribe sends the request and returns the stream's body, or what the target
// answered in its place.
func (c *connection) subscribe(ctx context.Context, req feed.Subscribe) (io.ReadCloser, error) {
	query := url.Values{"symbol": req.Symbols, "encoding": {encodingName(c.dialer.encoding)}}
	if req.Policy != feed.PolicyNone {
		query.Set("policy", wire.PolicyName(req.Policy))
	}
	if req.Cursor != "" {
		query.Set("cursor", req.Cursor)
	}
	if req.Account != "" {
		query.Set("account", req.Account)
	}
	if req.Resume {
		query.Set("after_report_seq", strconv.FormatUint(req.AfterReportSeq, 10))
	}
	target := url.URL{Scheme: c.dialer.scheme, Host: c.dialer.target, Path: "/v2/events", RawQuery: query.Encode()}
	get, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, err
	}
	get.Header.Set("Accept", eventStream)
	if c.dialer.compress {
		get.Header.Set("Accept-Encoding", "gzip")
	}
	resp, err := c.http.RoundTrip(get)
	if err != nil {
		return nil, err
	}
	err = refusal(resp)
	if err == nil {
		err = c.checkCoding(resp.Header.Get("Content-Encoding"))
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	return resp.Body, nil
}

// checkCoding compares the answer's Content-Encoding with what was asked for.
func (c *connection) checkCoding(coding string) error {
	want := ""
	if c.dialer.compress {
		want = "gzip"
	}
	switch coding {
	case want:
		return nil
	case "":
		return errors.New("the exchange does not compress; start it with --compression, or ask for none")
	}
	return fmt.Errorf("%w: it answered with content encoding %q, which was not asked for", clients.ErrNoExchange, coding)
}

// encodingName is the encoding as the query has it.
func encodingName(enc wire.Encoding) string {
	if enc == wire.Protobuf {
		return "proto"
	}
	return "json"
}

// ended puts the end of a stream into the caller's terms.
func (c *connection) ended(err error) error {
	switch {
	case c.ctx.Err() != nil:
		return nil
	case errors.Is(err, io.EOF):
		return errCutShort
	}
	return fmt.Errorf("SSE read %s: %w", c.dialer.target, err)
}

// Close ends all streams and the connection. It may be called again.
func (c *connection) Close() error {
	c.mu.Lock()
	c.cancel()
	c.mu.Unlock()
	c.streams.Wait()
	return c.http.Close()
}
