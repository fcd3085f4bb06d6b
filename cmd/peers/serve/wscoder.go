package serve

import (
	"context"
	"net"
	"net/http"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// coder is coder/websocket as its README shows it.
type coder struct{ queues }

func newCoder(m *Market) Peer { return &coder{newQueues(m)} }

// Serve is Peer's.
func (p *coder) Serve(ctx context.Context, ln net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc(wire.WebSocketPath, p.stream)
	return serveHTTP(ctx, ln, mux)
}

func (p *coder) stream(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{wire.SubprotocolProto}})
	if err != nil {
		return // the client was told
	}
	defer func() { _ = ws.CloseNow() }()
	ctx := r.Context()
	if ws.Write(ctx, websocket.MessageBinary, message(p.market.hello())) != nil {
		return
	}
	_, request, err := ws.Read(ctx)
	if err != nil {
		return
	}
	symbols, err := p.market.subscribe(request)
	if err != nil {
		_ = ws.Close(websocket.StatusPolicyViolation, err.Error())
		return
	}
	ticks, leave := p.join(symbols)
	defer leave()
	if ws.Write(ctx, websocket.MessageBinary, message(p.market.subscribed(symbols))) != nil {
		return
	}
	ctx = ws.CloseRead(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case t := <-ticks:
			if ws.Write(ctx, websocket.MessageBinary, t.Bytes) != nil {
				return
			}
		}
	}
}
