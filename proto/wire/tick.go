package wire

import (
	"bytes"
	"encoding/base64"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tickgauge/tickgauge/feed"
)

// The encodings of a hub that was made with HubEncoders. TickProtobuf is a
// whole MarketDataMessage of one tick, such that several one after the other are
// a message of several; TickJSON is the object of the tick alone. AppendTicks
// joins either. EventProtobuf and EventJSON are whole SSE events. FrameProtobuf and
// FrameJSON are whole messages of one tick in a WebSocket frame of their own.
const (
	TickProtobuf = iota
	TickJSON
	EventProtobuf
	EventJSON
	FrameProtobuf
	FrameJSON
)

// HubEncoders returns the encoders for feed.HubOptions, each at the index of its
// constant. They write what AppendMessage writes, without its checks: symbols
// must be UTF-8, sides and origins those of the domain.
func HubEncoders() []feed.Encoder {
	return append(hubEncoders(appendTickField, appendTickJSON), frameEncoders(appendTickField, appendTickJSON)...)
}

func hubEncoders(field, object func(dst []byte, t *feed.Tick) []byte) []feed.Encoder {
	return []feed.Encoder{
		TickProtobuf: func(dst []byte, _ string, t *feed.Tick) []byte { return field(dst, t) },
		TickJSON:     func(dst []byte, _ string, t *feed.Tick) []byte { return object(dst, t) },
		EventProtobuf: func(dst []byte, epoch string, t *feed.Tick) []byte {
			var room [256]byte // most ticks fit, and then nothing is allocated
			dst = appendTickHead(dst, epoch, t)
			dst = base64.StdEncoding.AppendEncode(dst, field(room[:0], t))
			return append(dst, "\n\n"...)
		},
		EventJSON: func(dst []byte, epoch string, t *feed.Tick) []byte {
			dst = append(appendTickHead(dst, epoch, t), ticksHead...)
			return append(object(dst, t), ticksTail+"\n\n"...)
		},
	}
}

// frameEncoders are those of whole frames, from FrameProtobuf on.
func frameEncoders(field, object func(dst []byte, t *feed.Tick) []byte) []feed.Encoder {
	return []feed.Encoder{
		func(dst []byte, _ string, t *feed.Tick) []byte {
			start := len(dst)
			return closeFrame(field(openFrame(dst), t), start, OpBinary)
		},
		func(dst []byte, _ string, t *feed.Tick) []byte {
			start := len(dst)
			return closeFrame(append(object(append(openFrame(dst), ticksHead...), t), ticksTail...), start, OpText)
		},
	}
}

// TickBytes returns how many bytes the tick itself takes in what the encoder of that
// index wrote: all of TickProtobuf and TickJSON, and as many in the others, whose
// events, frames, base64 and brackets are the transport's.
func TickBytes(encoding int, encoded []byte) int {
	switch encoding {
	case TickProtobuf, TickJSON:
		return len(encoded)
	case FrameProtobuf:
		return len(encoded) - frameHeader(encoded)
	case FrameJSON:
		return len(encoded) - frameHeader(encoded) - len(ticksHead+ticksTail)
	}
	data := encoded[bytes.Index(encoded, []byte(dataField))+len(dataField) : len(encoded)-len("\n\n")]
	if encoding == EventJSON {
		return len(data) - len(ticksHead+ticksTail)
	}
	return base64.StdEncoding.DecodedLen(len(data)) - bytes.Count(data[len(data)-2:], []byte("="))
}

const (
	ticksHead = `{"ticks":[`
	ticksTail = "]}"
)

const dataField = "\ndata: "

func appendTickHead(dst []byte, epoch string, t *feed.Tick) []byte {
	dst = append(dst, "event: tick\nid: "...)
	dst = feed.Cursor{Epoch: epoch, HubSeq: t.HubSeq}.Append(dst)
	return append(dst, dataField...)
}

