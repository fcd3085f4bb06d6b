package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// AppendMessage appends a message of the exchange. More than one field of m set,
// text that is not UTF-8 (outside a Problem, where it is mended) and values that
// the wire has no room for are errors. A message with nothing set is a message
// of no ticks.
func AppendMessage(dst []byte, enc Encoding, m *feed.Message) ([]byte, error) {
	if err := checkMessage(m); err != nil {
		return dst, fmt.Errorf("encode %s message: %w", enc, err)
	}
	switch {
	case enc == Protobuf && len(m.Ticks) > 0:
		for i := range m.Ticks {
			dst = appendTickField(dst, &m.Ticks[i])
		}
		return dst, nil
	case enc == Protobuf:
		return marshalProto(dst, messageToProto(m))
	case enc == JSON:
		return appendMessageJSON(dst, m), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalMessage reads a message of the exchange into m, whose former content
// goes, except that the capacity of m.Ticks is used again. Ticks beside an event
// are refused; of several events JSON is refused, and protobuf keeps the last, as
// a oneof does. A message whose only field is not known yet, one of an execution and
// an empty one leave nothing set. After an error m holds nothing of use.
func UnmarshalMessage(enc Encoding, data []byte, m *feed.Message) error {
	return unmarshalMessage(enc, data, m, nil)
}

// unmarshalMessage passes over executions where it is given no place for one.
func unmarshalMessage(enc Encoding, data []byte, m *feed.Message, e **order.Execution) error {
	*m = feed.Message{Ticks: m.Ticks[:0]}
	if e != nil {
		*e = nil
	}
	switch enc {
	case Protobuf:
		var p pb.MarketDataMessage
		if err := unmarshalProto(data, &p); err != nil {
			return fmt.Errorf("decode protobuf message: %w", err)
		}
		if err := messageFromProto(&p, m, e); err != nil {
			return fmt.Errorf("decode protobuf message: %w", err)
		}
	case JSON:
		if err := unmarshalMessageJSON(data, m, e); err != nil {
			return fmt.Errorf("decode JSON message: %w", err)
		}
	default:
		return unknownEncoding(enc)
	}
	return nil
}

// AppendRequest appends what a subscriber says. Not exactly one field of q set,
// text that is not UTF-8 and an unknown policy are errors.
func AppendRequest(dst []byte, enc Encoding, q *feed.Request) ([]byte, error) {
	if err := checkRequest(q); err != nil {
		return dst, fmt.Errorf("encode %s request: %w", enc, err)
	}
	switch enc {
	case Protobuf:
		return marshalProto(dst, requestToProto(q))
	case JSON:
		return appendRequestJSON(dst, q), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalRequest reads what a subscriber says into q, whose former content
// goes. A request that says nothing known, one that is an order, an unknown policy
// and, in JSON, an unknown member or several requests in one are errors that name
// the member. After an error q holds nothing of use.
func UnmarshalRequest(enc Encoding, data []byte, q *feed.Request) error {
	return unmarshalRequest(enc, data, q, nil)
}

// unmarshalRequest refuses orders where it is given no place for one.
func unmarshalRequest(enc Encoding, data []byte, q *feed.Request, o *order.Request) error {
	*q = feed.Request{}
	if o != nil {
		o.Action = order.ActionNone
	}
	switch enc {
	case Protobuf:
		var p pb.SubscribeRequest
		if err := unmarshalProto(data, &p); err != nil {
			return fmt.Errorf("decode protobuf request: %w", err)
		}
		if err := requestFromProto(&p, q, o); err != nil {
			return fmt.Errorf("decode protobuf request: %w", err)
		}
	case JSON:
		if err := unmarshalRequestJSON(data, q, o); err != nil {
			return fmt.Errorf("decode JSON request: %w", err)
		}
	default:
		return unknownEncoding(enc)
	}
	return nil
}

func marshalProto(dst []byte, m proto.Message) ([]byte, error) {
	out, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(dst, m)
	if err != nil {
		return dst, fmt.Errorf("encode protobuf: %w", err)
	}
	return out, nil
}

func unmarshalProto(data []byte, m proto.Message) error {
	return proto.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(data, m)
}
