package wsserver

import (
	"errors"
	"unicode/utf8"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
)

// maxReason is what fits beside the code in a close frame.
const maxReason = 123

// closing returns what the close frame says of why a stream ended. A problem is
// also the last message before it, and stands in the reason as CODE: message, as
// far as it fits.
//
//	1000 and others  the client closed first: its own code comes back
//	1001 going away  SHUTTING_DOWN
//	1002 protocol    frames that break RFC 6455
//	1008 policy      SLOW_CONSUMER, and every other problem that ends a stream
//	1009 too big     MESSAGE_TOO_LARGE
//	1011 internal    INTERNAL, and what is no problem of the client's
//
// A stream that ended since a write did not progress is cut without a frame, for
// there is nobody to read it.
func closing(why error) (websocket.StatusCode, string) {
	var p *feed.Problem
	switch {
	case errors.As(why, &p):
		return closeCode(p.Code), shorten(p.Error(), maxReason)
	case errors.Is(why, errReading):
		return websocket.StatusProtocolError, ""
	default:
		return websocket.StatusInternalError, ""
	}
}

func closeCode(code feed.ProblemCode) websocket.StatusCode {
	switch code {
	case feed.CodeShuttingDown:
		return websocket.StatusGoingAway
	case feed.CodeTooLarge:
		return websocket.StatusMessageTooBig
	case feed.CodeInternal:
		return websocket.StatusInternalError
	default:
		return websocket.StatusPolicyViolation
	}
}

// shorten cuts text to whole runes of at most limit bytes. What is not UTF-8 in
// it goes: a close reason must be UTF-8.
func shorten(text string, limit int) string {
	out := make([]byte, 0, limit)
	for _, r := range text {
		if r == utf8.RuneError {
			continue
		}
		if len(out)+utf8.RuneLen(r) > limit {
			break
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}
