package serve

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// gorilla is gorilla/websocket with a prepared message for each tick, a goroutine
// that reads and one that writes for each connection, as its chat example has it.
type gorilla struct {
	market *Market
	board  *board[chan *websocket.PreparedMessage]
}

func newGorilla(m *Market) Peer {
	return &gorilla{m, newBoard[chan *websocket.PreparedMessage](len(m.names))}
}

// Serve is Peer's.
func (p *gorilla) Serve(ctx context.Context, ln net.Listener) error {
	var open sync.WaitGroup
	mux := http.NewServeMux()
	mux.HandleFunc(wire.WebSocketPath, func(w http.ResponseWriter, r *http.Request) {
		open.Add(1)
		defer open.Done()
		p.stream(ctx, w, r)
	})
	err := serveHTTP(ctx, ln, mux)
	open.Wait()
	return err
}

// Publish is Peer's.
func (p *gorilla) Publish(t *Tick) {
	prepared, err := websocket.NewPreparedMessage(websocket.BinaryMessage, t.Bytes)
	if err != nil {
		panic("gorilla: " + err.Error()) // of a message type that does not exist
	}
	p.board.each(t.Index, func(q chan *websocket.PreparedMessage) {
		select {
		case q <- prepared:
		default:
			p.market.dropped.Add(1)
		}
	})
}

func (p *gorilla) stream(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	upgrader := websocket.Upgrader{Subprotocols: []string{wire.SubprotocolProto}}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the client was told
	}
	defer func() { _ = ws.Close() }()
	defer context.AfterFunc(ctx, func() { _ = ws.Close() })()
	if ws.WriteMessage(websocket.BinaryMessage, message(p.market.hello())) != nil {
		return
	}
	_, request, err := ws.ReadMessage()
	if err != nil {
		return
	}
	symbols, err := p.market.subscribe(request)
	if err != nil {
		return
	}
	ticks := make(chan *websocket.PreparedMessage, queuePlaces)
	for _, i := range symbols {
		p.board.add(i, ticks)
		defer p.board.remove(i, ticks)
	}
	if ws.WriteMessage(websocket.BinaryMessage, message(p.market.subscribed(symbols))) != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			if _, _, err := ws.NextReader(); err != nil {
				return
			}
		}
	}()
	defer func() { _ = ws.Close(); <-gone }()
	for {
		select {
		case <-gone:
			return
		case t := <-ticks:
			if ws.WritePreparedMessage(t) != nil {
				return
			}
		}
	}
}
