//go:build overload

// Ten overloads on purpose: a run under each must be marked, and name what was at
// fault. They load the machine on purpose, and so stand behind `make overload`.
package main

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/clients/runner"
	"github.com/tickgauge/tickgauge/feed"
)

// overload is a run that cannot be trusted, and what must be said of it.
type overload struct {
	name     string
	exchange []string // flags
	fleet    []string
	env      []string                                            // of the fleet
	through  func(t *testing.T, ready *runner.Ready)             // puts something between the two
	during   func(t *testing.T, exchange, fleet int, log *lines) // while it runs, by process ids
	reasons  string                                              // one of the reasons matches
	saturate bool                                                // and it is saturated; else not valid
}

const (
	late   = `was late|fell behind`
	behind = `the publisher (was late|fell behind)|only .* was published|still publishing|saturated`
)

func overloads() []overload {
	return []overload{
		{
			name: "rate", exchange: []string{"--rate=20000", "--symbols=10"}, fleet: []string{"--streams=1000", "--connections=10"},
			reasons: `conflated|mean latency rose|` + late,
		},
		{
			name: "streams", exchange: []string{"--rate=500", "--symbols=1"}, fleet: []string{"--streams=6000", "--connections=6000"},
			reasons: `conflated|mean latency rose|` + late,
		},
		{
			name: "starved fleet", exchange: []string{"--rate=2000"}, fleet: []string{"--streams=1000", "--connections=10"}, env: []string{"GOMAXPROCS=1"},
			during: func(t *testing.T, _, fleet int, _ *lines) { starve(t, fleet) }, reasons: `the fleet (was late|fell behind)`,
		},
		{
			name: "starved exchange", exchange: []string{"--rate=2000"}, fleet: []string{"--streams=1000", "--connections=10"},
			during: func(t *testing.T, exchange, _ int, _ *lines) { starve(t, exchange) }, reasons: `the publisher (was late|fell behind)`,
		},
		{
			name: "slow readers", exchange: []string{"--rate=20000", "--symbols=1"}, fleet: []string{"--transport=websocket", "--streams=4"},
			through: func(t *testing.T, ready *runner.Ready) { ready.HTTP = forward(t, ready.HTTP, slow(300_000)) },
			reasons: `was conflated or dropped|mean latency rose|had not arrived`, saturate: true,
		},
		{
			name: "tiny queues", exchange: []string{"--queue=1", "--rate=30000", "--symbols=1", "--arrivals=bursty"}, fleet: []string{"--streams=20", "--connections=1"},
			reasons: `was conflated or dropped`, saturate: true,
		},
		{
			name: "frozen exchange", exchange: []string{"--rate=200"}, fleet: []string{"--streams=100", "--connections=1"},
			during: func(t *testing.T, exchange, _ int, log *lines) { freeze(t, exchange, log) }, reasons: `the publisher was late`,
		},
		{
			name: "frozen fleet", exchange: []string{"--rate=200"}, fleet: []string{"--streams=100", "--connections=1"},
			during: func(t *testing.T, _, fleet int, log *lines) { freeze(t, fleet, log) }, reasons: `the fleet was late`,
		},
		{
			name: "clock of another boot", exchange: []string{"--rate=200"}, fleet: []string{"--transport=sse", "--encoding=json", "--streams=10"},
			through: func(t *testing.T, ready *runner.Ready) {
				other := strings.Map(func(r rune) rune {
					if r == '-' {
						return r
					}
					return '0'
				}, feed.BootID())
				ready.HTTP = forward(t, ready.HTTP, replace(feed.BootID(), other))
			},
			reasons: `another machine or boot`,
		},
		{
			name: "saturated connection window", exchange: []string{"--rate=2000", "--symbols=10"}, fleet: []string{"--streams=100", "--connections=1"},
			through: func(t *testing.T, ready *runner.Ready) { ready.GRPC = forward(t, ready.GRPC, slow(100_000)) },
			reasons: `was conflated or dropped|mean latency rose|had not arrived`, saturate: true,
		},
		{
			name: "publisher behind", exchange: []string{"--rate=1000000", "--symbols=1"}, fleet: []string{"--streams=1"},
			reasons: behind,
		},
	}
}

func TestOverloads(t *testing.T) {
	for _, o := range overloads() {
		t.Run(o.name, func(t *testing.T) {
			run := o.run(t)
			t.Logf("valid %t, saturated %t: %s", run.Valid, run.Saturated, strings.Join(run.Reasons, "; "))
			if run.Valid && !run.Saturated || o.saturate && !run.Saturated {
				t.Errorf("valid %t, saturated %t; want it marked", run.Valid, run.Saturated)
			}
			if !regexp.MustCompile(o.reasons).MatchString(strings.Join(run.Reasons, "\n")) {
				t.Errorf("no reason like %q among %q", o.reasons, run.Reasons)
			}
		})
	}
}

func (o *overload) run(t *testing.T) *measure.Run {
	t.Helper()
	exchange, ready, _ := exchangeProcess(t, append([]string{"--hold", "--max-duration=1m"}, o.exchange...)...)
	if o.through != nil {
		o.through(t, &ready)
	}
	file := filepath.Join(t.TempDir(), "run.json")
	target := ready.GRPC
	if strings.Contains(strings.Join(o.fleet, " "), "--transport=") {
		target = ready.HTTP
	}
	args := append([]string{"fleet", "--target=" + target, "--debug-target=" + ready.Debug, "--warmup=500ms", "--duration=4s", "--json=" + file, "--no-table", "--announce"}, o.fleet...)
	fleet := command(t, args...)
	fleet.Env = append(fleet.Env, o.env...)
	var log lines
	fleet.Stdout, fleet.Stderr = &log, &log
	if err := fleet.Start(); err != nil {
		t.Fatal(err)
	}
	if o.during != nil {
		o.during(t, exchange.Process.Pid, fleet.Process.Pid, &log)
	}
	_ = fleet.Wait() // what it measured says the rest
	results, err := report.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; %s", err, log.String())
	}
	return results.Cells[0].Runs[0]
}

// starve leaves a process the least of the machine: the lowest priority, against
// spinning threads of the highest that a user has, for as long as the test runs.
func starve(t *testing.T, pid int) {
	t.Helper()
	tasks, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		if tid, err := strconv.Atoi(filepath.Base(task)); err == nil {
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, tid, 19) // the thread may be gone
		}
	}
	stop := make(chan struct{})
	for range 2 * runtime.NumCPU() {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	t.Cleanup(func() { close(stop) })
}

// freeze stops a process for a second in the middle of the window.
func freeze(t *testing.T, pid int, log *lines) {
	t.Helper()
	waitFor(t, "the window", func() bool { return log.has(`"measuring":true`) })
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}
