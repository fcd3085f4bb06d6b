package wire

import (
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// OrderFromProto returns the request of a new order, without its padding; a side,
// an ord_type or a time_in_force that is not known is an error.
func OrderFromProto(p *pb.Order) (order.Request, error) {
	var q order.Request
	if err := executeFromProto(p, &q); err != nil {
		return order.Request{}, fmt.Errorf("decode protobuf order: %w", err)
	}
	return q, nil
}

func executeFromProto(p *pb.Order, q *order.Request) (err error) {
	*q = order.Request{
		Action:   order.ActionExecute,
		Account:  p.GetAccount(),
		ClOrdID:  p.GetClOrdId(),
		Symbol:   p.GetSymbol(),
		OrderQty: feed.Size(p.GetOrderQty()),
		Price:    feed.Price(p.GetPrice()),
	}
	q.Side, q.Type, q.TimeInForce, err = enumsFromProto(p)
	return err
}

// enumsFromProto reads what an order and its reports have in common.
func enumsFromProto(p interface {
	GetSide() pb.Side
	GetOrdType() pb.OrdType
	GetTimeInForce() pb.TimeInForce
}) (side feed.Side, typ order.Type, tif order.TimeInForce, err error) {
	if side, err = enumFromProto[feed.Side]("side", p.GetSide(), sideNames); err != nil {
		return 0, 0, 0, err
	}
	if typ, err = enumFromProto[order.Type]("ordType", p.GetOrdType(), ordTypeNames); err != nil {
		return 0, 0, 0, err
	}
	tif, err = enumFromProto[order.TimeInForce]("timeInForce", p.GetTimeInForce(), tifNames)
	return side, typ, tif, err
}

// CancelFromProto returns the request to cancel an order.
func CancelFromProto(p *pb.CancelRequest) order.Request {
	return order.Request{Action: order.ActionCancel, Account: p.GetAccount(), ClOrdID: p.GetClOrdId(), OrigClOrdID: p.GetOrigClOrdId()}
}

// ReplaceFromProto returns the request to replace an order.
func ReplaceFromProto(p *pb.ReplaceRequest) order.Request {
	return order.Request{Action: order.ActionReplace, Account: p.GetAccount(), ClOrdID: p.GetClOrdId(), OrigClOrdID: p.GetOrigClOrdId(),
		OrderQty: feed.Size(p.GetOrderQty()), Price: feed.Price(p.GetPrice())}
}

// unmarshalOrderProto reads the message of q's action into q.
func unmarshalOrderProto(data []byte, q *order.Request) error {
	switch q.Action {
	case order.ActionExecute:
		var p pb.Order
		if err := unmarshalProto(data, &p); err != nil {
			return err
		}
		return executeFromProto(&p, q)
	case order.ActionCancel:
		var p pb.CancelRequest
		err := unmarshalProto(data, &p)
		*q = CancelFromProto(&p)
		return err
	case order.ActionReplace:
		var p pb.ReplaceRequest
		err := unmarshalProto(data, &p)
		*q = ReplaceFromProto(&p)
		return err
	}
	return errNoOrder
}

func orderRequestFromProto(p *pb.OrderRequest, q *order.Request) error {
	switch r := p.GetRequest().(type) {
	case *pb.OrderRequest_Execute:
		return named("execute", executeFromProto(r.Execute, q))
	case *pb.OrderRequest_Cancel:
		*q = CancelFromProto(r.Cancel)
	case *pb.OrderRequest_Replace:
		*q = ReplaceFromProto(r.Replace)
	default:
		return errNoOrder
	}
	return nil
}

// named puts a member in front of an error that starts with what is in it.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s.%w", name, err)
}

// ExecutionToProto returns the report as the generated type.
func ExecutionToProto(e *order.Execution) *pb.Execution {
	return &pb.Execution{
		Account:      e.Account,
		ClOrdId:      e.ClOrdID,
		OrigClOrdId:  e.OrigClOrdID,
		Symbol:       e.Symbol,
		Side:         pb.Side(e.Side),
		OrdType:      pb.OrdType(e.Type),
		TimeInForce:  pb.TimeInForce(e.TimeInForce),
		OrderQty:     int64(e.OrderQty),
		Price:        int64(e.Price),
		OrderId:      e.OrderID,
		ExecId:       e.ExecID,
		ReportSeq:    e.ReportSeq,
		ExecType:     pb.ExecType(e.ExecType),
		OrdStatus:    pb.OrdStatus(e.OrdStatus),
		LastQty:      int64(e.LastQty),
		LastPx:       int64(e.LastPx),
		CumQty:       int64(e.CumQty),
		LeavesQty:    int64(e.LeavesQty),
		AvgPx:        int64(e.AvgPx),
		OrdRejReason: string(e.Reject),
		Text:         e.Text,
		TransactTime: e.TransactTimeNS,
		ServiceNs:    e.ServiceNS,
	}
}

