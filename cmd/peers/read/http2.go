package read

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"golang.org/x/net/http2/hpack"

	"github.com/tickgauge/tickgauge/cmd/peers/h2"
)

// http2Handler is a client's side of an HTTP/2 connection with many streams, each
// of which has a body and nothing else.
type http2Handler struct {
	*connection
	body     func(c *connection, stream int) body
	bodies   []body // stream id 2k+1 is the k-th of the connection
	asked    int    // streams
	most     int    // that the server takes at once
	settled  bool   // the server's first SETTINGS are in
	rest     rest
	out      []byte
	consumed int64 // bytes that the connection's window has lost
	hpack    *hpack.Decoder
	block    []byte // of headers that go on
	status   string // in the block that is decoded
}

// body is what one stream carries.
type body interface {
	// request returns the header fields and the DATA that open the stream; last says
	// that nothing follows.
	request(authority string) (fields []hpack.HeaderField, data []byte, last bool)
	feed(b []byte, atNS int64) error
}

func newHTTP2(b func(c *connection, stream int) body) protocol {
	return func(c *connection) wireHandler { return &http2Handler{connection: c, body: b} }
}

func (h *http2Handler) begin() {
	h.most = 100 // until the server says more
	h.hpack = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":status" {
			h.status = f.Value
		}
	})
	out := []byte(h2.Preface)
	out = h2.AppendSettings(out, 0x2, 0, h2.SettingInitialWindowSize, h2.MaxWindow) // no push
	out = h2.AppendWindowUpdate(out, 0, h2.MaxWindow-h2.DefaultWindow)
	h.socket.write(out)
}

// ask opens the streams that the server has room for.
func (h *http2Handler) ask() error {
	if h.most < len(h.streams) {
		return fmt.Errorf("the server takes %d streams a connection, and %d are wanted", h.most, len(h.streams))
	}
	var block bytes.Buffer
	enc := hpack.NewEncoder(&block)
	for ; h.asked < len(h.streams); h.asked++ {
		b := h.body(h.connection, h.streams[h.asked])
		h.bodies = append(h.bodies, b)
		fields, data, last := b.request(h.reader.opts.Addr)
		block.Reset()
		for _, f := range fields {
			_ = enc.WriteField(f) // to a buffer
		}
		id, flags := uint32(2*h.asked+1), uint8(h2.EndHeaders)
		if last {
			flags |= h2.EndStream
		}
		h.out = h2.AppendFrame(h.out, h2.Frame{Type: h2.Headers, Flags: flags, Stream: id, Payload: block.Bytes()})
		if len(data) > 0 {
			h.out = h2.AppendFrame(h.out, h2.Frame{Type: h2.Data, Stream: id, Payload: data})
		}
	}
	return nil
}

func (h *http2Handler) feed(b []byte, atNS int64) error {
	b = h.rest.join(b)
	for {
		f, end, ok := h2.Next(b)
		if !ok {
			break
		}
		if err := h.frame(f, atNS); err != nil {
			return err
		}
		b = end
	}
	if len(b) > maxMessage {
		return errTooLong
	}
	h.rest.keep(b)
	if h.consumed > 1<<20 {
		h.out = h2.AppendWindowUpdate(h.out, 0, uint32(h.consumed))
		h.consumed = 0
	}
	if len(h.out) > 0 {
		h.socket.write(h.out)
		h.out = nil
	}
	return nil
}

func (h *http2Handler) frame(f h2.Frame, atNS int64) error {
	switch f.Type {
	case h2.Data:
		h.consumed += int64(len(f.Payload))
		content, err := f.Content()
		if err != nil {
			return err
		}
		k := int(f.Stream / 2)
		if k >= len(h.bodies) {
			return errMessage
		}
		return h.bodies[k].feed(content, atNS)
	case h2.Settings:
		if f.Flags&h2.Ack != 0 {
			return nil
		}
		h.out = h2.AppendFrame(h.out, h2.Frame{Type: h2.Settings, Flags: h2.Ack})
		if !h.settled {
			h.most = 1<<31 - 1
		}
		if err := f.EachSetting(func(id uint16, value uint32) {
			if id == h2.SettingMaxConcurrentStreams {
				h.most = int(value)
			}
		}); err != nil {
			return err
		}
		h.settled = true
		return h.ask()
	case h2.Ping:
		if f.Flags&h2.Ack == 0 {
			h.out = h2.AppendFrame(h.out, h2.Frame{Type: h2.Ping, Flags: h2.Ack, Payload: f.Payload})
		}
	case h2.Headers, h2.Continuation:
		return h.headers(f)
	case h2.ResetStream, h2.GoAway:
		return fmt.Errorf("%w: frame of type %d: %q", errClosed, f.Type, f.Payload)
	}
	return nil
}

func (h *http2Handler) headers(f h2.Frame) error {
	content := f.Payload
	if f.Type == h2.Headers {
		var err error
		if content, err = f.Content(); err != nil {
			return err
		}
	}
	h.block = append(h.block, content...)
	if f.Flags&h2.EndHeaders == 0 {
		return nil
	}
	h.status = ""
	_, err := h.hpack.Write(h.block)
	h.block = h.block[:0]
	switch {
	case err != nil:
		return err
	case h.status != "" && h.status != "200":
		return fmt.Errorf("%w: status %s", errNoEvents, h.status)
	case f.Flags&h2.EndStream != 0:
		return errClosed // trailers
	}
	return h.hpack.Close()
}

func requestFields(method, authority, path string, more ...hpack.HeaderField) []hpack.HeaderField {
	return append([]hpack.HeaderField{{Name: ":method", Value: method}, {Name: ":scheme", Value: "http"},
		{Name: ":path", Value: path}, {Name: ":authority", Value: authority}}, more...)
}

// eventBody is a stream of events.
type eventBody struct{ events }

func newEventBody(c *connection, stream int) body {
	return &eventBody{events{connection: c, stream: stream}}
}

func (b *eventBody) request(authority string) ([]hpack.HeaderField, []byte, bool) {
	return requestFields("GET", authority, eventsTarget(b.symbol(b.stream)),
		hpack.HeaderField{Name: "accept", Value: "text/event-stream"}), nil, true
}

// grpcBody is a call of MarketData.Subscribe.
type grpcBody struct {
	*connection
	stream int
	rest   rest
}

func newGRPCBody(c *connection, stream int) body { return &grpcBody{connection: c, stream: stream} }

func (b *grpcBody) request(authority string) ([]hpack.HeaderField, []byte, bool) {
	m := b.subscribeRequest(b.stream)
	data := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(m))), m...)
	return requestFields("POST", authority, "/tickgauge.v1.MarketData/Subscribe",
		hpack.HeaderField{Name: "content-type", Value: "application/grpc"}, hpack.HeaderField{Name: "te", Value: "trailers"}), data, false
}

func (b *grpcBody) feed(p []byte, atNS int64) error {
	p = b.rest.join(p)
	for len(p) >= 5 {
		n := int(binary.BigEndian.Uint32(p[1:]))
		if p[0] != 0 || n > maxMessage {
			return errTooLong
		}
		if len(p)-5 < n {
			break
		}
		if err := b.message(b.stream, p[5:5+n], atNS); err != nil {
			return err
		}
		p = p[5+n:]
	}
	b.rest.keep(p)
	return nil
}
