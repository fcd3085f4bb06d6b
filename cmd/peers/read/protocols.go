package read

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// Protocols are what a reader speaks.
func Protocols() []string {
	return []string{"floor", "floor-shared", "ws", "sse", "sse-h2c", "grpc", "centrifuge", "nats", "nats-ws"}
}

func protocolOf(name string) (protocol, error) {
	switch name {
	case "floor":
		return func(c *connection) wireHandler { return &floorHandler{connection: c} }, nil
	case "floor-shared":
		return func(c *connection) wireHandler { return &floorHandler{connection: c, shared: true} }, nil
	case "ws":
		return newWebSocket(wire.WebSocketPath, wire.SubprotocolProto, newStreamMessages), nil
	case "centrifuge":
		return newWebSocket("/connection/websocket", "centrifuge-protobuf", newCentrifugeMessages), nil
	case "nats-ws":
		return newWebSocket("/", "", newNATSMessages), nil
	case "nats":
		return func(c *connection) wireHandler { return &natsHandler{connection: c, send: c.socket.write} }, nil
	case "sse":
		return func(c *connection) wireHandler { return &sseHandler{connection: c} }, nil
	case "sse-h2c":
		return newHTTP2(newEventBody), nil
	case "grpc":
		return newHTTP2(newGRPCBody), nil
	}
	return nil, fmt.Errorf("no protocol is called %q; there are %s", name, strings.Join(Protocols(), ", "))
}

// subscribeRequest asks for a stream's symbol, in protobuf.
func (c *connection) subscribeRequest(stream int) []byte {
	b, err := wire.AppendRequest(nil, wire.Protobuf, &feed.Request{Subscribe: &feed.Subscribe{Symbols: []string{c.symbol(stream)}}})
	if err != nil {
		panic("read: " + err.Error()) // the symbols are our own
	}
	return b
}

// maxMessage bounds what is kept of a message that does not come whole.
const maxMessage = 1 << 20

var errTooLong = errors.New("a message that is too long")

// floorHandler speaks to the hand-written floors: frames behind their length, with
// the number of the stream where the connection is shared.
type floorHandler struct {
	*connection
	shared bool
	rest   rest
}

func (h *floorHandler) begin() {
	var out []byte
	for k, stream := range h.streams {
		b := h.subscribeRequest(stream)
		if h.shared {
			out = binary.BigEndian.AppendUint32(out, uint32(4+len(b)))
			out = binary.BigEndian.AppendUint32(out, uint32(k))
		} else {
			out = binary.BigEndian.AppendUint32(out, uint32(len(b)))
		}
		out = append(out, b...)
	}
	h.socket.write(out)
}

func (h *floorHandler) feed(b []byte, atNS int64) error {
	b = h.rest.join(b)
	for len(b) >= 4 {
		n := int(binary.BigEndian.Uint32(b))
		if n > maxMessage || h.shared && n < 4 {
			return errTooLong
		}
		if len(b)-4 < n {
			break
		}
		frame, k := b[4:4+n], 0
		b = b[4+n:]
		if h.shared {
			if k = int(binary.BigEndian.Uint32(frame)); k >= len(h.streams) {
				return errMessage
			}
			frame = frame[4:]
		}
		if err := h.message(h.streams[k], frame, atNS); err != nil {
			return err
		}
	}
	h.rest.keep(b)
	return nil
}
