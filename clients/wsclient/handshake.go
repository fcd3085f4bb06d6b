package wsclient

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// maxAnswerBytes bounds the answer to a handshake.
const maxAnswerBytes = 64 << 10

// handshake makes a WebSocket of a socket, which it leaves open on an error.
func (d *Dialer) handshake(ctx context.Context, socket net.Conn) (*websocket.Conn, error) {
	compression := websocket.CompressionDisabled
	if d.opts.Compress {
		compression = websocket.CompressionNoContextTakeover
	}
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	ws, resp, err := websocket.Dial(ctx, "ws://"+d.target+wire.WebSocketPath, &websocket.DialOptions{
		HTTPClient: &http.Client{
			Transport:     roundTripper{socket},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		Subprotocols:         []string{d.subprotocol},
		CompressionMode:      compression,
		CompressionThreshold: 1, // every message
	})
	switch {
	case !stop(): // whatever came of it
		err = ctx.Err()
	case err != nil:
		err = refusal(resp, err)
	case ws.Subprotocol() != d.subprotocol:
		err = fmt.Errorf("%w: it did not choose the subprotocol %s", clients.ErrNoExchange, d.subprotocol)
	case d.opts.Compress && resp.Header.Get("Sec-WebSocket-Extensions") == "":
		err = errors.New("the exchange does not compress; start it with --compression, or ask for none")
	}
	if err != nil && ws != nil {
		_ = ws.CloseNow()
	}
	return ws, err
}

// refusal puts a handshake that failed into the caller's terms.
func refusal(resp *http.Response, err error) error {
	switch {
	case resp == nil:
		return err
	case resp.StatusCode == http.StatusSwitchingProtocols:
		return fmt.Errorf("%w: %w", clients.ErrNoExchange, err)
	}
	// Package websocket keeps the first 1,024 bytes, which hold any problem.
	body, readErr := io.ReadAll(resp.Body)
	if p := new(feed.Problem); readErr == nil && wire.UnmarshalProblem(body, p) == nil && p.Code != "" &&
		wire.HTTPStatus(p.Code) == resp.StatusCode {
		return p
	}
	return fmt.Errorf("%w: it answered %s", clients.ErrNoExchange, resp.Status)
}

// roundTripper carries one request over a socket that is there already. Beside
// http.Transport it has neither pool nor proxy nor goroutines, and what a server
// of another protocol says unasked is an error like any other.
type roundTripper struct{ socket net.Conn }

// RoundTrip is http.RoundTripper's. The body of the answer writes to the socket,
// as a handshake has it, and closes it.
func (t roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Write(t.socket); err != nil {
		return nil, err
	}
	br := bufio.NewReader(io.LimitReader(t.socket, maxAnswerBytes))
	resp, err := http.ReadResponse(br, req)
	if err != nil {
		if broken := net.Error(nil); errors.As(err, &broken) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		return nil, fmt.Errorf("%w: %w", clients.ErrNoExchange, err)
	}
	var body io.Reader = resp.Body
	if resp.StatusCode == http.StatusSwitchingProtocols {
		early, _ := br.Peek(br.Buffered()) // of the stream already
		body = io.MultiReader(bytes.NewReader(early), t.socket)
	}
	resp.Body = struct {
		io.Reader
		io.WriteCloser
	}{body, t.socket}
	return resp, nil
}
