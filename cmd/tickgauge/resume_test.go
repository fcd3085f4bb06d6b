package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/tickgauge/tickgauge/clients/report"
)

const smallPlan = `name: small
rounds: 6
warmup: 50ms
window: 200ms
base: {streams: 20, rate: 200}
cells: [grpc, websocket]
`

// A comparison that a signal ends goes on where it stood, and measures nothing twice.
func TestCompareGoesOn(t *testing.T) {
	dir := t.TempDir()
	plan, out := filepath.Join(dir, "small.yaml"), filepath.Join(dir, "out")
	if err := os.WriteFile(plan, []byte(smallPlan), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv(asProgram, "1") // the program starts itself
	var log lines
	cmd := command(t, "compare", "--plan="+plan, "--out="+out)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the fourth run", func() bool { return log.has("run 4 of 12") })
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitFailed || !strings.Contains(log.String(), "--resume "+out) {
		t.Fatalf("status %d; %s", got, log.String())
	}
	before := runFiles(t, out)
	if len(before) < 3 || len(before) == 12 {
		t.Fatalf("%d runs were kept: %s", len(before), log.String())
	}
	status, table, errs := program(t, "compare", "--resume="+out)
	if status != 0 || !strings.Contains(table, " valid") {
		t.Fatalf("status %d\n%s\n%s", status, table, errs)
	}
	after := runFiles(t, out)
	for name, info := range before {
		if !os.SameFile(info, after[name]) || !info.ModTime().Equal(after[name].ModTime()) {
			t.Errorf("%s was measured again", name)
		}
	}
	results, err := report.ReadFile(filepath.Join(out, "results.json"))
	if err != nil || len(after) != 12 || len(results.Cells) != 2 || results.Plan != "small" {
		t.Errorf("%d files, %+v, %v", len(after), results, err)
	}
	for _, c := range results.Cells {
		last := 0 // a run that was not valid is there twice
		for i, run := range c.Runs {
			if run.Round != last && run.Round != last+1 || run.Started == "" || run.Due == 0 {
				t.Errorf("run %d: %+v", i, run)
			}
			last = run.Round
		}
		if last != 6 {
			t.Errorf("%d rounds", last)
		}
	}
	if status, _, errs = program(t, "compare", "--plan="+plan, "--out="+out); status != exitFailed || !strings.Contains(errs, "--resume "+out) {
		t.Errorf("over what is there: status %d, %s", status, errs)
	}
	if status, _, errs = program(t, "compare", "--resume="+out, "--rounds=7"); status != exitUsage || !strings.Contains(errs, "--rounds does not go with") {
		t.Errorf("with other rounds: status %d, %s", status, errs)
	}
}

func runFiles(t *testing.T, dir string) map[string]os.FileInfo {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(dir, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	files := make(map[string]os.FileInfo)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		files[e.Name()] = info
	}
	return files
}

// Children do not outlive a comparison that is killed.
func TestKilledComparisonLeavesNobody(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells children of their parent's end")
	}
	t.Setenv(asProgram, "1") // the program starts itself
	t.Setenv("TMPDIR", t.TempDir())
	var log lines
	cmd := command(t, "compare", "--rounds=1", "--skip-orders", "--streams=20", "--transports=grpc", "--warmup=0s", "--duration=1m", "--out="+filepath.Join(t.TempDir(), "out"))
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "both children", func() bool { return len(childrenOf(t, cmd.Process.Pid)) == 2 && log.has("measuring") })
	children := childrenOf(t, cmd.Process.Pid)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	for _, pid := range children {
		waitFor(t, "the end of a child", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) || zombie(pid) })
	}
}

func childrenOf(t *testing.T, pid int) (children []int) {
	t.Helper()
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		b, _ := os.ReadFile(list) // the thread may be gone
		for _, field := range strings.Fields(string(b)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}

// zombie reports whether a process has ended and nobody has asked for its status.
func zombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(b), ") Z ")
}

// A threshold that does not hold is a status of its own; one on what is not measured
// is told before anything runs.
func TestThresholds(t *testing.T) {
	t.Setenv(asProgram, "1") // the program starts itself
	args := func(threshold string) []string {
		return []string{"compare", "--rounds=1", "--skip-orders", "--streams=20", "--transports=sse", "--warmup=50ms", "--duration=300ms",
			"--out=" + filepath.Join(t.TempDir(), "out"), "--threshold=" + threshold}
	}
	if status, out, errs := program(t, args("sse.latency.p50 > 1h")...); status != exitBeyond || !strings.Contains(out, "FAIL  sse.latency.p50 > 1h") {
		t.Errorf("status %d\n%s\n%s", status, out, errs)
	}
	for threshold, said := range map[string]string{"sse.latency.p98 < 1h": `no figure "latency.p98"`, "grpc.latency.p99 < 1h": `no cell is called "grpc"`, "sse.latency.p99 < 5": "a duration such as", "sse": "CELL.FIGURE"} {
		if status, _, errs := program(t, args(threshold)...); status != exitUsage || !strings.Contains(errs, said) {
			t.Errorf("%s: status %d, %s", threshold, status, errs)
		}
	}
}

// A fleet that is killed costs its run, and nothing else.
func TestCompareWhenAFleetIsKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("finds the fleet in /proc")
	}
	t.Setenv(asProgram, "1") // the program starts itself
	out := filepath.Join(t.TempDir(), "out")
	var log lines
	cmd := command(t, "compare", "--rounds=6", "--skip-orders", "--streams=20", "--transports=grpc", "--warmup=0s", "--duration=300ms", "--out="+out)
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the second run", func() bool { return log.has("run 2 of 6") })
	waitFor(t, "its fleet", func() bool {
		for _, pid := range childrenOf(t, cmd.Process.Pid) {
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), "\x00fleet\x00") {
				return syscall.Kill(pid, syscall.SIGKILL) == nil
			}
		}
		return false
	})
	_ = cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitFailed || !log.has("tickgauge: grpc/10: the fleet ended with status -1 and no result") {
		t.Errorf("status %d: %s", got, log.String())
	}
	if kept := runFiles(t, out); len(kept) != 5 {
		t.Errorf("%d runs were kept, want the five others: %s", len(kept), log.String())
	}
	if status, _, errs := program(t, "compare", "--resume="+out); status != 0 || len(runFiles(t, out)) != 6 {
		t.Errorf("resumed with status %d: %s", status, errs)
	}
}
