package runner

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	t.Setenv(childrenDir, t.TempDir())
	t.Setenv(fleetDoes, "never end")
	stderr, waits := waiting(t)
	p, err := start(os.Args[0], []string{"fleet"}, nil, stderr)
	if err != nil {
		t.Fatal(err)
	}
	<-waits
	if pgid, err := syscall.Getpgid(p.cmd.Process.Pid); err != nil || pgid != p.cmd.Process.Pid {
		t.Errorf("process group %d, %v; want one of its own", pgid, err)
	}
	p.stop(10 * time.Millisecond)
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Errorf("ended with %v, want that it was killed", p.cmd.ProcessState)
	}
	if exitCode(p.err) != -1 {
		t.Errorf("status %d, want -1", exitCode(p.err))
	}
	p.stop(0) // again, after its end
}

// A child without error output still has the descriptor, or the first socket it
// opened would take its place.
func TestStartWithoutErrorOutput(t *testing.T) {
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("descriptors are not seen here")
	}
	for _, stderr := range []io.Writer{(*os.File)(nil), io.Discard} {
		var out bytes.Buffer
		p, err := start("/bin/sh", []string{"-c", "readlink /proc/$$/fd/2"}, &out, stderr)
		if err != nil {
			t.Fatal(err)
		}
		<-p.done
		if got := strings.TrimSpace(out.String()); got == "" || p.err != nil {
			t.Errorf("error output %q, %v; want some", got, p.err)
		}
	}
}

func TestStartFails(t *testing.T) {
	if p, err := start("/no/such/program", []string{"exchange"}, nil, io.Discard); p != nil || err == nil || !strings.HasPrefix(err.Error(), "start exchange: ") {
		t.Errorf("process %v, error %v", p, err)
	}
}

func TestTail(t *testing.T) {
	long := strings.Repeat("x", tailBytes)
	for _, c := range []struct {
		name    string
		written []string
		said    string
	}{
		{"nothing", nil, ""},
		{"blank lines", []string{"\n\n"}, ""},
		{"one line", []string{"out of memory\n"}, ": out of memory"},
		{"the last of several", []string{"starting\nlistening\n", "out of ", "memory\n\n"}, ": out of memory"},
		{"the last after much", []string{long, "\nout of memory"}, ": out of memory"},
		{"the end of a long line", []string{"start " + long}, ": " + long},
	} {
		t.Run(c.name, func(t *testing.T) {
			var through bytes.Buffer
			tl := &tail{next: &through}
			for _, text := range c.written {
				if n, err := io.WriteString(tl, text); n != len(text) || err != nil {
					t.Fatalf("wrote %d, %v", n, err)
				}
			}
			if got := tl.said(); got != c.said {
				t.Errorf("said %.40q, want %.40q", got, c.said)
			}
			if through.String() != strings.Join(c.written, "") {
				t.Error("not all went through")
			}
			if len(tl.kept) > tailBytes {
				t.Errorf("%d bytes are kept", len(tl.kept))
			}
		})
	}
}

func TestExitCode(t *testing.T) {
	exited := func(script string) error { return exec.Command("/bin/sh", "-c", script).Run() }
	for name, c := range map[string]struct {
		err  error
		want int
	}{
		"well":         {nil, 0},
		"status":       {exited("exit 3"), 3},
		"wrapped":      {fmt.Errorf("wait: %w", exited("exit 4")), 4},
		"signal":       {exited("kill -KILL $$"), -1},
		"never waited": {os.ErrClosed, -1},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
}
