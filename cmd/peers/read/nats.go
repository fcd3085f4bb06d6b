package read

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// natsHandler is a client's side of the NATS protocol, on a socket or in the
// frames of a WebSocket.
type natsHandler struct {
	*connection
	send func([]byte)
	rest rest
}

func newNATSMessages(c *connection, send func([]byte)) messages {
	return &natsHandler{connection: c, send: send}
}

// begin waits for the server's INFO.
func (h *natsHandler) begin() {}

var (
	errNATS      = errors.New("nats: a line that is none")
	errNATSError = errors.New("nats")
)

func (h *natsHandler) feed(b []byte, atNS int64) error {
	b = h.rest.join(b)
	for {
		end := bytes.Index(b, []byte("\r\n"))
		if end < 0 {
			break
		}
		line, after := b[:end], b[end+2:]
		if bytes.HasPrefix(line, []byte("MSG ")) { // subject, sid, size
			size, err := strconv.Atoi(string(line[bytes.LastIndexByte(line, ' ')+1:]))
			if err != nil || size < 0 || size > maxMessage {
				return errNATS
			}
			if len(after) < size+2 {
				break
			}
			if _, err := h.reader.account.message(h.streams[0], after[:size], atNS); err != nil {
				return err
			}
			b = after[size+2:]
			continue
		}
		b = after
		if err := h.line(line); err != nil {
			return err
		}
	}
	if len(b) > maxMessage {
		return errTooLong
	}
	h.rest.keep(b)
	return nil
}

func (h *natsHandler) line(line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte("INFO ")):
		if h.waiting > 0 { // the server may tell again later
			h.send([]byte(`CONNECT {"verbose":false,"pedantic":false,"protocol":1,"lang":"peers","version":"1"}` +
				"\r\nSUB " + h.symbol(h.streams[0]) + " 1\r\nPING\r\n"))
		}
	case string(line) == "PONG":
		if h.waiting > 0 {
			h.opened()
		}
	case string(line) == "PING":
		h.send([]byte("PONG\r\n"))
	case bytes.HasPrefix(line, []byte("-ERR")):
		return fmt.Errorf("%w: %s", errNATSError, line)
	}
	return nil
}
