package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
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
	if slices.Contains([]string{"compare", "fleet", "orders"}, args[0]) && !slices.Contains(args, "--calibrate") {
		args = append(slices.Clip(args), "--no-calibrate") // 3 s that say nothing of the rest
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
	status, out, errs := program(t, "compare", "--calibrate", "--rounds=1", "--out="+filepath.Join(t.TempDir(), "run"), "--streams=200", "--warmup=200ms", "--duration=1s", "--order-duration=200ms", "--order-rate=200", "--order-workers=8", "--json="+file)
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
		checkCosts(t, c.Name(), r)
		if !strings.Contains(out, c.Name()) {
			t.Errorf("the table lacks %s", c.Name())
		}
	}
	if len(results.Codec) != 2 || results.Codec[0].EncodeNS <= 0 || results.Codec[1].DecodeNS <= 0 || results.Codec[0].Bytes >= results.Codec[1].Bytes {
		t.Errorf("codec %+v", results.Codec)
	}
	if c := results.Calibration; c == nil || c.Clock.ReadNS <= 0 || len(c.Waits) != 6 || c.Rates != nil || !strings.Contains(out, "this machine") {
		t.Errorf("calibration %+v", c)
	}
}

// checkCosts checks that every figure of cost and fairness is there, over each
// transport, and that those that belong together agree.
func checkCosts(t *testing.T, name string, r *measure.Run) {
	t.Helper()
	for who, c := range map[string]*measure.Cost{"exchange": r.Server, "fleet": r.Fleet} {
		if c == nil || c.CPUUserNSPerDelivery == nil || c.CPUSystemNSPerDelivery == nil || c.HeapBytesPerStream == nil || c.IdleRSSBytesPerStream == nil ||
			c.IdleHeapBytesPerStream == nil || c.Goroutines == nil || *c.Goroutines <= 0 || c.VoluntarySwitches == nil || *c.VoluntarySwitches <= 0 ||
			c.InvoluntarySwitches == nil || c.GC == nil || c.GC.Pauses == nil {
			t.Errorf("%s: the %s has costs %+v", name, who, c)
		}
	}
	if p, f := r.PayloadBytesPerDelivery, r.FramingBytesPerDelivery; p == nil || f == nil || *p < 40 || *f <= 0 || math.Abs(*p+*f-*r.WireBytesPerDelivery) > 1e-6 {
		t.Errorf("%s: payload %v and framing %v of %v", name, p, f, r.WireBytesPerDelivery)
	}
	if runtime.GOOS == "linux" && (r.TCP == nil || r.TCP.SegmentsPerDelivery == nil || r.TCP.Deliveries < r.Received || r.TCP.Segments <= 0) {
		t.Errorf("%s: TCP %+v", name, r.TCP)
	}
	// Each of the 200 ticks of the window came to two streams.
	if f := r.Fairness; f == nil || f.Spread == nil || f.Spread.Ticks != 200 || f.MeanRank.Min < 0 || f.MeanRank.Max > 1 || f.MeanRank.Max < 0.5 || f.Late != 0 {
		t.Errorf("%s: fairness %+v", name, f)
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
			open && o.Sent != 40 || (o.Lag != nil) != open || o.Stamp == "" || !beside && o.ServerCPUNSPerOrder == nil || beside && o.Valid && o.ServerCPUNSPerOrder != nil {
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

func readRun(t *testing.T, file string) *measure.Run {
	t.Helper()
	results, err := report.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return results.Cells[0].Runs[0]
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
