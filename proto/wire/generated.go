package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/feed"
	pb "github.com/tickgauge/tickgauge/proto/tickgauge/v1"
)

// marshalGeneratedJSON writes the generated messages of tickgauge.v1 in the JSON
// of this package, and those of others (health, reflection) as protojson.
func marshalGeneratedJSON(v proto.Message) ([]byte, error) {
	switch v := v.(type) {
	case *pb.Tick:
		t, err := TickFromProto(v)
		if err != nil {
			return nil, err
		}
		return AppendTick(nil, &t)
	case *pb.SymbolList:
		return AppendSymbols(nil, SymbolsFromProto(v))
	case *pb.MarketDataMessage:
		var m StreamMessage
		if err := messageFromProto(v, &m.Feed, &m.Execution); err != nil {
			return nil, fmt.Errorf("encode json message: %w", err)
		}
		return AppendStreamMessage(nil, JSON, &m)
	case *pb.SubscribeRequest:
		q := StreamRequest{Padding: v.GetExecute().GetPadding()}
		if err := requestFromProto(v, &q.Feed, &q.Order); err != nil {
			return nil, fmt.Errorf("encode json request: %w", err)
		}
		return AppendStreamRequest(nil, JSON, &q)
	}
	return marshalGeneratedOrder(v)
}

// unmarshalGeneratedJSON reads what marshalGeneratedJSON writes. The requests of
// MarketData's unary calls hold one word alone, where protojson and this package agree: both refuse
// an unknown member.
func unmarshalGeneratedJSON(data []byte, v proto.Message) error {
	proto.Reset(v)
	switch v := v.(type) {
	case *pb.Tick:
		var t feed.Tick
		if err := UnmarshalTick(data, &t); err != nil {
			return err
		}
		proto.Merge(v, TickToProto(&t))
	case *pb.SymbolList:
		symbols, err := UnmarshalSymbols(data)
		if err != nil {
			return err
		}
		proto.Merge(v, SymbolsToProto(symbols))
	case *pb.MarketDataMessage:
		var m StreamMessage
		if err := UnmarshalStreamMessage(JSON, data, &m); err != nil {
			return err
		}
		proto.Merge(v, streamMessageToProto(&m))
	case *pb.SubscribeRequest:
		var q StreamRequest
		if err := UnmarshalStreamRequest(JSON, data, &q); err != nil {
			return err
		}
		proto.Merge(v, streamRequestToProto(&q))
	default:
		return unmarshalGeneratedOrder(data, v)
	}
	return nil
}
