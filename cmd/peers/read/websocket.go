package read

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// webSocket is a client's side of a connection (RFC 6455) that masks with zeros:
// nothing on the way could confuse the bytes here.
type webSocket struct {
	*connection
	path, subprotocol string
	messages          messages
	upgraded          bool
	rest              rest
	whole             []byte // of fragments
}

// messages is what is spoken in the frames of a WebSocket.
type messages interface {
	begin()
	feed(b []byte, atNS int64) error
}

func newWebSocket(path, subprotocol string, inner func(c *connection, send func([]byte)) messages) protocol {
	return func(c *connection) wireHandler {
		h := &webSocket{connection: c, path: path, subprotocol: subprotocol}
		h.messages = inner(c, func(b []byte) { c.socket.write(appendFrame(nil, opBinary, b)) })
		return h
	}
}

func (h *webSocket) begin() {
	request := "GET " + h.path + " HTTP/1.1\r\nHost: " + h.reader.opts.Addr +
		"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGlja2dhdWdlIHBlZXJzIQ==\r\n"
	if h.subprotocol != "" {
		request += "Sec-WebSocket-Protocol: " + h.subprotocol + "\r\n"
	}
	h.socket.write([]byte(request + "\r\n"))
}

// Opcodes.
const (
	opContinuation = 0x0
	opBinary       = 0x2
	opClose        = 0x8
	opPing         = 0x9
	opPong         = 0xa
)

func appendFrame(dst []byte, op byte, b []byte) []byte {
	dst = append(dst, 0x80|op)
	switch {
	case len(b) < 126:
		dst = append(dst, 0x80|byte(len(b)))
	default:
		dst = binary.BigEndian.AppendUint16(append(dst, 0x80|126), uint16(len(b)))
	}
	dst = append(dst, 0, 0, 0, 0)
	return append(dst, b...)
}

var (
	errClosing   = errors.New("the other side closes the WebSocket")
	errMasked    = errors.New("a server's frame is masked or compressed")
	errNoUpgrade = errors.New("no WebSocket")
)

func (h *webSocket) feed(b []byte, atNS int64) error {
	b = h.rest.join(b)
	if !h.upgraded {
		end := bytes.Index(b, []byte("\r\n\r\n"))
		if end < 0 {
			h.rest.keep(b)
			return nil
		}
		if !bytes.HasPrefix(b, []byte("HTTP/1.1 101")) {
			return fmt.Errorf("%w: %.80q", errNoUpgrade, b)
		}
		h.upgraded = true
		h.messages.begin()
		b = b[end+4:]
	}
	for len(b) >= 2 {
		head, size := 2, uint64(b[1]&0x7f)
		switch {
		case b[0]&0x70 != 0 || b[1]&0x80 != 0:
			return errMasked
		case size == 126 && len(b) >= 4:
			head, size = 4, uint64(binary.BigEndian.Uint16(b[2:]))
		case size == 127 && len(b) >= 10:
			head, size = 10, binary.BigEndian.Uint64(b[2:])
		case size >= 126:
			h.rest.keep(b)
			return nil
		}
		if size > maxMessage {
			return errTooLong
		}
		if uint64(len(b)-head) < size {
			break
		}
		if err := h.frame(b[0]&0xf, b[0]&0x80 != 0, b[head:head+int(size)], atNS); err != nil {
			return err
		}
		b = b[head+int(size):]
	}
	h.rest.keep(b)
	return nil
}

func (h *webSocket) frame(op byte, fin bool, b []byte, atNS int64) error {
	switch op {
	case opPing:
		h.socket.write(appendFrame(nil, opPong, b))
		return nil
	case opPong:
		return nil
	case opClose:
		return fmt.Errorf("%w: %q", errClosing, b)
	}
	if fin && op != opContinuation {
		return h.messages.feed(b, atNS)
	}
	if h.whole = append(h.whole, b...); len(h.whole) > maxMessage {
		return errTooLong
	}
	if !fin {
		return nil
	}
	whole := h.whole
	h.whole = nil
	return h.messages.feed(whole, atNS)
}

// streamMessages are the exchange's own.
type streamMessages struct {
	*connection
	send func([]byte)
}

func newStreamMessages(c *connection, send func([]byte)) messages { return &streamMessages{c, send} }

func (h *streamMessages) begin() { h.send(h.subscribeRequest(h.streams[0])) }

func (h *streamMessages) feed(b []byte, atNS int64) error {
	return h.message(h.streams[0], b, atNS)
}
