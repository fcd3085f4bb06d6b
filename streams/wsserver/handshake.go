package wsserver

import (
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

const offer = "name the subprotocol " + wire.SubprotocolJSON + " or " + wire.SubprotocolProto + " in Sec-WebSocket-Protocol"

// handshake checks an opening handshake as RFC 6455, section 4.2.1 has it, and
// that it names a subprotocol of ours; of several the client's first counts.
// Package websocket would answer the former with plain text and let the latter
// pass. What an answer to the problem must carry is set in answer.
func handshake(answer http.Header, r *http.Request) (wire.Encoding, *feed.Problem) {
	switch {
	case r.ProtoMajor != 1 || r.ProtoMinor < 1:
		return 0, &feed.Problem{Code: feed.CodeUnsupported, Message: "WebSocket is served over HTTP/1.1 only, not " + quoteShort(r.Proto)}
	case !hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket"):
		return 0, &feed.Problem{Code: feed.CodeBadRequest,
			Message: wire.WebSocketPath + " is a WebSocket and this request is no upgrade; connect with a WebSocket client and " + offer}
	case r.Header.Get("Sec-WebSocket-Version") != "13":
		answer.Set("Sec-WebSocket-Version", "13")
		return 0, &feed.Problem{Code: feed.CodeUnsupported,
			Message: "WebSocket version " + quoteShort(r.Header.Get("Sec-WebSocket-Version")) + " is not served; use 13"}
	case !validKey(r.Header.Values("Sec-WebSocket-Key")):
		return 0, &feed.Problem{Code: feed.CodeBadRequest, Message: "want one Sec-WebSocket-Key of 16 bytes in base64"}
	}
	asked := tokens(r.Header, "Sec-WebSocket-Protocol")
	for _, name := range asked {
		switch name {
		case wire.SubprotocolJSON:
			return wire.JSON, nil
		case wire.SubprotocolProto:
			return wire.Protobuf, nil
		}
	}
	p := &feed.Problem{Code: feed.CodeUnsupported, Message: "no subprotocol asked for; " + offer}
	if len(asked) > 0 {
		p.Message = "subprotocol " + quoteShort(strings.Join(asked, ", ")) + " is not served; " + offer
	}
	return 0, p
}

func validKey(keys []string) bool {
	if len(keys) != 1 {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0]))
	return err == nil && len(key) == 16
}

// tokens returns the elements of a comma-separated header.
func tokens(h http.Header, name string) []string {
	var out []string
	for _, line := range h.Values(name) {
		for token := range strings.SplitSeq(line, ",") {
			if token = strings.TrimSpace(token); token != "" {
				out = append(out, token)
			}
		}
	}
	return out
}

func hasToken(h http.Header, name, want string) bool {
	for _, token := range tokens(h, name) {
		if strings.EqualFold(token, want) {
			return true
		}
	}
	return false
}

// quoteShort quotes what a client sent, so that a problem stays one short line.
func quoteShort(text string) string {
	if len(text) > 64 {
		return strconv.Quote(strings.ToValidUTF8(text[:64], "") + "…")
	}
	return strconv.Quote(text)
}
