package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
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
		var m feed.Message
		if err := messageFromProto(v, &m); err != nil {
			return nil, fmt.Errorf("encode json message: %w", err)
		}
		return AppendMessage(nil, JSON, &m)
	case *pb.SubscribeRequest:
		var q feed.Request
		if err := requestFromProto(v, &q); err != nil {
			return nil, fmt.Errorf("encode json request: %w", err)
		}
		return AppendRequest(nil, JSON, &q)
	}
	return protojson.Marshal(v)
}

// unmarshalGeneratedJSON reads what marshalGeneratedJSON writes. The unary
// requests hold text alone, where protojson and this package agree: both refuse
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
		var m feed.Message
		if err := UnmarshalMessage(JSON, data, &m); err != nil {
			return err
		}
		proto.Merge(v, messageToProto(&m))
	case *pb.SubscribeRequest:
		var q feed.Request
		if err := UnmarshalRequest(JSON, data, &q); err != nil {
			return err
		}
		proto.Merge(v, requestToProto(&q))
	default:
		return protojson.Unmarshal(data, v)
	}
	return nil
}
