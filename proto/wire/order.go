package wire

import (
	"fmt"
	"strings"

	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// AppendOrder appends a request as the message of the call that its Action is
// for, which is also the body of POST and PUT: Order, CancelRequest or
// ReplaceRequest. Padding makes an Order larger, by as much in either encoding,
// and is not for the others. No action, a field that the action does not use,
// text that is not UTF-8 and enumerations without a name are errors.
func AppendOrder(dst []byte, enc Encoding, q *order.Request, padding string) ([]byte, error) {
	if err := checkOrder(q, padding); err != nil {
		return dst, fmt.Errorf("encode %s order: %w", enc, err)
	}
	switch enc {
	case Protobuf:
		return appendOrderProto(dst, q, padding), nil
	case JSON:
		return appendOrderJSON(dst, q, padding), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalOrder reads what AppendOrder writes for an action, the one that the
// call is for, into q, whose former content goes. Padding is passed over. A number
// that does not fit, an enumeration's value that is not known and, in JSON, an
// unknown member are errors that name the member. What the desk would refuse is
// none. After an error q holds nothing of use.
func UnmarshalOrder(enc Encoding, data []byte, action order.Action, q *order.Request) error {
	q.Action = action
	switch enc {
	case Protobuf:
		if err := unmarshalOrderProto(data, q); err != nil {
			return fmt.Errorf("decode protobuf order: %w", err)
		}
	case JSON:
		if !actionKnown(action) {
			return fmt.Errorf("decode JSON order: %w", errNoOrder)
		}
		if err := readJSON(data, "", true, func(r *reader) error { return r.order(q) }); err != nil {
			return fmt.Errorf("decode JSON order: %w", err)
		}
	default:
		return unknownEncoding(enc)
	}
	return nil
}

// AppendOrderRequest appends a request as the OrderRequest of a stream of orders,
// with what AppendOrder says of padding and of errors.
func AppendOrderRequest(dst []byte, enc Encoding, q *order.Request, padding string) ([]byte, error) {
	if err := checkOrder(q, padding); err != nil {
		return dst, fmt.Errorf("encode %s order: %w", enc, err)
	}
	switch enc {
	case Protobuf:
		return appendOrderField(dst, orderField, q, padding), nil
	case JSON:
		return appendOrderMember(dst, q, padding), nil
	}
	return dst, unknownEncoding(enc)
}

// UnmarshalOrderRequest reads what AppendOrderRequest writes into q, whose former
// content goes. Its errors are those of UnmarshalOrder, none known of execute,
// cancel and replace, and in JSON several of them.
func UnmarshalOrderRequest(enc Encoding, data []byte, q *order.Request) error {
	switch enc {
	case Protobuf:
		var p pb.OrderRequest
		if err := unmarshalProto(data, &p); err != nil {
			return fmt.Errorf("decode protobuf order: %w", err)
		}
		if err := orderRequestFromProto(&p, q); err != nil {
			return fmt.Errorf("decode protobuf order: %w", err)
		}
	case JSON:
		if err := unmarshalOrderRequestJSON(data, q); err != nil {
			return fmt.Errorf("decode JSON order: %w", err)
		}
	default:
		return unknownEncoding(enc)
	}
	return nil
}

// orderRoom is about what a request takes, so that it is allocated once.
func orderRoom(enc Encoding, q *order.Request, padding string) int {
	texts := len(q.Account) + len(q.ClOrdID) + len(q.OrigClOrdID) + len(q.Symbol) + len(padding)
	if enc == Protobuf {
		return texts + 64
	}
	return texts + 256
}

// OrderPadding returns the padding that makes a new order size bytes long as
// AppendOrder writes it, a byte or two less where no padding can; empty where it
// is as long without.
func OrderPadding(enc Encoding, q *order.Request, size int) string {
	bare, err := AppendOrder(nil, enc, q, "")
	if err != nil || len(bare) >= size {
		return ""
	}
	padding := strings.Repeat("x", size-len(bare))
	padded, err := AppendOrder(nil, enc, q, padding)
	if err != nil {
		return ""
	}
	return padding[:max(0, len(padding)-(len(padded)-size))]
}
