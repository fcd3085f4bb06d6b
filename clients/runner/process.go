// Package runner starts an exchange and a fleet as processes of their own for
// each cell of a comparison, and brings back what the fleet measured.
package runner

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Ready is the line that an exchange prints when it serves.
type Ready struct {
	Ready   bool   `json:"ready"`
	GRPC    string `json:"grpc"`
	HTTP    string `json:"http"`
	Debug   string `json:"debug"`
	Version string `json:"version"`
	TLSCA   string `json:"tls_ca"` // the file of the CA to trust
}

const (
	readyTimeout = 30 * time.Second // a large capture is read whole before
	stopTimeout  = 8 * time.Second  // the exchange gives its streams 5 s
	deathTimeout = 500 * time.Millisecond
)

// process is a child with the end of its standard error kept for messages.
type process struct {
	cmd    *exec.Cmd
	errors *tail
	done   chan struct{}
	err    error // set before done is closed
}

// start runs a child in a process group of its own, so that a terminal's Ctrl-C
// reaches only this process, which then ends its children in the right order. On
// Linux the child is asked to end, too, when this process is killed.
func start(binary string, args []string, stdout, stderr io.Writer) (*process, error) {
	p := &process{cmd: exec.Command(binary, args...), errors: &tail{next: stderr}, done: make(chan struct{})}
	p.cmd.Stdout = stdout
	switch f, ok := stderr.(*os.File); {
	case !ok:
		p.cmd.Stderr = p.errors
	case f != nil: // else nobody listens, and the child must not start without the descriptor
		p.cmd.Stderr = f // the child sees whether it is a terminal
	}
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The system tells the child of the end of the thread that started it, so that
		// this one stays until the child has ended.
		runtime.LockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.err = p.cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	return p, nil
}

// signal asks the child to end; one that is gone already is fine.
func (p *process) signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// stop ends the child and waits for it: with SIGTERM, and SIGKILL after the
// timeout.
func (p *process) stop(timeout time.Duration) {
	p.signal(syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(timeout):
		p.signal(syscall.SIGKILL)
		<-p.done
	}
}

// died reports whether the child has ended by itself. What shows of that may come
// a moment before the end.
func (p *process) died() bool {
	select {
	case <-p.done:
		return true
	case <-time.After(deathTimeout):
		return false
	}
}

// startExchange starts an exchange and waits for its ready line.
func startExchange(ctx context.Context, binary string, args []string) (*process, Ready, error) {
	var ready Ready
	r, w, err := os.Pipe()
	if err != nil {
		return nil, ready, fmt.Errorf("start exchange: %w", err)
	}
	defer func() { _ = r.Close() }()
	p, err := start(binary, append([]string{"exchange"}, args...), w, io.Discard)
	_ = w.Close() // the child has it
	if err != nil {
		return nil, ready, err
	}
	line := make(chan []byte, 1)
	go func() {
		b, _ := bufio.NewReader(r).ReadBytes('\n')
		line <- b
	}()
	fail := func(why error) (*process, Ready, error) {
		p.stop(stopTimeout)
		return nil, ready, fmt.Errorf("start exchange: %w%s", why, p.errors.said())
	}
	select {
	case b := <-line:
		if json.Unmarshal(b, &ready) != nil || !ready.Ready {
			p.died() // most likely, with an error
			return fail(errors.New("it did not become ready"))
		}
		return p, ready, nil
	case <-time.After(readyTimeout):
		return fail(fmt.Errorf("no ready line within %s", readyTimeout))
	case <-ctx.Done():
		return fail(context.Cause(ctx))
	}
}

// tail keeps the last lines that were written to it.
type tail struct {
	next io.Writer

	mu   sync.Mutex
	kept []byte
}

const tailBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, b...)
	if over := len(t.kept) - tailBytes; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	return t.next.Write(b)
}

// said returns the last line in the form of an error's detail.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(t.kept)), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return ": " + last
	}
	return ""
}

// exitCode returns the child's exit status, -1 where a signal ended it.
func exitCode(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}
