package wire

import (
	"errors"
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

var errNoStreamRequest = errors.New("want exactly one of subscribe, unsubscribe, ping, execute, cancel, replace")

// StreamRequest is what a client says on a stream that takes orders beside market
// data, a SubscribeRequest: exactly one of Feed's fields, or an Order that has an
// action.
type StreamRequest struct {
	Feed    feed.Request
	Order   order.Request
	Padding string // as in AppendOrder; never read back
}

// StreamMessage is what the exchange says on such a stream, a MarketDataMessage:
// an Execution, or where that is nil what Feed holds.
type StreamMessage struct {
	Feed      feed.Message
	Execution *order.Execution
}

// AppendStreamRequest appends q with the errors of AppendRequest and AppendOrder;
// not exactly one request in it is one too.
func AppendStreamRequest(dst []byte, enc Encoding, q *StreamRequest) ([]byte, error) {
	if q.Order.Action == order.ActionNone {
		if q.Feed == (feed.Request{}) {
			return dst, fmt.Errorf("encode %s request: %w", enc, errNoStreamRequest)
		}
		return AppendRequest(dst, enc, &q.Feed)
	}
	err := checkOrder(&q.Order, q.Padding)
	if q.Feed != (feed.Request{}) {
		err = errNoStreamRequest
	}
	if err != nil {
		return dst, fmt.Errorf("encode %s request: %w", enc, err)
	}
	switch enc {
	case Protobuf:
		return appendOrderField(dst, streamOrderField, &q.Order, q.Padding), nil
	case JSON:
		return appendOrderMember(dst, &q.Order, q.Padding), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalStreamRequest reads a request into q, whose former content goes, with
// the errors of UnmarshalRequest and UnmarshalOrder.
func UnmarshalStreamRequest(enc Encoding, data []byte, q *StreamRequest) error {
	q.Padding = ""
	return unmarshalRequest(enc, data, &q.Feed, &q.Order)
}

// AppendStreamMessage appends m with the errors of AppendMessage or
// AppendExecutionMessage; an Execution beside something in Feed is one too.
func AppendStreamMessage(dst []byte, enc Encoding, m *StreamMessage) ([]byte, error) {
	switch {
	case m.Execution == nil:
		return AppendMessage(dst, enc, &m.Feed)
	case !oneAtMost(&m.Feed, m.Execution):
		return dst, fmt.Errorf("encode %s message: %w", enc, errSeveral)
	}
	return AppendExecutionMessage(dst, enc, m.Execution)
}

// UnmarshalStreamMessage reads a message into m as UnmarshalMessage does, an
// execution too. An Execution is always a new one.
func UnmarshalStreamMessage(enc Encoding, data []byte, m *StreamMessage) error {
	return unmarshalMessage(enc, data, &m.Feed, &m.Execution)
}
