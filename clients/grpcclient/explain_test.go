package grpcclient

import (
	"errors"
	"io"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/tickgauge/tickgauge/feed"
)

// wantText looks for a part, and for what only grpc-go says.
func wantText(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "rpc error") || strings.Contains(err.Error(), "desc = ") {
		t.Errorf("%v, want an error with %q", err, part)
	}
}

func TestExplain(t *testing.T) {
	if err := explain(io.ErrUnexpectedEOF); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("%v, want it as it was", err)
	}
	for text, want := range map[string]string{
		`connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:1: connect: connection refused"`:                                            "the connection broke: dial tcp 127.0.0.1:1: connect: connection refused",
		`closing transport due to: connection error: desc = "error reading from server: EOF", received prior goaway: code: NO_ERROR, debug data: "graceful_stop"`: "the connection broke: error reading from server: EOF",
		`error reading from server: EOF`:        "the connection broke: error reading from server: EOF",
		`connection error: desc = not "quoted"`: `the connection broke: connection error: desc = not "quoted"`,
		`NO_SUCH_WORD: text`:                    "the connection broke: NO_SUCH_WORD: text",
		`SLOW_CONSUMER: under the wrong status`: "the connection broke: SLOW_CONSUMER: under the wrong status",
	} {
		if got := explain(status.Error(codes.Unavailable, text)).Error(); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	var p *feed.Problem
	if err := explain(status.Error(codes.Internal, "INTERNAL: oh")); !errors.As(err, &p) || p.Message != "oh" {
		t.Errorf("%v, want the problem", err)
	}
}
