//go:build overload && linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/runner"
	"github.com/tickgauge/tickgauge/feed"
)

// overload is a load on purpose that no run may hide.
type overload struct {
	name     string
	exchange []string
	fleet    []string
	prepare  func(fleet *exec.Cmd)                                   // before it starts
	through  func(t *testing.T, ready runner.Ready) *proxy           // where the fleet connects instead
	measured func(t *testing.T, exchange, fleet *exec.Cmd, p *proxy) // while it measures
	reason   string                                                  // what one of the reasons must say
}

const (
	publisherLate = `the publisher (was late|fell behind)|of what was due was published`
	fleetLate     = `the fleet (was late|fell behind)`
	skipped       = `saturated: .* was conflated or dropped`
)

// starved leaves a process behind all others, beside threads that spin until the test
// ends.
func starved(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		if id, err := strconv.Atoi(filepath.Base(thread)); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, 19) // the thread may be gone
		}
	}
	for range runtime.NumCPU() {
		go func() {
			for t.Context().Err() == nil {
				continue // spinning is the point
			}
		}()
	}
}

// frozen stops a process for a second.
func frozen(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := feed.SleepUntil(t.Context(), feed.Now()+1e9); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// TestOverloadIsFound: loads that are more than what carries them, each with the
// reason that names what was short. They take both cores for a minute.
func TestOverloadIsFound(t *testing.T) {
	for _, c := range []overload{
		{name: "rate", exchange: []string{"--rate=50000"}, fleet: []string{"--streams=1000"}, reason: skipped + "|" + publisherLate + "|" + fleetLate},
		{name: "streams", exchange: []string{"--symbols=1", "--rate=200"}, fleet: []string{"--streams=5000"}, reason: skipped + "|" + publisherLate + "|" + fleetLate},
		{name: "starved fleet", exchange: []string{"--rate=2000"}, fleet: []string{"--streams=1000"},
			prepare:  func(fleet *exec.Cmd) { fleet.Env = append(fleet.Env, "GOMAXPROCS=1") },
			measured: func(t *testing.T, _, fleet *exec.Cmd, _ *proxy) { starved(t, fleet) },
			reason:   fleetLate},
		{name: "starved exchange", exchange: []string{"--rate=2000"}, fleet: []string{"--streams=1000"},
			measured: func(t *testing.T, exchange, _ *exec.Cmd, _ *proxy) { starved(t, exchange) },
			reason:   publisherLate},
		{name: "frozen fleet", exchange: []string{"--rate=20000", "--queue=16"}, fleet: []string{"--streams=100"},
			measured: func(t *testing.T, _, fleet *exec.Cmd, _ *proxy) { frozen(t, fleet) },
			reason:   fleetLate},
		{name: "slow readers", exchange: []string{"--rate=10000", "--symbols=1", "--queue=16"},
			fleet:    []string{"--transport=websocket", "--encoding=json", "--streams=2"},
			through:  func(t *testing.T, ready runner.Ready) *proxy { return newProxy(t, ready.HTTP, nil) },
			measured: func(t *testing.T, _, _ *exec.Cmd, p *proxy) { p.stop(t) },
			reason:   skipped},
		{name: "tiny queues", exchange: []string{"--rate=100000", "--symbols=1", "--queue=1"}, fleet: []string{"--streams=20"},
			reason: skipped + "|" + publisherLate},
		{name: "frozen exchange", exchange: []string{"--rate=1000"}, fleet: []string{"--streams=100"},
			measured: func(t *testing.T, exchange, _ *exec.Cmd, _ *proxy) { frozen(t, exchange) },
			reason:   publisherLate},
		{name: "another boot", fleet: []string{"--transport=sse", "--encoding=json", "--streams=5"},
			through: func(t *testing.T, ready runner.Ready) *proxy {
				return newProxy(t, ready.HTTP, func(b []byte) []byte {
					return bytes.ReplaceAll(b, []byte(feed.BootID()), []byte(strings.Repeat("0", len(feed.BootID()))))
				})
			},
			reason: "another machine or boot"},
		{name: "saturated connection", exchange: []string{"--rate=20000", "--queue=16"},
			fleet:    []string{"--streams=20", "--symbols-per-stream=5", "--connections=1", "--encoding=json"},
			through:  func(t *testing.T, ready runner.Ready) *proxy { return newProxy(t, ready.GRPC, nil) },
			measured: func(t *testing.T, _, _ *exec.Cmd, p *proxy) { p.stop(t) },
			reason:   skipped},
		{name: "publisher behind", exchange: []string{"--rate=1000000"}, fleet: []string{"--streams=1"}, reason: publisherLate},
	} {
		t.Run(c.name, func(t *testing.T) {
			run, errs := c.run(t)
			said := strings.Join(run.Reasons, "; ")
			if run.Valid && !run.Saturated || !regexp.MustCompile(c.reason).MatchString(said) {
				t.Errorf("valid %v, saturated %v: %q, want %q\n%s", run.Valid, run.Saturated, said, c.reason, errs)
			}
			t.Log(said)
		})
	}
}

func (c *overload) run(t *testing.T) (*measure.Run, string) {
	exchange, ready, _ := exchangeProcess(t, append([]string{"--hold"}, c.exchange...)...)
	target := ready.GRPC
	var p *proxy
	if c.through != nil {
		p = c.through(t, ready)
		target = p.addr
	}
	file := filepath.Join(t.TempDir(), "run.json")
	fleet := command(t, append([]string{"fleet", "--announce", "--target=" + target, "--debug-target=" + ready.Debug, "--warmup=200ms", "--duration=3s", "--no-table", "--json=" + file}, c.fleet...)...)
	var out, errs lines
	fleet.Stdout, fleet.Stderr = &out, &errs
	if c.prepare != nil {
		c.prepare(fleet)
	}
	if err := fleet.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- fleet.Wait() }()
	if c.measured != nil {
		waitFor(t, "the window", func() bool { return out.has("measuring") })
		c.measured(t, exchange, fleet, p)
	}
	if err := <-ended; err != nil {
		t.Fatalf("the fleet: %v\n%s", err, errs.String())
	}
	return readRun(t, file), errs.String()
}

