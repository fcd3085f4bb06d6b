package wire

import (
	"github.com/tickgauge/tickgauge/order"
)

// PaddedOrder is a request on its way out: the message of its unary call, or
// where Stream is set the OrderRequest of a stream of orders.
type PaddedOrder struct {
	Request order.Request
	Padding string // as in AppendOrder
	Stream  bool
}

// AskedOrder is an order, or why it is none, as Asked is. Unary is set before
// decoding to the action of the unary call whose message it is; ActionNone takes
// the OrderRequest of a stream.
type AskedOrder struct {
	Unary   order.Action
	Request order.Request
	Err     error
}

// ReceivedExecution is a report with the time it reached the codec, before
// anything of it was read.
type ReceivedExecution struct {
	AtNS      int64 // CLOCK_MONOTONIC
	Execution order.Execution
}

// marshalOrder returns nothing for what is of market data.
func (c codec) marshalOrder(v any) (out []byte, known bool, err error) {
	switch v := v.(type) {
	case *order.Execution:
		out, err = AppendExecution(make([]byte, 0, executionRoom(c.enc, v)), c.enc, v)
	case *order.Request:
		out, err = AppendOrderRequest(make([]byte, 0, orderRoom(c.enc, v, "")), c.enc, v, "")
	case *PaddedOrder:
		room := make([]byte, 0, orderRoom(c.enc, &v.Request, v.Padding))
		if v.Stream {
			out, err = AppendOrderRequest(room, c.enc, &v.Request, v.Padding)
		} else {
			out, err = AppendOrder(room, c.enc, &v.Request, v.Padding)
		}
	case *StreamRequest:
		out, err = AppendStreamRequest(make([]byte, 0, orderRoom(c.enc, &v.Order, v.Padding)), c.enc, v)
	case *StreamMessage:
		var room []byte
		if v.Execution != nil {
			room = make([]byte, 0, executionRoom(c.enc, v.Execution))
		}
		out, err = AppendStreamMessage(room, c.enc, v)
	default:
		return nil, false, nil
	}
	return out, true, err
}

// unmarshalOrder reads nothing into what is of market data.
func (c codec) unmarshalOrder(data []byte, v any) (known bool, err error) {
	switch v := v.(type) {
	case *AskedOrder:
		if v.Unary != order.ActionNone {
			v.Err = UnmarshalOrder(c.enc, data, v.Unary, &v.Request)
		} else {
			v.Err = UnmarshalOrderRequest(c.enc, data, &v.Request)
		}
	case *ReceivedExecution:
		err = UnmarshalExecution(c.enc, data, &v.Execution)
	case *order.Execution:
		err = UnmarshalExecution(c.enc, data, v)
	case *order.Request:
		err = UnmarshalOrderRequest(c.enc, data, v)
	case *StreamRequest:
		err = UnmarshalStreamRequest(c.enc, data, v)
	case *StreamMessage:
		err = UnmarshalStreamMessage(c.enc, data, v)
	default:
		return false, nil
	}
	return true, err
}
