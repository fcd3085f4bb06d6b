// Package wsserver serves the exchange over WebSocket: GET /v2/stream carries
// what MarketData.Subscribe carries, one stream a connection, with JSON in text
// frames or protobuf in binary frames as the subprotocol says.
package wsserver

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// Server is a WebSocket server over an exchange. It has no goroutine of its own:
// the exchange's Shutdown ends its streams, and returns after they have closed.
type Server struct {
	exchange *streams.Exchange
}

// New returns a server of e.
func New(e *streams.Exchange) *Server { return &Server{exchange: e} }

// Routes returns what the server answers, for streams.NewHTTPHandler.
func (s *Server) Routes() []streams.Route {
	return []streams.Route{{Method: http.MethodGet, Pattern: wire.WebSocketPath, Handler: http.HandlerFunc(s.serve)}}
}

// serve runs one stream and returns after its connection has closed.
//
// The session does not live under the request's context. Once a connection is
// hijacked net/http has stopped reading it, so that context no longer tells of a
// client that goes away, and it is cancelled only when the handler returns.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	enc, p := handshake(w.Header(), r)
	if p != nil {
		s.exchange.CountProblem()
		wire.WriteProblem(w, r, p)
		return
	}
	d := dialectOf(enc)
	session, err := s.exchange.Open(context.Background(), d.ticks)
	if err != nil {
		if !errors.As(err, &p) {
			p = &feed.Problem{Code: feed.CodeInternal, Message: err.Error()}
		}
		s.exchange.CountProblem()
		wire.WriteProblem(w, r, p)
		return
	}
	defer session.Close()
	compression := websocket.CompressionDisabled
	if s.exchange.Options().Compression {
		compression = websocket.CompressionNoContextTakeover
	}
	up := &upgrade{ResponseWriter: w}
	ws, err := websocket.Accept(up, r, &websocket.AcceptOptions{
		Subprotocols: []string{d.subprotocol},
		// Any Origin is welcome: this is a mock venue without logins or cookies, so a
		// page of another site gets nothing through a browser that it could not get
		// by itself, and dashboards are served from anywhere.
		InsecureSkipVerify: true,
		CompressionMode:    compression,
		// Every message, where the client offers it: the library would spare those below
		// 512 bytes, which are most ticks.
		CompressionThreshold: 1,
	})
	if err != nil {
		return // handshake has refused what Accept refuses: the client is gone
	}
	// The stream counts for itself, to say what was wrong before it closes.
	ws.SetReadLimit(-1)
	st := &stream{
		session: session, ws: ws, socket: up.socket, dialect: d,
		maxBytes: s.exchange.Options().Limits.MaxMessageBytes,
	}
	st.run()
}

// dialect is what an encoding means on this transport.
type dialect struct {
	encoding    wire.Encoding
	subprotocol string
	frames      websocket.MessageType
	ticks       int // the hub's encoding
}

func dialectOf(enc wire.Encoding) dialect {
	if enc == wire.JSON {
		return dialect{encoding: enc, subprotocol: wire.SubprotocolJSON, frames: websocket.MessageText, ticks: wire.TickJSON}
	}
	return dialect{encoding: enc, subprotocol: wire.SubprotocolProto, frames: websocket.MessageBinary, ticks: wire.TickProtobuf}
}

// upgrade keeps the socket of a hijacked request. Package websocket hides it,
// and its waits, of 5 s and more, can only be cut short by the socket's deadlines.
type upgrade struct {
	http.ResponseWriter
	socket net.Conn
}

// Hijack is http.Hijacker's.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	u.socket = c
	return c, rw, err
}
