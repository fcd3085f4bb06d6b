package wire

import (
	"reflect"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// drawOrder makes a request of any action with what that action uses.
func drawOrder(t *rapid.T) order.Request {
	return drawOrderOf(t, order.Action(rapid.IntRange(1, 3).Draw(t, "action")))
}

func drawOrderOf(t *rapid.T, action order.Action) order.Request {
	q := order.Request{Action: action, Account: rapid.String().Draw(t, "account"), ClOrdID: rapid.String().Draw(t, "clOrdId")}
	if q.Action != order.ActionExecute {
		q.OrigClOrdID = rapid.String().Draw(t, "origClOrdId")
	}
	if q.Action != order.ActionCancel {
		q.OrderQty = feed.Size(rapid.Int64().Draw(t, "orderQty"))
		q.Price = feed.Price(rapid.Int64().Draw(t, "price"))
	}
	if q.Action == order.ActionExecute {
		q.Symbol = rapid.String().Draw(t, "symbol")
		q.Side = drawEnum[feed.Side](t, sideNames)
		q.Type = drawEnum[order.Type](t, ordTypeNames)
		q.TimeInForce = drawEnum[order.TimeInForce](t, tifNames)
	}
	return q
}

func drawPadding(t *rapid.T, q *order.Request) string {
	if q.Action != order.ActionExecute {
		return ""
	}
	return rapid.String().Draw(t, "padding")
}

func drawExecution(t *rapid.T) order.Execution {
	return order.Execution{
		Account:        rapid.String().Draw(t, "account"),
		ClOrdID:        rapid.String().Draw(t, "clOrdId"),
		OrigClOrdID:    rapid.String().Draw(t, "origClOrdId"),
		Symbol:         rapid.String().Draw(t, "symbol"),
		Side:           drawEnum[feed.Side](t, sideNames),
		Type:           drawEnum[order.Type](t, ordTypeNames),
		TimeInForce:    drawEnum[order.TimeInForce](t, tifNames),
		OrderQty:       feed.Size(rapid.Int64().Draw(t, "orderQty")),
		Price:          feed.Price(rapid.Int64().Draw(t, "price")),
		OrderID:        rapid.Uint64().Draw(t, "orderId"),
		ExecID:         rapid.Uint64().Draw(t, "execId"),
		ReportSeq:      rapid.Uint64().Draw(t, "reportSeq"),
		ExecType:       drawEnum[order.ExecType](t, execTypeNames),
		OrdStatus:      drawEnum[order.Status](t, statusNames),
		LastQty:        feed.Size(rapid.Int64().Draw(t, "lastQty")),
		LastPx:         feed.Price(rapid.Int64().Draw(t, "lastPx")),
		CumQty:         feed.Size(rapid.Int64().Draw(t, "cumQty")),
		LeavesQty:      feed.Size(rapid.Int64().Draw(t, "leavesQty")),
		AvgPx:          feed.Price(rapid.Int64().Draw(t, "avgPx")),
		Reject:         order.RejectCode(rapid.String().Draw(t, "ordRejReason")),
		Text:           rapid.String().Draw(t, "text"),
		TransactTimeNS: rapid.Int64().Draw(t, "transactTime"),
		ServiceNS:      rapid.Int64().Draw(t, "serviceNs"),
	}
}

func drawStreamRequest(t *rapid.T) StreamRequest {
	if rapid.Bool().Draw(t, "order") {
		return StreamRequest{Order: drawOrder(t)}
	}
	return StreamRequest{Feed: drawRequest(t)}
}

func drawStreamMessage(t *rapid.T) StreamMessage {
	if rapid.Bool().Draw(t, "execution") {
		e := drawExecution(t)
		return StreamMessage{Execution: &e}
	}
	return StreamMessage{Feed: drawMessage(t)}
}

// sameStreamRequest does not compare what an Order without an action holds.
func sameStreamRequest(a, b StreamRequest) bool {
	if a.Order.Action == order.ActionNone && b.Order.Action == order.ActionNone {
		a.Order, b.Order = order.Request{}, order.Request{}
	}
	return a.Order == b.Order && a.Padding == b.Padding && reflect.DeepEqual(a.Feed, b.Feed)
}

func sameStreamMessage(a, b StreamMessage) bool {
	if a.Execution == nil || b.Execution == nil {
		return a.Execution == b.Execution && sameMessage(a.Feed, b.Feed)
	}
	return *a.Execution == *b.Execution && sameMessage(a.Feed, b.Feed)
}

// unaryToProto returns the message of the action as the generated code has it.
func unaryToProto(q *order.Request, padding string) proto.Message {
	switch q.Action {
	case order.ActionCancel:
		return cancelToProto(q)
	case order.ActionReplace:
		return replaceToProto(q)
	}
	return executeToProto(q, padding)
}