// proxy passes connections on, and may once stop passing what the exchange sends.
type proxy struct {
	addr    string
	stopped atomic.Bool
	resumed chan struct{}
	resume  func()
}

// stop passes nothing on for 1.5 s.
func (p *proxy) stop(t *testing.T) {
	t.Helper()
	p.stopped.Store(true)
	if err := feed.SleepUntil(t.Context(), feed.Now()+15e8); err != nil {
		t.Fatal(err)
	}
	p.stopped.Store(false)
	p.resume()
}

func newProxy(t *testing.T, target string, change func([]byte) []byte) *proxy {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: ln.Addr().String(), resumed: make(chan struct{})}
	p.resume = sync.OnceFunc(func() { close(p.resumed) })
	var conns sync.WaitGroup
	t.Cleanup(func() { _ = ln.Close(); p.resume(); conns.Wait() })
	conns.Go(func() {
		for {
			in, err := ln.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", target)
			if err != nil {
				_ = in.Close()
				return
			}
			// So that the way holds less than what is due while it is stopped.
			_ = out.(*net.TCPConn).SetReadBuffer(1 << 16)
			conns.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
			conns.Go(func() { p.pass(in, out, change); _ = in.Close() })
		}
	})
	return p
}

func (p *proxy) pass(in, out net.Conn, change func([]byte) []byte) {
	buf := make([]byte, 1<<16)
	for {
		n, err := out.Read(buf)
		if err != nil {
			return
		}
		if p.stopped.Load() {
			<-p.resumed
		}
		b := buf[:n]
		if change != nil {
			b = change(b)
		}
		if _, err := in.Write(b); err != nil {
			return
		}
	}
}
