package grpcserver

import (
	"context"
	"strconv"
	"strings"

	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/tap"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// refuseUnknownEncoding runs before a stream exists, whatever its service.
func (m *marketData) refuseUnknownEncoding(ctx context.Context, info *tap.Info) (context.Context, error) {
	if _, err := encodingOf(info.Header); err != nil {
		return ctx, m.refuse(err)
	}
	return ctx, nil
}

// encodingOf returns the encoding that grpc-go takes for a request with these
// headers, and refuses every request for which it would guess: a content-subtype
// that it has no codec for it takes for protobuf, in silence. It compares letter
// by letter, so that +JSON and "+json; charset=utf-8" are such, and of several
// content types it takes the last.
func encodingOf(md metadata.MD) (wire.Encoding, error) {
	types := md.Get("content-type")
	if len(types) == 1 {
		switch types[0] {
		case "application/grpc", "application/grpc+proto":
			return wire.Protobuf, nil
		case "application/grpc+json":
			return wire.JSON, nil
		}
	}
	return 0, &feed.Problem{Code: feed.CodeUnsupported, Message: "content-type " + quoteShort(strings.Join(types, ", ")) +
		" is not served; use application/grpc, application/grpc+proto or application/grpc+json"}
}

// quoteShort quotes what a client sent, so that a problem stays one short line.
func quoteShort(text string) string {
	if len(text) > 64 {
		return strconv.Quote(strings.ToValidUTF8(text[:64], "") + "…")
	}
	return strconv.Quote(text)
}
