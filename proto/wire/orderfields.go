package wire

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tickgauge/tickgauge/order"
)

// The numbers of the .proto that orders and reports stand under, besides those of
// their own fields. An action's is its own number further: execute, cancel,
// replace stand in this order in both unions.
const (
	orderField       protowire.Number = 0 // OrderRequest
	streamOrderField protowire.Number = 3 // SubscribeRequest
	executionField   protowire.Number = 9 // MarketDataMessage
)

// appendExecutionProto appends the fields of an Execution, byte for byte as the
// generated code does.
func appendExecutionProto(dst []byte, e *order.Execution) []byte {
	dst = textField(dst, 1, e.Account)
	dst = textField(dst, 2, e.ClOrdID)
	dst = textField(dst, 3, e.Symbol)
	for i, v := range [...]uint64{
		uint64(e.Side), uint64(e.Type), uint64(e.TimeInForce), uint64(e.OrderQty), uint64(e.Price), // 4 to 8
		e.OrderID, e.ExecID, e.ReportSeq, uint64(e.ExecType), uint64(e.OrdStatus), uint64(e.CumQty), uint64(e.LeavesQty), // to 15
		uint64(e.LastQty), uint64(e.LastPx), uint64(e.AvgPx), uint64(e.TransactTimeNS), uint64(e.ServiceNS), // to 20
	} {
		dst = numberField(dst, protowire.Number(4+i), v)
	}
	dst = textField(dst, 21, e.OrigClOrdID)
	dst = textField(dst, 22, string(e.Reject))
	return textField(dst, 23, e.Text)
}

// appendOrderProto appends the fields of the message of the action. A field has
// the same number in each, and what the action does not use is zero.
func appendOrderProto(dst []byte, q *order.Request, padding string) []byte {
	dst = textField(dst, 1, q.Account)
	dst = textField(dst, 2, q.ClOrdID)
	dst = textField(dst, 3, q.Symbol)
	for i, v := range [...]uint64{uint64(q.Side), uint64(q.Type), uint64(q.TimeInForce), uint64(q.OrderQty), uint64(q.Price)} {
		dst = numberField(dst, protowire.Number(4+i), v)
	}
	dst = textField(dst, 21, q.OrigClOrdID)
	return textField(dst, 24, padding)
}

// appendOrderField appends the message of the action as a field of a union.
func appendOrderField(dst []byte, union protowire.Number, q *order.Request, padding string) []byte {
	return nested(dst, union+protowire.Number(q.Action), func(dst []byte) []byte { return appendOrderProto(dst, q, padding) })
}

func textField(dst []byte, number protowire.Number, v string) []byte {
	if v == "" {
		return dst
	}
	return protowire.AppendString(protowire.AppendTag(dst, number, protowire.BytesType), v)
}

func numberField(dst []byte, number protowire.Number, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return protowire.AppendVarint(protowire.AppendTag(dst, number, protowire.VarintType), v)
}

// nested appends a field that holds what body appends.
func nested(dst []byte, number protowire.Number, body func(dst []byte) []byte) []byte {
	dst = protowire.AppendTag(dst, number, protowire.BytesType)
	start := len(dst)
	dst = body(dst)
	size := len(dst) - start
	dst = protowire.AppendVarint(dst, uint64(size)) // makes the room that it needs in front
	copy(dst[start+protowire.SizeVarint(uint64(size)):], dst[start:start+size])
	protowire.AppendVarint(dst[:start], uint64(size))
	return dst
}
