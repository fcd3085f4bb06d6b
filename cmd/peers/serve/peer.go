// Package serve publishes the exchange's ticks on the exchange's schedule in the
// way of other products, and of hand-written servers that do no more than they
// must: what an exchange is measured against.
package serve

import (
	"context"
	"fmt"
	"net"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Tick is one published tick with its encoded form, made once and shared by all
// who get it.
type Tick struct {
	feed.Tick
	Index int    // of the symbol
	Bytes []byte // in the encoding of the peer's row; never changed
}

// Peer is a server of ticks. Serve takes connections from ln, which it closes, until ctx
// is done, and returns after all that it started. Publish is called by the
// publisher's thread alone, while Serve runs.
type Peer interface {
	Serve(ctx context.Context, ln net.Listener) error
	Publish(t *Tick)
}

// starter is a Peer that does not take connections from the moment Serve is called.
type starter interface {
	// started is closed when it does.
	started() <-chan struct{}
}

// Row is a peer by its name.
type Row struct {
	Name     string
	About    string
	Encoding int // index of wire.HubEncoders
	New      func(m *Market) Peer
}

// Rows returns all peers of this system, the floors first.
func Rows() []Row {
	return append(floors(), []Row{
		{"grpc-naive", "grpc-go, a goroutine a stream, each message marshalled", wire.TickProtobuf, newGRPCNaive},
		{"ws-coder", "coder/websocket, a goroutine a connection", wire.TickProtobuf, newCoder},
		{"ws-gorilla", "gorilla/websocket, prepared messages, a goroutine a connection", wire.TickProtobuf, newGorilla},
		{"ws-gws", "lxzan/gws, its broadcaster", wire.TickProtobuf, newGWS},
		{"ws-nbio", "lesismal/nbio, no goroutine a connection", wire.TickProtobuf, newNBIO},
		{"sse-nethttp", "net/http and its Flusher, HTTP/1.1 and h2c", wire.EventProtobuf, newNetHTTP},
		{"sse-r3labs", "r3labs/sse", wire.TickProtobuf, newR3Labs},
		{"centrifuge", "centrifugal/centrifuge over WebSocket, its protobuf protocol", wire.TickProtobuf, newCentrifuge},
		{"nats", "nats-server, embedded, native protocol", wire.TickProtobuf, newNATS},
		{"nats-ws", "nats-server, embedded, over WebSocket", wire.TickProtobuf, newNATSWebSocket},
	}...)
}

// Find returns the row of a name; an unknown one is an error that lists the names.
func Find(name string) (Row, error) {
	var names []string
	for _, r := range Rows() {
		if r.Name == name {
			return r, nil
		}
		names = append(names, r.Name)
	}
	return Row{}, fmt.Errorf("no peer is called %q; there are %s", name, strings.Join(names, ", "))
}
