package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrongCommandLines(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ln.Close() }()
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		status int
		say    string
		args   []string
	}{
		{exitUsage, "--streams 1:", []string{"calibrate", "--streams=1"}},
		{exitUsage, "unknown cell", []string{"calibrate", "--transports=tcp"}},
		{exitUsage, "--streams", []string{"calibrate", "--streams=-5"}},
		{exitUsage, "open files", []string{"calibrate", "--transports=websocket", "--streams=100000"}},
		{exitUsage, "--pad-ticks 65537", []string{"exchange", "--pad-ticks=65537"}},
		{exitUsage, "--pad-ticks -1", []string{"exchange", "--pad-ticks=-1"}},
		{exitUsage, "--tls", []string{"exchange", "--tls=yes"}},
		{exitUsage, "go together", []string{"exchange", "--tls-key=" + empty}},
		{exitUsage, "--ca", []string{"fleet", "--ca=" + empty}},
		{exitUsage, "give one of them", []string{"orders", "--ca=" + empty, "--tls"}},
		{exitUsage, "not over grpc; there is gzip over grpc, deflate over websocket, gzip over sse", []string{"fleet", "--compression=deflate"}},
		{exitUsage, "not over websocket", []string{"fleet", "--transport=websocket", "--compression=gzip"}},
		{exitUsage, "not over rest-unary; there is gzip over grpc-unary", []string{"orders", "--path=rest-unary", "--compression=gzip"}},
		{exitUsage, "--rate 0", []string{"exchange", "--rate=0"}},
		{exitUsage, "--hold needs --debug-addr", []string{"exchange", "--hold"}},
		{exitUsage, "--speed is for captures", []string{"exchange", "--speed=2"}},
		{exitUsage, `"A" is`, []string{"exchange", "--symbols=A,A"}},
		{exitFailed, "empty", []string{"exchange", "--source=" + empty}},
		{exitFailed, "empty", []string{"compare", "--source=" + empty}},
		{exitUsage, "unknown cell", []string{"compare", "--transports=carrier-pigeon"}},
		{exitUsage, "--streams", []string{"compare", "--streams=0"}},
		{exitUsage, "--rate 0", []string{"compare", "--rate=0"}},
		{exitUsage, "cannot share", []string{"compare", "--streams=50", "--connections=50"}},
		{exitUsage, "named twice", []string{"compare", "--transports=grpc,grpc"}},
		{exitUsage, "synthetic source", []string{"compare", "--source=" + empty, "--arrivals=poisson"}},
		{exitUsage, "nothing can be written", []string{"compare", "--json=" + filepath.Join(empty, "x.json")}},
		{exitUsage, "is a directory", []string{"fleet", "--json=" + t.TempDir()}},
		{exitUsage, "would show nothing", []string{"fleet", "--no-table"}},
		{exitUsage, "--duration", []string{"fleet", "--duration=0s"}},
		{exitUsage, "--accounts 0", []string{"exchange", "--accounts=0"}},
		{exitUsage, "--service-time", []string{"exchange", "--service-time=fast"}},
		{exitUsage, "at most 1s", []string{"exchange", "--service-time=600ms+600ms"}},
		{exitUsage, "--service-time", []string{"exchange", "--service-time=-1us"}},
		{exitUsage, "without --service-time", []string{"exchange", "--service=realtime"}},
		{exitUsage, "lists that symbol already", []string{"exchange", "--reserve=SYM001"}},
		{exitUsage, "--http 1.1: grpc-unary goes over HTTP/2", []string{"orders", "--http=1.1"}},
		{exitUsage, "--http 2: websocket", []string{"orders", "--path=websocket", "--http=2"}},
		{exitUsage, "--path", []string{"orders", "--path=fix"}},
		{exitUsage, "--workers", []string{"orders", "--workers=-1"}},
		{exitUsage, "--workers 0", []string{"orders", "--workers=0"}},
		{exitUsage, "--runs 0", []string{"orders", "--runs=0", "--preset=hft"}},
		{exitUsage, "--duration 0", []string{"orders", "--duration=0s"}},
		{exitUsage, "--rate", []string{"orders", "--rate=NaN"}},
		{exitUsage, "--connections 65", []string{"orders", "--connections=65"}},
		{exitUsage, "takes a connection", []string{"orders", "--path=rest-unary", "--connections=8"}},
		{exitUsage, "--payload-bytes", []string{"orders", "--payload-bytes=-1"}},
		{exitUsage, "--account", []string{"orders", "--account="}},
		{exitUsage, "would show nothing", []string{"orders", "--no-table"}},
		{exitFailed, "did not answer within", []string{"orders", "--target=" + ln.Addr().String()}},
		{exitFailed, "is an exchange running", []string{"orders", "--path=rest-unary", "--target=127.0.0.1:1"}},
		{exitUsage, "unknown path", []string{"compare", "--paths=fix"}},
		{exitUsage, "measure nothing", []string{"compare", "--skip-streams", "--skip-orders"}},
		{exitUsage, "--order-rate", []string{"compare", "--order-rate=0"}},
		{exitUsage, "--except", []string{"fleet", "--except=A", "--symbol=B"}},
		{exitUsage, "stall=1s@10s", []string{"exchange", "--inject=lag=1s"}},
		{exitUsage, "is no share", []string{"exchange", "--inject=loss=2"}},
		{exitUsage, "given twice", []string{"exchange", "--inject=loss=0.1", "--inject=loss=0.2"}},
		{exitUsage, "without --inject", []string{"exchange", "--inject-seed=2"}},
		{exitUsage, "--queue", []string{"exchange", "--queue=0"}},
		{exitUsage, "--heartbeat", []string{"exchange", "--heartbeat=-1s"}},
		{exitUsage, "HOST:PORT", []string{"exchange", "--grpc-addr=foo"}},
		{exitUsage, "one of them", []string{"exchange", "--source=" + empty, "--rate=3", "--speed=3"}},
		{exitUsage, "--seed is for", []string{"exchange", "--source=" + empty, "--seed=3"}},
		{exitUsage, "--duration", []string{"fleet", "--duration=100000h"}},
		{exitUsage, "--streams", []string{"compare", "--streams=1000000000"}},
		{exitUsage, "rate", []string{"compare", "--rate=NaN"}},
		{exitUsage, "--max-streams", []string{"exchange", "--max-streams=4294967296"}},
		{exitUsage, "--write-timeout", []string{"exchange", "--write-timeout=1000h"}},
		{exitUsage, "ramp", []string{"fleet", "--ramp=NaN", "--symbol=A"}},
		{0, "", []string{"--version"}},
		{exitUsage, "HTTP/1.1", []string{"fleet", "--transport=websocket", "--http-version=2"}},
		{exitUsage, "connection of its own", []string{"fleet", "--transport=websocket", "--streams=10", "--connections=2"}},
		{exitUsage, "--help", []string{"fleet", "--no-such-flag"}},
		{exitFailed, "refused", []string{"fleet", "--target=127.0.0.1:1"}},
		{exitFailed, "refused", []string{"fleet", "--transport=sse", "--target=127.0.0.1:1"}},
		{exitFailed, "list symbols", []string{"fleet", "--transport=websocket", "--target=" + ln.Addr().String()}},
	} {
		status, _, errs := program(t, c.args...)
		if status != c.status || !strings.Contains(errs, c.say) {
			t.Errorf("%v: status %d, want %d and %q:\n%s", c.args, status, c.status, c.say, errs)
		}
	}
}
