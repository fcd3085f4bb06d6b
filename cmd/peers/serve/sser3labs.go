package serve

import (
	"context"
	"encoding/base64"
	"net"
	"net/http"
	"strconv"

	"github.com/r3labs/sse/v2"
)

// r3labs is r3labs/sse with a stream for each symbol.
type r3labs struct {
	market *Market
	server *sse.Server
}

func newR3Labs(m *Market) Peer {
	server := sse.New()
	server.AutoReplay = false
	for _, name := range m.names {
		server.CreateStream(name)
	}
	return &r3labs{m, server}
}

// Serve is Peer's.
func (p *r3labs) Serve(ctx context.Context, ln net.Listener) error {
	defer p.server.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+eventsPath, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		symbols, err := p.market.subscribedIndices(q["symbol"])
		if err != nil || len(symbols) != 1 {
			http.Error(w, "want one symbol that is listed", http.StatusNotFound)
			return
		}
		q.Set("stream", q.Get("symbol"))
		r.URL.RawQuery = q.Encode()
		p.server.ServeHTTP(&greeter{w, append(event(p.market.hello()), event(p.market.subscribed(symbols))...)}, r)
	})
	return serveHTTP(ctx, ln, mux)
}

// Publish is Peer's.
func (p *r3labs) Publish(t *Tick) {
	p.server.Publish(p.market.names[t.Index], &sse.Event{Event: []byte("tick"), ID: strconv.AppendUint(nil, t.HubSeq, 10),
		Data: base64.StdEncoding.AppendEncode(nil, t.Bytes)})
}

// greeter says hello and subscribed once the library has the subscriber, which it
// shows by writing the header.
type greeter struct {
	http.ResponseWriter
	greeting []byte
}

// WriteHeader is http.ResponseWriter's.
func (g *greeter) WriteHeader(status int) {
	g.ResponseWriter.WriteHeader(status)
	if status == http.StatusOK {
		_, _ = g.Write(g.greeting) // an error shows in the next write
	}
}

// Flush is http.Flusher's.
func (g *greeter) Flush() { _ = http.NewResponseController(g.ResponseWriter).Flush() }
