package runner

import (
	"bufio"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients/plan"
)

var cell = plan.Cell{
	Transport: "sse", HTTPVersion: "2", Encoding: "json", Streams: 300, Connections: 20, Symbols: 9,
	Rate: 12.5, Arrivals: "poisson", Policy: "drop-oldest", Source: "synth",
}

// prepare returns a runner whose children do as told, and fails the test where
// one of them or a file is left in the end.
func prepare(t *testing.T, exchange, fleet string, stderr *os.File) (r *Runner, children func() map[int][]string) {
	t.Helper()
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv(exchangeDoes, exchange)
	t.Setenv(fleetDoes, fleet)
	t.Setenv(childrenDir, dir)
	t.Setenv("TMPDIR", temp)
	t.Setenv("GORACE", "atexit_sleep_ms=0") // children with a race detector take a second to end
	r, err := New(Options{Binary: os.Args[0], Seed: 7, Warmup: time.Second, Duration: 2 * time.Second, Stderr: stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for pid, args := range childrenIn(dir) {
			if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
				t.Errorf("child %d %s still runs: %v", pid, args[0], err)
			}
		}
		if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return r, func() map[int][]string { return childrenIn(dir) }
}

func TestRunBringsTheResultBack(t *testing.T) {
	r, children := prepare(t, "", "", nil)
	run, err := r.Run(t.Context(), cell, nil)
	if err != nil || !run.Valid || run.Due != 100 || run.Received != 100 {
		t.Fatalf("run %+v, error %v; want what the fleet wrote", run, err)
	}
	var exchange, fleet []string
	for _, args := range children() {
		switch args[0] {
		case "exchange":
			exchange = args
		case "fleet":
			fleet = args
		}
	}
	for _, want := range []string{"--hold", "--source=synth", "--rate=12.5", "--symbols=9", "--arrivals=poisson", "--seed=7", "--debug-addr=127.0.0.1:0"} {
		if !slices.Contains(exchange, want) {
			t.Errorf("the exchange was started with %q, want %s too", exchange, want)
		}
	}
	for _, want := range []string{"--transport=sse", "--target=127.0.0.1:1002", "--debug-target=127.0.0.1:1003", "--streams=300", "--connections=20", "--policy=drop-oldest"} {
		if !slices.Contains(fleet, want) {
			t.Errorf("the fleet was started with %q, want %s too", fleet, want)
		}
	}
}

func TestRunFails(t *testing.T) {
	for _, c := range []struct{ name, exchange, fleet, err string }{
		{"the exchange cannot start", "cannot listen", "", "start exchange: it did not become ready: tickgauge: --grpc-addr: address already in use"},
		{"the exchange says something else", "babble", "", "start exchange: it did not become ready"},
		{"the exchange is not ready", "not ready", "", "start exchange: it did not become ready"},
		{"the fleet fails", "", "fail", "the fleet ended with status 5 and no result"},
		{"the exchange dies under the fleet", "run out of memory", "fail after the exchange", "the exchange ended with status 2: fatal error: out of memory"},
		{"no JSON", "", "write nonsense", "the fleet's result: unexpected end of JSON input"},
		{"two cells", "", "write two cells", "the fleet's result has 2 cells, want one with one run"},
		{"no runs", "", "write no runs", "the fleet's result has 1 cells, want one with one run"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := prepare(t, c.exchange, c.fleet, nil)
			run, err := r.Run(t.Context(), cell, nil)
			if run != nil || err == nil || err.Error() != c.err {
				t.Errorf("run %+v, error %v; want %q", run, err, c.err)
			}
		})
	}
}

// An exchange that ends badly once the fleet has its result spoils nothing.
func TestRunWhenTheExchangeEndsBadly(t *testing.T) {
	r, _ := prepare(t, "die when asked to stop", "", nil)
	if run, err := r.Run(t.Context(), cell, nil); err != nil || run == nil {
		t.Errorf("run %+v, error %v", run, err)
	}
}

// waiting returns the error output for a fleet, and a channel that is closed when
// a child waits for a signal.
func waiting(t *testing.T) (stderr *os.File, waits chan struct{}) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	waits = make(chan struct{})
	read := make(chan struct{})
	go func() {
		defer close(read)
		for s := bufio.NewScanner(r); s.Scan(); {
			if s.Text() == "a child waits" {
				close(waits)
			}
		}
	}()
	t.Cleanup(func() { _ = w.Close(); <-read; _ = r.Close() })
	return w, waits
}

func TestInterruptIsForwardedOnce(t *testing.T) {
	stderr, interrupt := waiting(t)
	r, _ := prepare(t, "", "wait", stderr)
	run, err := r.Run(t.Context(), cell, interrupt)
	if err != nil {
		t.Fatal(err)
	}
	if run.Problems != 1 { // where the child counts signals
		t.Errorf("the fleet had %d signals, want one", run.Problems)
	}
}

