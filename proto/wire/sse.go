package wire

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// AppendEvent appends one whole SSE event: the word of the message as its
// event:, the cursor as its id: where the message has one, and in data: the whole
// MarketDataMessage, protobuf in base64 (standard, padded). A heartbeat is the
// comment ": heartbeat <sent_ns>". Ticks are an error, as their events are the
// hub's EventProtobuf and EventJSON; so are an empty message, a cursor that is no
// cursor, and what AppendMessage refuses.
func AppendEvent(dst []byte, enc Encoding, m *feed.Message) ([]byte, error) {
	name, cursor := "", ""
	switch {
	case len(m.Ticks) > 0:
		return dst, errors.New("encode SSE event: ticks are events of the hub's encoders")
	case m.Hello != nil:
		name = "hello"
	case m.Subscribed != nil:
		name, cursor = "subscribed", m.Subscribed.Cursor
	case m.Unsubscribed != nil:
		name = "unsubscribed"
	case m.Snapshot != nil:
		name, cursor = "snapshot", m.Snapshot.Cursor
	case m.Skipped != nil:
		name, cursor = "skipped", m.Skipped.Cursor
	case m.Problem != nil:
		name = "problem"
	case m.Heartbeat == nil:
		return dst, errors.New("encode SSE event: a message with nothing set")
	}
	payload, err := AppendMessage(nil, enc, m)
	if err != nil {
		return dst, fmt.Errorf("encode SSE event: %w", err)
	}
	if m.Heartbeat != nil {
		out := strconv.AppendInt(append(dst, ": heartbeat "...), m.Heartbeat.SentNS, 10)
		return append(out, "\n\n"...), nil
	}
	out := append(append(dst, "event: "...), name...)
	if cursor != "" {
		if _, err := feed.ParseCursor(cursor); err != nil {
			return dst, fmt.Errorf("encode SSE event %s: %w", name, err)
		}
		out = append(append(out, "\nid: "...), cursor...)
	}
	return appendEventData(append(out, '\n'), enc, payload), nil
}

// AppendExecutionEvent appends one whole SSE event, called execution, of a report.
// It has no id:, as that of ticks must stand; a client resumes from the report_seq.
// The errors are those of AppendExecution.
func AppendExecutionEvent(dst []byte, enc Encoding, e *order.Execution) ([]byte, error) {
	payload, err := AppendExecutionMessage(make([]byte, 0, executionRoom(enc, e)), enc, e)
	if err != nil {
		return dst, fmt.Errorf("encode SSE event: %w", err)
	}
	return appendEventData(append(dst, "event: execution\n"...), enc, payload), nil
}

func appendEventData(dst []byte, enc Encoding, payload []byte) []byte {
	dst = append(dst, "data: "...)
	if enc == Protobuf {
		dst = base64.StdEncoding.AppendEncode(dst, payload)
	} else {
		dst = append(dst, payload...)
	}
	return append(dst, "\n\n"...)
}

// UnmarshalEventData reads the data: of an SSE event into m as UnmarshalMessage
// does, for protobuf through base64.
func UnmarshalEventData(enc Encoding, data []byte, m *feed.Message) error {
	return unmarshalEventData(enc, data, m, nil)
}

// UnmarshalStreamEventData does so as UnmarshalStreamMessage does.
func UnmarshalStreamEventData(enc Encoding, data []byte, m *StreamMessage) error {
	return unmarshalEventData(enc, data, &m.Feed, &m.Execution)
}

func unmarshalEventData(enc Encoding, data []byte, m *feed.Message, e **order.Execution) error {
	if enc == Protobuf {
		raw, err := base64.StdEncoding.Strict().AppendDecode(nil, data)
		if err != nil {
			*m = feed.Message{Ticks: m.Ticks[:0]}
			if e != nil {
				*e = nil
			}
			return fmt.Errorf("decode SSE data: %w", err)
		}
		data = raw
	}
	return unmarshalMessage(enc, data, m, e)
}
