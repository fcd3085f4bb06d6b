package read

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// events reads a stream of Server-Sent Events whose data is a MarketDataMessage
// in base64.
type events struct {
	*connection
	stream int
	rest   rest
	raw    []byte
}

func eventsTarget(symbol string) string {
	return "/v2/events?encoding=proto&symbol=" + url.QueryEscape(symbol)
}

var dataField = []byte("data: ")

func (e *events) feed(b []byte, atNS int64) error {
	b = e.rest.join(b)
	for {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			break
		}
		line := b[:end]
		b = b[end+1:]
		if !bytes.HasPrefix(line, dataField) {
			continue
		}
		raw, err := base64.StdEncoding.AppendDecode(e.raw[:0], line[len(dataField):])
		if err != nil {
			return fmt.Errorf("SSE data: %w", err)
		}
		e.raw = raw
		if err := e.message(e.stream, raw, atNS); err != nil {
			return err
		}
	}
	if len(b) > maxMessage {
		return errTooLong
	}
	e.rest.keep(b)
	return nil
}

// sseHandler reads events over HTTP/1.1, one stream a connection.
type sseHandler struct {
	*connection
	events  *events
	headed  bool
	chunked bool
	left    int // bytes of the chunk that are still to come, and its line's end
	rest    rest
}

func (h *sseHandler) begin() {
	h.events = &events{connection: h.connection, stream: h.streams[0]}
	h.socket.write([]byte("GET " + eventsTarget(h.symbol(h.streams[0])) + " HTTP/1.1\r\nHost: " + h.reader.opts.Addr + "\r\nAccept: text/event-stream\r\n\r\n"))
}

var (
	errNoEvents = errors.New("no events")
	errChunk    = errors.New("a broken chunk")
)

func (h *sseHandler) feed(b []byte, atNS int64) error {
	b = h.rest.join(b)
	if !h.headed {
		end := bytes.Index(b, []byte("\r\n\r\n"))
		if end < 0 {
			h.rest.keep(b)
			return nil
		}
		if !bytes.HasPrefix(b, []byte("HTTP/1.1 200")) {
			return fmt.Errorf("%w: %.200q", errNoEvents, b)
		}
		h.headed = true
		h.chunked = bytes.Contains(bytes.ToLower(b[:end]), []byte("transfer-encoding: chunked"))
		b = b[end+4:]
	}
	if !h.chunked {
		h.rest.keep(nil)
		return h.events.feed(b, atNS)
	}
	for len(b) > 0 {
		if h.left > 0 {
			n := min(h.left, len(b))
			if body := min(n, h.left-2); body > 0 { // less the line's end
				if err := h.events.feed(b[:body], atNS); err != nil {
					return err
				}
			}
			h.left -= n
			b = b[n:]
			continue
		}
		end := bytes.Index(b, []byte("\r\n"))
		if end < 0 {
			break
		}
		size, err := strconv.ParseUint(string(b[:end]), 16, 31)
		if err != nil {
			return errChunk
		}
		if size == 0 {
			return errClosed
		}
		h.left = int(size) + 2
		b = b[end+2:]
	}
	h.rest.keep(b)
	return nil
}