func TestRunEndsBothWhenTheContextIsDone(t *testing.T) {
	errTwice := errors.New("interrupted twice")
	for _, c := range []struct {
		name            string
		interrupt       bool // before the context is done
		exchange, fleet string
	}{
		{"while the fleet runs", false, "", "wait for ever"},
		{"after an interrupt that the fleet does not heed", true, "", "wait for ever"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stderr, waits := waiting(t)
			r, children := prepare(t, c.exchange, c.fleet, stderr)
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var interrupt chan struct{}
			if c.interrupt {
				interrupt = waits
			}
			go func() { <-waits; cancel(errTwice) }()
			run, err := r.Run(ctx, cell, interrupt)
			if run != nil || !errors.Is(err, errTwice) {
				t.Errorf("run %+v, error %v; want that it gave up for its cause", run, err)
			}
			if n := len(children()); n != 2 {
				t.Errorf("%d children, want two that were ended", n)
			}
		})
	}
}

func TestContextDoneBeforeTheReadyLine(t *testing.T) {
	r, _ := prepare(t, "be silent", "", nil)
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("the cell took too long"))
	defer cancel()
	_, err := r.Run(ctx, cell, nil)
	if err == nil || !errors.Is(err, context.Cause(ctx)) || !strings.HasPrefix(err.Error(), "start exchange: the cell took too long") {
		t.Errorf("error %v, want that it took too long", err)
	}
}

func TestNewWantsTheProgram(t *testing.T) {
	if _, err := New(Options{Binary: "/no/such/program"}); !errors.Is(err, os.ErrNotExist) || !strings.HasPrefix(err.Error(), "runner: ") {
		t.Errorf("error %v, want that there is no program", err)
	}
}

func TestArguments(t *testing.T) {
	ready := Ready{GRPC: "h:1", HTTP: "h:2", Debug: "h:3"}
	opts := Options{Seed: 1<<64 - 1, Warmup: 3 * time.Second, Duration: 10 * time.Second}
	const capture = "captures/binance.jsonl.gz"
	const exchange = "--grpc-addr=127.0.0.1:0 --http-addr=127.0.0.1:0 --debug-addr=127.0.0.1:0 --hold --source="
	for _, c := range []struct {
		name            string
		cell            plan.Cell
		exchange, fleet string
	}{
		{"synthetic over gRPC",
			plan.Cell{Source: "synth", Zipf: 1.5, SymbolsPerStream: 2, Transport: "grpc", HTTPVersion: "2", Encoding: "protobuf", Streams: 10_000, Connections: 100, Symbols: 100, Rate: 200, Arrivals: "steady", Policy: "conflate"},
			exchange + "synth --max-duration=4m0s --rate=200 --symbols=100 --arrivals=steady --seed=18446744073709551615 --zipf=1.5",
			"fleet --transport=grpc --http-version=2 --encoding=protobuf --streams=10000 --connections=100 --symbols-per-stream=2 --warmup=3s --duration=10s --target=h:1 --debug-target=h:3 --json=out --no-table --no-calibrate --label=grpc/100 --policy=conflate"},
		{"a capture over WebSocket",
			plan.Cell{Source: capture, Transport: "websocket", HTTPVersion: "1.1", Encoding: "json", Streams: 5, Connections: 5},
			exchange + "captures/binance.jsonl.gz --max-duration=4m0s --loop",
			"fleet --transport=websocket --http-version=1.1 --encoding=json --streams=5 --connections=5 --symbols-per-stream=1 --warmup=3s --duration=10s --target=h:2 --debug-target=h:3 --json=out --no-table --no-calibrate --label=websocket"},
		{"TLS, compressed and padded",
			plan.Cell{Source: capture, Transport: "websocket", HTTPVersion: "1.1", Encoding: "json", Streams: 5, Connections: 5, TLS: true, Compression: "deflate", PayloadBytes: 512},
			exchange + "captures/binance.jsonl.gz --max-duration=4m0s --tls=self --tls-ca-out=dir/ca.pem --compression --pad-ticks=512 --loop",
			"fleet --transport=websocket --http-version=1.1 --encoding=json --streams=5 --connections=5 --symbols-per-stream=1 --warmup=3s --duration=10s --target=h:2 --debug-target=h:3 --json=out --no-table --no-calibrate --label=websocket tls deflate --compression=deflate --ca=dir/ca.pem"},
		{"a capture at another rate", plan.Cell{Source: capture, Transport: "sse", Rate: 1e6},
			exchange + "captures/binance.jsonl.gz --max-duration=4m0s --rate=1e+06 --loop",
			"fleet --transport=sse --http-version= --encoding= --streams=0 --connections=0 --symbols-per-stream=1 --warmup=3s --duration=10s --target=h:2 --debug-target=h:3 --json=out --no-table --no-calibrate --label=sse h1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, ready := &Runner{opts: opts}, ready
			if c.cell.TLS {
				ready.TLSCA = "dir/ca.pem"
			}
			if got := strings.Join(r.exchangeArgs(c.cell, 4*time.Minute, "dir"), " "); got != c.exchange {
				t.Errorf("exchange\n got %s\nwant %s", got, c.exchange)
			}
			if got := strings.Join(r.fleetArgs(c.cell, ready, "out"), " "); got != c.fleet {
				t.Errorf("fleet\n got %s\nwant %s", got, c.fleet)
			}
		})
	}
}
