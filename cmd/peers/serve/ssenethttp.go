package serve

import (
	"context"
	"net"
	"net/http"
)

// eventsPath is where the exchange serves SSE.
const eventsPath = "/v2/events"

// netHTTP is a handler that writes each event and flushes it.
type netHTTP struct{ queues }

func newNetHTTP(m *Market) Peer { return &netHTTP{newQueues(m)} }

// Serve is Peer's.
func (p *netHTTP) Serve(ctx context.Context, ln net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+eventsPath, p.events)
	return serveHTTP(ctx, ln, mux)
}

func (p *netHTTP) events(w http.ResponseWriter, r *http.Request) {
	symbols, err := p.market.subscribedIndices(r.URL.Query()["symbol"])
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher, ok := w.(http.Flusher)
	if !ok {
		http.Error(w, "no streaming here", http.StatusInternalServerError)
		return
	}
	ticks, leave := p.join(symbols)
	defer leave()
	if _, err := w.Write(append(event(p.market.hello()), event(p.market.subscribed(symbols))...)); err != nil {
		return
	}
	flusher.Flush()
	for {
		select {
		case <-r.Context().Done():
			return
		case t := <-ticks:
			if _, err := w.Write(t.Bytes); err != nil {
				return
			}
			flusher.Flush()
		}
	}
}
