package sseserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestRefusals(t *testing.T) {
	e := start(t, streams.Options{Limits: feed.Limits{MaxSymbolsPerStream: 2}})
	for name, c := range map[string]struct {
		query  string
		status int
		code   feed.ProblemCode
		says   string
	}{
		"no query":                      {"", 400, feed.CodeBadRequest, "no symbol"},
		"no symbols":                    {"?encoding=json", 400, feed.CodeBadRequest, "no symbol"},
		"empty symbol":                  {"?symbol=", 400, feed.CodeBadRequest, "empty symbol"},
		"empty in list":                 {"?symbols=AAA,", 400, feed.CodeBadRequest, "empty symbol"},
		"unknown symbol":                {"?symbol=AAA&symbol=NOPE", 404, feed.CodeUnknownSymbol, "NOPE"},
		"case counts":                   {"?symbol=aaa", 404, feed.CodeUnknownSymbol, "aaa"},
		"symbol twice":                  {"?symbol=AAA&symbols=BBB,AAA", 400, feed.CodeTooManySymbols, "3 symbols"},
		"same symbol":                   {"?symbol=AAA&symbols=AAA", 409, feed.CodeAlreadySubscribed, "AAA"},
		"bad cursor":                    {"?symbol=AAA&cursor=yesterday", 400, feed.CodeBadCursor, "yesterday"},
		"unknown encoding":              {"?symbol=AAA&encoding=xml", 400, feed.CodeUnsupported, "xml"},
		"empty encoding":                {"?symbol=AAA&encoding=", 400, feed.CodeUnsupported, "encoding"},
		"unknown policy":                {"?symbol=AAA&policy=hurry", 400, feed.CodeUnsupported, "hurry"},
		"unknown parameter":             {"?symbol=AAA&depth=5", 400, feed.CodeBadRequest, `"depth"`},
		"account without a desk":        {"?symbol=AAA&account=acct-1", 400, feed.CodeUnsupported, "takes no orders"},
		"empty account":                 {"?symbol=AAA&account=", 400, feed.CodeBadRequest, "empty account"},
		"report_seq that is none":       {"?account=acct-1&after_report_seq=-1", 400, feed.CodeBadRequest, "after_report_seq=-1"},
		"report_seq without an account": {"?symbol=AAA&after_report_seq=1", 400, feed.CodeBadRequest, "without an account"},
		"parameter twice":               {"?symbol=AAA&policy=conflate&policy=conflate", 400, feed.CodeBadRequest, "policy"},
		"broken escape":                 {"?symbol=100%", 400, feed.CodeBadRequest, "percent-encode"},
		"not UTF-8":                     {"?symbol=%ff", 404, feed.CodeUnknownSymbol, "not listed"},
		"long name":                     {"?" + strings.Repeat("x", 1000) + "=1", 400, feed.CodeBadRequest, "xxx…"},
	} {
		for _, version := range versions {
			t.Run(name+" HTTP "+version, func(t *testing.T) {
				resp := e.request(t, version, http.MethodGet, c.query, nil)
				wantRefusal(t, resp, c.status, c.code, c.says)
			})
		}
	}
	t.Run("bad header", func(t *testing.T) {
		resp := e.request(t, "1.1", http.MethodGet, "?symbol=AAA&cursor=e0-0", http.Header{"Last-Event-Id": {"e0_1"}})
		wantRefusal(t, resp, 400, feed.CodeBadCursor, "e0_1")
	})
	t.Run("method", func(t *testing.T) {
		resp := e.request(t, "1.1", http.MethodPost, "?symbol=AAA", nil)
		wantRefusal(t, resp, 405, feed.CodeMethodNotAllowed, "POST")
	})
	if open := e.Stats().Open; open != 0 {
		t.Errorf("%d sessions are open after refusals", open)
	}
}

func wantRefusal(t *testing.T, resp *http.Response, status int, code feed.ProblemCode, says string) {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var p feed.Problem
	if err := wire.UnmarshalProblem(body, &p); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if resp.StatusCode != status || p.Code != code || !strings.Contains(p.Message, says) || p.RequestID == "" {
		t.Errorf("%s %+v, want %d %s that says %q", resp.Status, p, status, code, says)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
}

func TestHead(t *testing.T) {
	e := start(t, streams.Options{})
	for _, version := range versions {
		resp := e.request(t, version, http.MethodHead, "?symbol=AAA", nil)
		if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
			t.Errorf("%s %v", resp.Status, resp.Header)
		}
		if resp := e.request(t, version, http.MethodHead, "?symbol=NOPE", nil); resp.StatusCode != 404 {
			t.Errorf("unknown symbol: %s", resp.Status)
		}
	}
	eventually(t, "HEAD holds no session", func() bool { return e.Stats().Open == 0 })
}

func TestLimitOfStreams(t *testing.T) {
	e := start(t, streams.Options{Limits: feed.Limits{MaxStreams: 1}})
	s := e.open(t, "2", "?symbol=AAA", nil)
	resp := e.request(t, "1.1", http.MethodGet, "?symbol=AAA", nil)
	wantRefusal(t, resp, 503, feed.CodeTooManyStreams, "limit of 1")
	s.cancel()
	eventually(t, "the place is free again", func() bool { return e.Stats().Open == 0 })
	e.open(t, "1.1", "?symbol=AAA", nil).want(wire.JSON, "hello")
}

func TestRefusedWhileShuttingDown(t *testing.T) {
	e := start(t, streams.Options{})
	e.Shutdown(context.Background())
	resp := e.request(t, "1.1", http.MethodGet, "?symbol=AAA", nil)
	wantRefusal(t, resp, 503, feed.CodeShuttingDown, "shutting down")
}
