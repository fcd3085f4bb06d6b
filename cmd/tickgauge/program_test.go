package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
	"github.com/tickgauge/tickgauge/feed"
)

// program runs tickgauge with args to its end.
func program(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	cmd := command(t, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// lines collects what a process writes and lets a test wait for a text in it.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// exchangeProcess starts an exchange on free ports and returns its addresses.
func exchangeProcess(t *testing.T, args ...string) (*exec.Cmd, runner.Ready, *lines) {
	t.Helper()
	cmd := command(t, append([]string{"exchange", "--grpc-addr=127.0.0.1:0", "--http-addr=127.0.0.1:0", "--debug-addr=127.0.0.1:0"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log lines
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadBytes('\n')
	var ready runner.Ready
	if err != nil || json.Unmarshal(line, &ready) != nil || !ready.Ready {
		t.Fatalf("ready line %q: %v; %s", line, err, log.String())
	}
	return cmd, ready, &log
}

// TestCompare runs a whole comparison, small, and holds every account.
func TestCompare(t *testing.T) {
	t.Setenv(asProgram, "1") // the program starts itself
	file := filepath.Join(t.TempDir(), "results.json")
	status, out, errs := program(t, "compare", "--streams=200", "--warmup=200ms", "--duration=1s", "--order-duration=200ms", "--order-rate=200", "--order-workers=8", "--json="+file)
	if status != 0 {
		t.Fatalf("status %d\n%s\n%s", status, out, errs)
	}
	results, err := report.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Cells) != 6 || results.Source != "synth" || results.Seed != 1 || results.Host.CPUs == 0 {
		t.Fatalf("results %+v", results)
	}
	checkOrders(t, results.Orders, out)
	for _, c := range results.Cells[:5] {
		r := c.Runs[0]
		// 200 ticks/s for a second, and two of the 200 streams on each of 100 symbols.
		if r.Due != 400 {
			t.Errorf("%s: due %d, want 400", c.Name(), r.Due)
		}
		if r.Received != r.Due || r.Missed != 0 || r.Duplicated != 0 || r.Reordered != 0 || r.Conflated != 0 || r.Dropped != 0 {
			t.Errorf("%s: account %+v", c.Name(), r)
		}
		if r.Latency == nil || r.Latency.P50 <= 0 || r.Latency.Max < r.Latency.P50 || r.DecodedLatency.P50 < r.Latency.P50 || r.Connect == nil || r.FirstTick == nil || r.PublishLag == nil {
			t.Errorf("%s: latencies %+v", c.Name(), r)
		}
		if r.Server == nil || r.Server.CPUNSPerDelivery == nil || *r.Server.CPUNSPerDelivery <= 0 || r.Server.RSSBytes == 0 || r.Fleet == nil || r.WireBytesPerDelivery == nil || *r.WireBytesPerDelivery < 50 {
			t.Errorf("%s: costs %+v %+v", c.Name(), r.Server, r.Fleet)
		}
		if !strings.Contains(out, c.Name()) {
			t.Errorf("the table lacks %s", c.Name())
		}
	}
}

// checkOrders checks those of a small comparison: each path alone in both loops and
// beside the streams.
func checkOrders(t *testing.T, runs []*measure.Orders, table string) {
	t.Helper()
	if len(runs) != 3*len(orderPaths) {
		t.Fatalf("%d runs of orders", len(runs))
	}
	for i, o := range runs {
		p := &orderPaths[i%len(orderPaths)]
		open, beside := i >= len(orderPaths), i >= 2*len(orderPaths)
		if o.Path != p.name || o.HTTPVersion != p.httpVersion || (o.Rate == 200) != open || (o.StreamsBeside == 200) != beside || (o.StreamsTransport == "grpc/100") != beside {
			t.Errorf("run %d is %+v", i, o)
		}
		if o.Sent == 0 || o.Acked != o.Sent || o.Rejected != 0 || o.Failed != 0 || o.Latency == nil || o.Connect == nil || o.ClientCPUNSPerOrder == nil ||
			open && o.Sent != 40 || (o.Lag != nil) != open || (o.ServerCPUNSPerOrder == nil) != beside || o.Stamp == "" {
			t.Errorf("%s %+v", o.Path, o)
		}
		if !strings.Contains(table, o.Path) {
			t.Errorf("the table lacks %s", o.Path)
		}
	}
}

func TestExchangeEndsOnSignalAndTellsWhatItDid(t *testing.T) {
	cmd, _, log := exchangeProcess(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("ended with %v\n%s", err, log.String())
	}
	if !log.has("Published:") {
		t.Errorf("log without counters:\n%s", log.String())
	}
}

func TestPortInUse(t *testing.T) {
	_, ready, _ := exchangeProcess(t)
	status, _, errs := program(t, "exchange", "--grpc-addr="+ready.GRPC, "--http-addr=127.0.0.1:0")
	if status != exitFailed || !strings.Contains(errs, "--grpc-addr") || !strings.Contains(errs, "in use") {
		t.Errorf("status %d: %s", status, errs)
	}
}

func TestFleetOutlivesItsExchange(t *testing.T) {
	exchange, ready, _ := exchangeProcess(t, "--rate=2000")
	file := filepath.Join(t.TempDir(), "run.json")
	cmd := command(t, "fleet", "--target="+ready.GRPC, "--debug-target="+ready.Debug, "--streams=20", "--warmup=0s", "--duration=60s", "--json="+file)
	var out, errs lines
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fleet to measure", func() bool { return errs.has("p50") })
	_ = exchange.Process.Kill()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("ended with %v", err)
	}
	if !strings.Contains(errs.String(), "20 of 20 streams broke") {
		t.Errorf("said %s", errs.String())
	}
	run := readRun(t, file)
	if run.Valid || run.Received == 0 || run.StreamsBroken != 20 || !strings.Contains(out.String(), "received") {
		t.Errorf("run %+v\n%s", run, out.String())
	}
}

func TestCtrlCEndsARunEarly(t *testing.T) {
	_, ready, _ := exchangeProcess(t, "--rate=2000")
	file := filepath.Join(t.TempDir(), "run.json")
	cmd := command(t, "fleet", "--transport=websocket", "--target="+ready.HTTP, "--debug-target="+ready.Debug, "--streams=20", "--warmup=0s", "--duration=60s", "--json="+file)
	var errs lines
	cmd.Stdout, cmd.Stderr = io.Discard, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fleet to measure", func() bool { return errs.has("p50") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != exitFailed {
		t.Errorf("ended with %v: %s", err, errs.String())
	}
	run := readRun(t, file)
	if !run.Interrupted || run.Valid || run.Received == 0 || run.Missed != 0 || run.Due != run.Received {
		t.Errorf("run %+v", run)
	}
}

// TestOrdersProgram trades on an exchange of its own: results, refusals, an early
// end, and an exchange that dies.
func TestOrdersProgram(t *testing.T) {
	exchange, ready, _ := exchangeProcess(t, "--reserve=R", "--service-time=40us+60us")
	file := filepath.Join(t.TempDir(), "orders.json")
	orders := func(args ...string) []string {
		return append([]string{"orders", "--target=" + ready.GRPC, "--debug-target=" + ready.Debug, "--symbol=R", "--warmup=50ms", "--json=" + file}, args...)
	}
	status, out, errs := program(t, orders("--runs=2", "--workers=4", "--duration=200ms", "--rate=500")...)
	if status != 0 || !strings.Contains(out, "medians of 2 runs") || !strings.Contains(out, "p99 + service") {
		t.Fatalf("status %d\n%s%s", status, out, errs)
	}
	results, err := report.ReadFile(file)
	if err != nil || len(results.Orders) != 2 || len(results.Cells) != 0 {
		t.Fatalf("%+v, %v", results, err)
	}
	for _, o := range results.Orders {
		if o.Sent != 100 || o.Acked != 100 || o.Service.P50 < 100_000 || o.Service.Max > 100_100 || o.LatencyWithService.P50 < o.Latency.P50+99_000 {
			t.Errorf("%+v", o)
		}
	}
	for _, c := range []struct {
		say  string
		args []string
	}{
		{"UNKNOWN_SYMBOL", orders("--symbol=NONE")},
		{"UNKNOWN_ACCOUNT: account \"acct-11\" is not one of acct-1 to acct-10", orders("--account=acct-11", "--workers=1", "--duration=50ms")},
		{"UNKNOWN_ACCOUNT", append(orders("--path=rest+sse", "--account=acct-11"), "--target="+ready.HTTP)},
	} {
		status, out, errs := program(t, c.args...)
		if !strings.Contains(out+errs, c.say) || strings.Contains(errs, "is an exchange running") {
			t.Errorf("%q: status %d\n%s%s", c.args, status, out, errs)
		}
	}
	// Ctrl-C, and an exchange that is killed.
	for _, c := range []struct {
		what string
		do   func(orders *os.Process) error
	}{
		{"interrupt", func(p *os.Process) error { return p.Signal(os.Interrupt) }},
		{"kill the exchange", func(*os.Process) error { return exchange.Process.Kill() }},
	} {
		cmd := command(t, orders("--workers=2", "--rate=200", "--duration=2s", "--label=trading")...)
		var said lines
		cmd.Stdout, cmd.Stderr = &said, &said
		before := file + ".before"
		if err := os.Rename(file, before); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ledgerGrows(t, ready.Debug, exchange)
		if err := c.do(cmd.Process); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); c.what == "interrupt" && cmd.ProcessState.ExitCode() != exitFailed {
			t.Errorf("%s: %v\n%s", c.what, err, said.String())
		}
		results, err := report.ReadFile(file)
		if err != nil || len(results.Orders) != 1 {
			t.Fatalf("%s: %v\n%s", c.what, err, said.String())
		}
		o := results.Orders[0]
		if o.Valid || o.Acked == 0 || o.Sent != o.Acked+o.Failed || o.Interrupted != (c.what == "interrupt") || (o.Failed > 0) == o.Interrupted {
			t.Errorf("%s: %+v", c.what, o)
		}
	}
}

// ledgerGrows waits until an exchange takes orders anew.
func ledgerGrows(t *testing.T, debug string, exchange *exec.Cmd) {
	t.Helper()
	count := func() int64 {
		control, err := fleet.NewControl(debug)
		if err != nil {
			t.Fatal(err)
		}
		now := feed.Now()
		l, err := control.Ledger(t.Context(), now-1e9, now-5e8)
		if err != nil {
			t.Fatalf("%v; the exchange: %v", err, exchange.ProcessState)
		}
		return l.Totals[measure.OrderRequests]
	}
	first := count()
	// Past the warm-up, at 200 orders/s.
	waitFor(t, "orders", func() bool { return count() > first+60 })
}

func readRun(t *testing.T, file string) *measure.Run {
	t.Helper()
	results, err := report.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return results.Cells[0].Runs[0]
}

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

func TestFileLimitIsToldBeforeStarting(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Max > 900_000 {
		t.Skip("the hard limit of open files is too high to exceed")
	}
	status, _, errs := program(t, "fleet", "--transport=websocket", "--streams=900000")
	if status != exitUsage || !strings.Contains(errs, "900064 open files") || !strings.Contains(errs, "hard limit is") {
		t.Errorf("status %d: %s", status, errs)
	}
}
