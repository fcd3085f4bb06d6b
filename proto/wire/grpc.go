package wire

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers its "proto" before ours takes the name
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// Ready is a message of ticks made of the hub's shared TickProtobuf or TickJSON
// bytes, for a codec of the same encoding. Protobuf sends the very bytes; the
// slice that holds them may be used again once Marshal has returned.
type Ready [][]byte

// Received is a message, or an execution where that is not nil, with the time it
// reached the codec, before anything of it was read.
type Received struct {
	AtNS      int64 // CLOCK_MONOTONIC
	Message   feed.Message
	Execution *order.Execution // a new one for each
}

// Asked is a request, an order where that has an action, or why it is none. A codec puts the error here and does
// not return it, since gRPC would end the stream with INTERNAL; so a server can
// answer with a problem in its own words.
type Asked struct {
	Request feed.Request
	Order   order.Request
	Err     error
}

// registered makes the codecs known as the content-subtypes proto and json, for
// clients and servers of this process. It is a global because a server finds
// its codecs in grpc's registry alone: ForceServerCodecV2 would take one codec
// for every subtype. The registry may only be written while packages initialise.
var registered = register()

func register() bool {
	for _, enc := range Encodings() {
		encoding.RegisterCodecV2(Codec(enc))
	}
	return true
}

// Codec returns the gRPC codec of an encoding, called proto or json. It marshals
// *feed.Message, *feed.Request, Ready, *StreamMessage, *StreamRequest,
// *order.Execution, *order.Request (an OrderRequest), *PaddedOrder and generated
// messages, and unmarshals *Received, *Asked, *feed.Request, *feed.Message,
// *StreamMessage, *StreamRequest, *ReceivedExecution, *AskedOrder,
// *order.Execution, *order.Request and generated messages; other types are errors.
// It is safe for use by any goroutine.
func Codec(enc Encoding) encoding.CodecV2 { return codec{enc} }

type codec struct{ enc Encoding }

// Name returns the content-subtype.
func (c codec) Name() string {
	if c.enc == Protobuf {
		return "proto"
	}
	return c.enc.String()
}

// Marshal returns v as one buffer, or for Ready in protobuf as one per tick.
func (c codec) Marshal(v any) (mem.BufferSlice, error) {
	var (
		out []byte
		err error
	)
	switch v := v.(type) {
	case *feed.Message:
		out, err = AppendMessage(nil, c.enc, v)
	case *feed.Request:
		out, err = AppendRequest(nil, c.enc, v)
	case Ready:
		if c.enc == Protobuf {
			return share(v), nil
		}
		out = AppendTicks(make([]byte, 0, joinedSize(v)), c.enc, v)
	case proto.Message:
		if c.enc == Protobuf {
			out, err = marshalProto(nil, v)
		} else {
			out, err = marshalGeneratedJSON(v)
		}
	default:
		var known bool
		if out, known, err = c.marshalOrder(v); !known {
			err = fmt.Errorf("encode %s: no codec for a %T", c.enc, v)
		}
	}
	if err != nil {
		return nil, err
	}
	return mem.BufferSlice{mem.SliceBuffer(out)}, nil
}

// share makes the headers in one allocation; each as a value would take its own.
func share(ticks Ready) mem.BufferSlice {
	headers, out := make([]mem.SliceBuffer, len(ticks)), make(mem.BufferSlice, len(ticks))
	for i, t := range ticks {
		headers[i] = t
		out[i] = &headers[i]
	}
	return out
}

func joinedSize(ticks Ready) int {
	n := len(`{"ticks":[]}`)
	for _, t := range ticks {
		n += len(t) + 1
	}
	return n
}

// Unmarshal reads data, of which it keeps nothing, into v.
func (c codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch r := v.(type) {
	case *Received:
		r.AtNS = feed.Now()
	case *ReceivedExecution:
		r.AtNS = feed.Now()
	}
	buf := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer buf.Free()
	b := buf.ReadOnlyData()
	switch v := v.(type) {
	case *Received:
		return unmarshalMessage(c.enc, b, &v.Message, &v.Execution)
	case *Asked:
		v.Err = unmarshalRequest(c.enc, b, &v.Request, &v.Order)
		return nil
	case *feed.Message:
		return UnmarshalMessage(c.enc, b, v)
	case *feed.Request:
		return UnmarshalRequest(c.enc, b, v)
	case proto.Message:
		if c.enc == Protobuf {
			return proto.Unmarshal(b, v)
		}
		return unmarshalGeneratedJSON(b, v)
	}
	if known, err := c.unmarshalOrder(b, v); known {
		return err
	}
	return fmt.Errorf("decode %s: no codec for a %T", c.enc, v)
}
