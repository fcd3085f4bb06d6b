package sseserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// request is what a URL and its headers ask for.
type request struct {
	subscribe feed.Subscribe
	encoding  wire.Encoding
}

// lastEventID is the header in which an EventSource that lost its connection
// sends the last id that it saw.
const lastEventID = "Last-Event-Id"

// parse reads a request; what is wrong with it is a *feed.Problem. Symbols and
// cursors are not looked up here.
func parse(r *http.Request) (request, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return request{}, badRequest("query: %v; percent-encode what is not a letter or a digit", err)
	}
	req := request{encoding: wire.JSON}
	for name, values := range query {
		switch name {
		case "symbol", "symbols":
			continue // below, in this order
		case "policy", "encoding", "cursor", "account", "after_report_seq":
		default:
			return request{}, badRequest("unknown parameter %q; known are symbol, symbols, policy, encoding, cursor, account and after_report_seq", shorten(name))
		}
		if len(values) > 1 {
			return request{}, badRequest("parameter %s stands %d times; give it once", name, len(values))
		}
		switch name {
		case "policy":
			req.subscribe.Policy, err = wire.ParsePolicy(values[0])
		case "encoding":
			req.encoding, err = wire.ParseEncoding(values[0])
		case "cursor":
			req.subscribe.Cursor = values[0]
		case "account":
			if req.subscribe.Account = values[0]; values[0] == "" {
				return request{}, badRequest("an empty account; name one as acct-1, or leave it out")
			}
		case "after_report_seq":
			req.subscribe.Resume = true
			if req.subscribe.AfterReportSeq, err = strconv.ParseUint(values[0], 10, 64); err != nil {
				return request{}, badRequest("after_report_seq=%s: want the report_seq of the last execution that was received, or 0", shorten(values[0]))
			}
		}
		if err != nil {
			return request{}, &feed.Problem{Code: feed.CodeUnsupported, Message: name + ": " + err.Error()}
		}
	}
	// An EventSource reconnects with the URL of its first connection, whose cursor
	// is older than the header.
	if id := r.Header.Get(lastEventID); id != "" {
		req.subscribe.Cursor = id
	}
	req.subscribe.Symbols = query["symbol"]
	for _, list := range query["symbols"] {
		req.subscribe.Symbols = append(req.subscribe.Symbols, strings.Split(list, ",")...)
	}
	if len(req.subscribe.Symbols) == 0 && req.subscribe.Account == "" {
		return request{}, badRequest("no symbol and no account; name some with symbol=A&symbol=B or symbols=A,B, or an account whose executions are wanted")
	}
	for _, name := range req.subscribe.Symbols {
		if name == "" {
			return request{}, badRequest("an empty symbol; name each as in /v2/symbols")
		}
	}
	return req, nil
}

func badRequest(format string, args ...any) *feed.Problem {
	return &feed.Problem{Code: feed.CodeBadRequest, Message: fmt.Sprintf(format, args...)}
}

// shorten keeps what a client sent from filling the answer.
func shorten(text string) string {
	const most = 40
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