// AppendTicks joins the hub's TickProtobuf or TickJSON bytes of several ticks
// into one whole message of enc, of no ticks where there are none.
func AppendTicks(dst []byte, enc Encoding, ticks [][]byte) []byte {
	if enc == Protobuf {
		for _, t := range ticks {
			dst = append(dst, t...)
		}
		return dst
	}
	dst = append(dst, `{"ticks":[`...)
	for i, t := range ticks {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t...)
	}
	return append(dst, "]}"...)
}

// appendTickField appends the tick as an element of MarketDataMessage.ticks,
// byte for byte as the generated code does. The numbers are those of the .proto.
func appendTickField(dst []byte, t *feed.Tick) []byte { return appendTickWith(dst, t, nil) }

// appendTickWith does so with a padding.
func appendTickWith(dst []byte, t *feed.Tick, padding []byte) []byte {
	numbers := [...]uint64{
		2: t.Seq, 3: t.HubSeq, 4: uint64(t.DueNS), 5: uint64(t.PublishNS), 6: uint64(t.ExchangeTSNS),
		7: uint64(t.BidPx), 8: uint64(t.BidSz), 9: uint64(t.AskPx), 10: uint64(t.AskSz),
		11: uint64(t.LastPx), 12: uint64(t.LastSz), 13: t.TradeID, 14: uint64(t.Aggressor), 15: uint64(t.Origin),
	}
	size := 0
	if t.Symbol != "" {
		size += 1 + protowire.SizeBytes(len(t.Symbol))
	}
	for _, v := range numbers {
		if v != 0 {
			size += 1 + protowire.SizeVarint(v) // the tags of 1 to 15 take a byte
		}
	}
	if len(padding) > 0 {
		size += protowire.SizeTag(paddingNumber) + protowire.SizeBytes(len(padding))
	}
	dst = protowire.AppendTag(dst, 1, protowire.BytesType)
	dst = protowire.AppendVarint(dst, uint64(size))
	if t.Symbol != "" {
		dst = protowire.AppendTag(dst, 1, protowire.BytesType)
		dst = protowire.AppendString(dst, t.Symbol)
	}
	for number, v := range numbers {
		if v != 0 {
			dst = protowire.AppendTag(dst, protowire.Number(number), protowire.VarintType)
			dst = protowire.AppendVarint(dst, v)
		}
	}
	if len(padding) > 0 {
		dst = protowire.AppendTag(dst, paddingNumber, protowire.BytesType)
		dst = protowire.AppendBytes(dst, padding)
	}
	return dst
}

func appendTickJSON(dst []byte, t *feed.Tick) []byte {
	dst = appendString(append(dst, `{"symbol":`...), t.Symbol)
	dst = strconv.AppendUint(append(dst, `,"seq":"`...), t.Seq, 10)
	dst = strconv.AppendUint(append(dst, `","hubSeq":"`...), t.HubSeq, 10)
	dst = strconv.AppendInt(append(dst, `","dueNs":"`...), t.DueNS, 10)
	dst = strconv.AppendInt(append(dst, `","publishNs":"`...), t.PublishNS, 10)
	dst = strconv.AppendInt(append(dst, `","exchangeTsNs":"`...), t.ExchangeTSNS, 10)
	dst = t.BidPx.Append(append(dst, `","bidPx":"`...))
	dst = t.BidSz.Append(append(dst, `","bidSz":"`...))
	dst = t.AskPx.Append(append(dst, `","askPx":"`...))
	dst = t.AskSz.Append(append(dst, `","askSz":"`...))
	if t.LastPx != 0 {
		dst = t.LastPx.Append(append(dst, `","lastPx":"`...))
	}
	if t.LastSz != 0 {
		dst = t.LastSz.Append(append(dst, `","lastSz":"`...))
	}
	if t.TradeID != 0 {
		dst = strconv.AppendUint(append(dst, `","tradeId":"`...), t.TradeID, 10)
	}
	if t.Aggressor != feed.SideNone {
		dst = append(append(dst, `","aggressorSide":"`...), enumName(t.Aggressor, sideNames)...)
	}
	dst = append(append(dst, `","origin":"`...), enumName(t.Origin, originNames)...)
	return append(dst, `"}`...)
}
