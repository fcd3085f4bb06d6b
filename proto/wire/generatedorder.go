package wire

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/order"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// marshalGeneratedOrder is marshalGeneratedJSON for the messages of OrderEntry.
func marshalGeneratedOrder(v proto.Message) ([]byte, error) {
	var q order.Request
	switch v := v.(type) {
	case *pb.Order:
		if err := executeFromProto(v, &q); err != nil {
			return nil, fmt.Errorf("encode json order: %w", err)
		}
		return AppendOrder(nil, JSON, &q, v.GetPadding())
	case *pb.CancelRequest:
		q = CancelFromProto(v)
		return AppendOrder(nil, JSON, &q, "")
	case *pb.ReplaceRequest:
		q = ReplaceFromProto(v)
		return AppendOrder(nil, JSON, &q, "")
	case *pb.OrderRequest:
		if err := orderRequestFromProto(v, &q); err != nil {
			return nil, fmt.Errorf("encode json order: %w", err)
		}
		return AppendOrderRequest(nil, JSON, &q, v.GetExecute().GetPadding())
	case *pb.Execution:
		e, err := ExecutionFromProto(v)
		if err != nil {
			return nil, err
		}
		return AppendExecution(nil, JSON, &e)
	case *pb.GetOrderRequest:
		return namesJSON(v.GetAccount(), v.GetClOrdId(), nil)
	case *pb.WatchExecutionsRequest:
		return namesJSON(v.GetAccount(), "", v.AfterReportSeq)
	}
	return protojson.Marshal(v)
}

// namesJSON writes the requests that only name what they are about.
func namesJSON(account, clOrdID string, after *uint64) ([]byte, error) {
	if err := errors.Join(checkText("account", account), checkText("clOrdId", clOrdID)); err != nil {
		return nil, fmt.Errorf("encode json request: %w", err)
	}
	dst := textMember([]byte{'{'}, "account", account)
	dst = textMember(dst, "clOrdId", clOrdID)
	if after != nil {
		dst = seqMember(dst, "afterReportSeq", *after)
	}
	return append(dst, '}'), nil
}

// unmarshalGeneratedOrder is unmarshalGeneratedJSON for the messages of
// OrderEntry. The padding of orders is not kept.
func unmarshalGeneratedOrder(data []byte, v proto.Message) error {
	var q order.Request
	switch v := v.(type) {
	case *pb.Order:
		if err := UnmarshalOrder(JSON, data, order.ActionExecute, &q); err != nil {
			return err
		}
		proto.Merge(v, executeToProto(&q, ""))
	case *pb.CancelRequest:
		if err := UnmarshalOrder(JSON, data, order.ActionCancel, &q); err != nil {
			return err
		}
		proto.Merge(v, cancelToProto(&q))
	case *pb.ReplaceRequest:
		if err := UnmarshalOrder(JSON, data, order.ActionReplace, &q); err != nil {
			return err
		}
		proto.Merge(v, replaceToProto(&q))
	case *pb.OrderRequest:
		if err := UnmarshalOrderRequest(JSON, data, &q); err != nil {
			return err
		}
		proto.Merge(v, orderRequestToProto(&q, ""))
	case *pb.Execution:
		var e order.Execution
		if err := UnmarshalExecution(JSON, data, &e); err != nil {
			return err
		}
		proto.Merge(v, ExecutionToProto(&e))
	case *pb.GetOrderRequest:
		return unmarshalNamesJSON(data, &v.Account, &v.ClOrdId, nil)
	case *pb.WatchExecutionsRequest:
		return unmarshalNamesJSON(data, &v.Account, nil, &v.AfterReportSeq)
	default:
		return protojson.Unmarshal(data, v)
	}
	return nil
}

// unmarshalNamesJSON reads what namesJSON writes; a member without a place is not known.
func unmarshalNamesJSON(data []byte, account, clOrdID *string, after **uint64) error {
	err := readJSON(data, "", true, func(r *reader) error {
		return r.object(func(name []byte) error {
			switch word := string(name); {
			case word == "account":
				return r.string(account)
			case word == "clOrdId" && clOrdID != nil:
				return r.string(clOrdID)
			case word == "afterReportSeq" && after != nil:
				*after = new(uint64)
				return r.uint64(*after)
			}
			return r.unknown()
		})
	})
	if err != nil {
		return fmt.Errorf("decode JSON request: %w", err)
	}
	return nil
}
