package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/fleet"
	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/report"
	"github.com/tickgauge/tickgauge/feed"
)

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
		if o.Symbol != "R" || o.Account != "acct-1" || o.Filled != 100 || !o.Saturated && o.ServerCPUNSPerOrder != nil || o.Sent != 100 || o.Acked != 100 || o.Service.P50 < 100_000 || o.Service.Max > 100_100 || o.LatencyWithService.P50 < o.Latency.P50+99_000 {
			t.Errorf("%+v", o)
		}
	}
	for _, c := range []struct {
		say  string
		args []string
	}{
		{"UNKNOWN_SYMBOL", orders("--symbol=NONE")},
		{"--debug-target 127.0.0.1:1: read ledger", orders("--debug-target=127.0.0.1:1")},
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
