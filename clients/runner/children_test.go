package runner

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// The tests run themselves as exchange and fleet. What a child does is in these
// variables of the environment; where it is empty the tests run.
const (
	exchangeDoes = "TICKGAUGE_TEST_EXCHANGE"
	fleetDoes    = "TICKGAUGE_TEST_FLEET"
	traderDoes   = "TICKGAUGE_TEST_TRADER"
	goOn         = "TICKGAUGE_TEST_GO_ON"    // a file: what waits for the test goes on once it is there
	childrenDir  = "TICKGAUGE_TEST_CHILDREN" // each child writes its arguments there, by its pid
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Getenv(childrenDir) != "" {
		switch os.Args[1] {
		case "exchange":
			os.Exit(beExchange(os.Getenv(exchangeDoes))) //nolint:forbidigo // a main, in a process of its own
		case "fleet":
			os.Exit(beFleet(os.Getenv(fleetDoes))) //nolint:forbidigo // a main, in a process of its own
		case "orders":
			os.Exit(beTrader(os.Getenv(traderDoes))) //nolint:forbidigo // a main, in a process of its own
		}
	}
	goleak.VerifyTestMain(m)
}

// child notes that this process is one, and returns the signals that it is sent.
func child() chan os.Signal {
	// A test that failed may leave its children alone.
	time.AfterFunc(time.Minute, func() { os.Exit(9) }) //nolint:forbidigo // in a process of its own
	signals := make(chan os.Signal, 100)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	path := filepath.Join(os.Getenv(childrenDir), strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(path, []byte(strings.Join(os.Args[1:], "\n")), 0o600); err != nil {
		panic(err)
	}
	return signals
}

func beExchange(does string) (status int) {
	signals := child()
	const ready = `{"ready":true,"grpc":"127.0.0.1:1001","http":"127.0.0.1:1002","debug":"127.0.0.1:1003","version":"v9"}`
	switch does {
	case "cannot listen":
		fmt.Fprintln(os.Stderr, "starting")
		fmt.Fprintln(os.Stderr, "tickgauge: --grpc-addr: address already in use")
		return 3
	case "babble":
		fmt.Println("hello")
	case "not ready":
		fmt.Println(`{"ready":false}`)
	case "be silent":
	case "die when asked to stop":
		fmt.Println(ready)
		<-signals
		return 1
	case "run out of memory":
		fmt.Println(ready)
		fmt.Fprintln(os.Stderr, "fatal error: out of memory")
		return 2
	default:
		fmt.Println(ready)
	}
	<-signals
	return 0
}

const oneRun = `{"cells":[{"runs":[{"valid":true,"reasons":[],"due":100,"received":100,"problems":%d}]}]}`

func beFleet(does string) (status int) {
	signals := child()
	result := fmt.Sprintf(oneRun, 0)
	switch does {
	case "fail":
		return 5
	case "fail after the exchange":
		for anotherRuns() {
			time.Sleep(time.Millisecond) //nolint:forbidigo // a process that another one waits for
		}
		return 5
	case "write nonsense":
		result = "{"
	case "write two cells":
		result = `{"cells":[{"runs":[{}]},{"runs":[{}]}]}`
	case "write no runs":
		result = `{"cells":[{"runs":[]}]}`
	case "wait", "wait for ever", "never end":
		fmt.Fprintln(os.Stderr, "a child waits")
		sig := <-signals
		for does == "never end" {
			<-signals
		}
		if does == "wait for ever" {
			for sig != syscall.SIGTERM {
				sig = <-signals
			}
			return 6
		}
		// Time enough for signals that should not come.
		time.Sleep(50 * time.Millisecond) //nolint:forbidigo // a process that another one waits for
		result = fmt.Sprintf(oneRun, 1+len(signals))
		if sig != syscall.SIGINT {
			return 7
		}
	}
	if slices.Contains(os.Args, "--announce") {
		fmt.Println(`{"measuring":true}`)
		for does == "wait for the test" && !isThere(os.Getenv(goOn)) {
			time.Sleep(time.Millisecond) //nolint:forbidigo // a process that another one waits for
		}
	}
	return write(result)
}

// write writes a result where the arguments say, and returns the exit status.
func write(result string) int {
	for _, arg := range os.Args {
		if path, ok := strings.CutPrefix(arg, "--json="); ok {
			if err := os.WriteFile(path, []byte(result), 0o600); err != nil {
				return 8
			}
		}
	}
	return 0
}

func beTrader(does string) (status int) {
	signals := child()
	result := `{"orders":[{"valid":true,"reasons":[],"sent":7,"acked":7}]}`
	switch does {
	case "fail":
		return 5
	case "write no runs":
		result = `{"cells":[],"orders":[]}`
	case "wait":
		fmt.Fprintln(os.Stderr, "a child waits")
		if <-signals != syscall.SIGINT {
			return 7
		}
		result = `{"orders":[{"interrupted":true,"sent":3,"acked":3}]}`
	}
	return write(result)
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// anotherRuns says whether a child beside this one is alive.
func anotherRuns() bool {
	for pid := range childrenIn(os.Getenv(childrenDir)) {
		if pid != os.Getpid() && syscall.Kill(pid, 0) == nil && !isZombie(pid) {
			return true
		}
	}
	return false
}

func isZombie(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

// childrenIn returns the arguments of the children that wrote them down, by pid.
func childrenIn(dir string) map[int][]string {
	children := map[int][]string{}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		pid, _ := strconv.Atoi(e.Name())
		b, _ := os.ReadFile(filepath.Join(dir, e.Name()))
		children[pid] = strings.Split(string(b), "\n")
	}
	return children
}