// ExecutionFromProto returns the report of the generated type; an enumeration's
// value that is not known is an error, and a nil p is a zero report.
func ExecutionFromProto(p *pb.Execution) (order.Execution, error) {
	var e order.Execution
	if err := executionFromProto(p, &e); err != nil {
		return order.Execution{}, fmt.Errorf("decode protobuf execution: %w", err)
	}
	return e, nil
}

func executionFromProto(p *pb.Execution, e *order.Execution) (err error) {
	*e = order.Execution{
		Account:        p.GetAccount(),
		ClOrdID:        p.GetClOrdId(),
		OrigClOrdID:    p.GetOrigClOrdId(),
		Symbol:         p.GetSymbol(),
		OrderQty:       feed.Size(p.GetOrderQty()),
		Price:          feed.Price(p.GetPrice()),
		OrderID:        p.GetOrderId(),
		ExecID:         p.GetExecId(),
		ReportSeq:      p.GetReportSeq(),
		LastQty:        feed.Size(p.GetLastQty()),
		LastPx:         feed.Price(p.GetLastPx()),
		CumQty:         feed.Size(p.GetCumQty()),
		LeavesQty:      feed.Size(p.GetLeavesQty()),
		AvgPx:          feed.Price(p.GetAvgPx()),
		Reject:         order.RejectCode(p.GetOrdRejReason()),
		Text:           p.GetText(),
		TransactTimeNS: p.GetTransactTime(),
		ServiceNS:      p.GetServiceNs(),
	}
	if e.Side, e.Type, e.TimeInForce, err = enumsFromProto(p); err != nil {
		return err
	}
	if e.ExecType, err = enumFromProto[order.ExecType]("execType", p.GetExecType(), execTypeNames); err != nil {
		return err
	}
	e.OrdStatus, err = enumFromProto[order.Status]("ordStatus", p.GetOrdStatus(), statusNames)
	return err
}

func executeToProto(q *order.Request, padding string) *pb.Order {
	return &pb.Order{Account: q.Account, ClOrdId: q.ClOrdID, Symbol: q.Symbol, Side: pb.Side(q.Side), OrdType: pb.OrdType(q.Type),
		TimeInForce: pb.TimeInForce(q.TimeInForce), OrderQty: int64(q.OrderQty), Price: int64(q.Price), Padding: padding}
}

func cancelToProto(q *order.Request) *pb.CancelRequest {
	return &pb.CancelRequest{Account: q.Account, ClOrdId: q.ClOrdID, OrigClOrdId: q.OrigClOrdID}
}

func replaceToProto(q *order.Request) *pb.ReplaceRequest {
	return &pb.ReplaceRequest{Account: q.Account, ClOrdId: q.ClOrdID, OrigClOrdId: q.OrigClOrdID,
		OrderQty: int64(q.OrderQty), Price: int64(q.Price)}
}

func orderRequestToProto(q *order.Request, padding string) *pb.OrderRequest {
	switch q.Action {
	case order.ActionCancel:
		return &pb.OrderRequest{Request: &pb.OrderRequest_Cancel{Cancel: cancelToProto(q)}}
	case order.ActionReplace:
		return &pb.OrderRequest{Request: &pb.OrderRequest_Replace{Replace: replaceToProto(q)}}
	}
	return &pb.OrderRequest{Request: &pb.OrderRequest_Execute{Execute: executeToProto(q, padding)}}
}

// streamRequestToProto takes a request that AppendStreamRequest would.
func streamRequestToProto(q *StreamRequest) *pb.SubscribeRequest {
	switch q.Order.Action {
	case order.ActionExecute:
		return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Execute{Execute: executeToProto(&q.Order, q.Padding)}}
	case order.ActionCancel:
		return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Cancel{Cancel: cancelToProto(&q.Order)}}
	case order.ActionReplace:
		return &pb.SubscribeRequest{Request: &pb.SubscribeRequest_Replace{Replace: replaceToProto(&q.Order)}}
	}
	return requestToProto(&q.Feed)
}

// streamMessageToProto takes a message that AppendStreamMessage would.
func streamMessageToProto(m *StreamMessage) *pb.MarketDataMessage {
	if m.Execution == nil {
		return messageToProto(&m.Feed)
	}
	return &pb.MarketDataMessage{Event: &pb.MarketDataMessage_Execution{Execution: ExecutionToProto(m.Execution)}}
}
