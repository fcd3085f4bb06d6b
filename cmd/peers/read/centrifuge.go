package read

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// centrifugeMessages is centrifuge's protobuf protocol: in each frame commands, or
// replies, each behind its length as a varint.
type centrifugeMessages struct {
	*connection
	send func([]byte)
}

func newCentrifugeMessages(c *connection, send func([]byte)) messages {
	return &centrifugeMessages{c, send}
}

// Fields of centrifuge's Command, Reply, Push and Publication.
const (
	commandID        = 1
	commandConnect   = 4
	commandSubscribe = 5
	subscribeChannel = 1
	replyError       = 2
	replyPush        = 4
	replySubscribe   = 6
	pushPublication  = 4
	publicationData  = 4
)

func (h *centrifugeMessages) begin() {
	connect := appendField(appendVarint(nil, commandID, 1), commandConnect, nil)
	subscribe := appendField(appendVarint(nil, commandID, 2), commandSubscribe,
		appendField(nil, subscribeChannel, []byte(h.symbol(h.streams[0]))))
	var out []byte
	for _, c := range [][]byte{connect, subscribe} {
		out = append(binary.AppendUvarint(out, uint64(len(c))), c...)
	}
	h.send(out)
}

func appendVarint(dst []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(dst, field, protowire.VarintType), v)
}

func appendField(dst []byte, field protowire.Number, b []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, field, protowire.BytesType), b)
}

var errCentrifuge = errors.New("centrifuge: no reply")

func (h *centrifugeMessages) feed(b []byte, atNS int64) error {
	for len(b) > 0 {
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return errCentrifuge
		}
		reply := b[n : n+int(size)]
		b = b[n+int(size):]
		if len(reply) == 0 { // a ping, which wants an empty command
			h.send([]byte{0})
			continue
		}
		if why := field(reply, replyError); why != nil {
			return fmt.Errorf("centrifuge: error %q", why)
		}
		if field(reply, replySubscribe) != nil {
			h.opened()
			continue
		}
		if data := field(field(field(reply, replyPush), pushPublication), publicationData); data != nil {
			if _, err := h.reader.account.message(h.streams[0], data, atNS); err != nil {
				return err
			}
		}
	}
	return nil
}

// field returns the last length-delimited field of a number, nil where there is none.
func field(b []byte, want protowire.Number) []byte {
	var out []byte
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(number, kind, b)
		if size < 0 {
			return nil
		}
		if number == want && kind == protowire.BytesType {
			out, _ = protowire.ConsumeBytes(b)
			if out == nil {
				out = []byte{}
			}
		}
		b = b[size:]
	}
	return out
}
