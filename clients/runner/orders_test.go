package runner

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

var orderCells = []plan.OrderCell{
	{Path: "grpc-unary", HTTPVersion: "2", Encoding: "protobuf", Workers: 5},
	{Path: "rest+sse", HTTPVersion: "1.1", Encoding: "json", Workers: 6, Rate: 12.5, PayloadBytes: 1024},
}

// collect returns options that keep the runs.
func collect(runs *[]*measure.Orders) OrderOptions {
	return OrderOptions{Symbol: "RESERVED", Warmup: time.Second, Duration: 2 * time.Second, Done: func(o *measure.Orders) { *runs = append(*runs, o) }}
}

func TestOrdersBringTheResultsBack(t *testing.T) {
	r, children := prepare(t, "", "", nil)
	var runs []*measure.Orders
	var starting []string
	opts := collect(&runs)
	opts.Starting = func(_ int, c plan.OrderCell) { starting = append(starting, c.Name()) }
	if err := r.Orders(t.Context(), orderCells, opts, nil); err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[1].Sent != 7 || !runs[1].Valid || !slices.Equal(starting, []string{"grpc-unary, 5 workers", "rest+sse h1, 12 orders/s"}) {
		t.Errorf("%+v, starting %q", runs, starting)
	}
	var exchange []string
	traders := map[string]string{}
	for _, args := range children() {
		switch args[0] {
		case "exchange":
			exchange = args
		case "orders":
			traders[args[1]] = strings.Join(args, " ")
		}
	}
	if !slices.Contains(exchange, "--reserve=RESERVED") || !slices.Contains(exchange, "--hold") {
		t.Errorf("the exchange was started with %q", exchange)
	}
	for path, want := range map[string]string{
		"--path=grpc-unary": " --http=2 --encoding=protobuf --workers=5 --rate=0 --payload-bytes=0 --symbol=RESERVED --warmup=1s --duration=2s --target=127.0.0.1:1001 --debug-target=127.0.0.1:1003 ",
		"--path=rest+sse":   " --http=1.1 --encoding=json --workers=6 --rate=12.5 --payload-bytes=1024 --symbol=RESERVED --warmup=1s --duration=2s --target=127.0.0.1:1002 --debug-target=127.0.0.1:1003 ",
	} {
		if !strings.Contains(traders[path], want) {
			t.Errorf("trader %s was started with %s, want %s", path, traders[path], want)
		}
	}
}

func TestOrdersFail(t *testing.T) {
	for _, c := range []struct{ exchange, trader, says string }{
		{"cannot listen", "", "address already in use"},
		{"", "fail", "grpc-unary, 5 workers: the trader ended with status 5 and no result"},
		{"", "write no runs", "has 0 runs"},
		{"run out of memory", "fail", "out of memory"},
	} {
		r, _ := prepare(t, c.exchange, "", nil)
		t.Setenv(traderDoes, c.trader)
		var runs []*measure.Orders
		if err := r.Orders(t.Context(), orderCells, collect(&runs), nil); err == nil || !strings.Contains(err.Error(), c.says) || len(runs) != 0 {
			t.Errorf("%s, %s: %d runs, %v", c.exchange, c.trader, len(runs), err)
		}
	}
}

// TestOrdersInterrupted: the trader under way hears of it, and no other is begun.
func TestOrdersInterrupted(t *testing.T) {
	stderr, interrupt := waiting(t)
	r, children := prepare(t, "", "", stderr)
	t.Setenv(traderDoes, "wait")
	var runs []*measure.Orders
	if err := r.Orders(t.Context(), orderCells, collect(&runs), interrupt); err != nil || len(runs) != 1 || !runs[0].Interrupted {
		t.Errorf("%+v, %v", runs, err)
	}
	if n := len(children()); n != 2 {
		t.Errorf("%d children, want an exchange and a trader", n)
	}
}

func TestOrdersBeside(t *testing.T) {
	r, children := prepare(t, "", "wait for the test", nil)
	t.Setenv(goOn, filepath.Join(t.TempDir(), "go on"))
	var runs []*measure.Orders
	opts := collect(&runs)
	opts.Done = func(o *measure.Orders) {
		if runs = append(runs, o); len(runs) == 2 {
			if err := os.WriteFile(os.Getenv(goOn), nil, 0o600); err != nil {
				t.Error(err)
			}
		}
	}
	beside := cell
	beside.OrdersBeside = 12.5
	run, err := r.OrdersBeside(t.Context(), beside, orderCells, opts, nil)
	if err != nil || run == nil || run.Received != 100 || len(runs) != 2 || !runs[0].Valid || !runs[1].Valid {
		t.Fatalf("%+v, %+v, %v", run, runs, err)
	}
	for _, args := range children() {
		all := strings.Join(args, " ")
		switch args[0] {
		case "fleet": // 2 × (1 s + 2 s + 1.2 s) + 1 s
			if !strings.Contains(all, "--duration=9.4s") || !strings.Contains(all, "--except=RESERVED") {
				t.Errorf("fleet %s", all)
			}
		case "orders":
			if !strings.Contains(all, "--streams-beside=300 --streams-transport=sse h2c/20") {
				t.Errorf("trader %s", all)
			}
		}
	}
}

// TestStreamsEndBeforeTheOrders: orders that had no streams beside them are not
// valid, and what came of the fleet is told.
func TestStreamsEndBeforeTheOrders(t *testing.T) {
	r, _ := prepare(t, "", "", nil) // a fleet that announces its window and ends
	var runs []*measure.Orders
	if _, err := r.OrdersBeside(t.Context(), cell, orderCells, collect(&runs), nil); err != nil || len(runs) != 2 || runs[1].Valid ||
		!strings.Contains(strings.Join(runs[1].Reasons, " "), "window ended before") {
		t.Errorf("%+v, %v", runs, err)
	}
	r, children := prepare(t, "", "fail", nil)
	runs = nil
	if _, err := r.OrdersBeside(t.Context(), cell, orderCells, collect(&runs), nil); err == nil || !strings.Contains(err.Error(), "the fleet ended with status 5") || len(runs) != 0 {
		t.Errorf("%+v, %v", runs, err)
	}
	if n := len(children()); n != 2 {
		t.Errorf("%d children, want no trader", n)
	}
	closed := make(chan struct{})
	close(closed)
	r, _ = prepare(t, "", "wait", nil)
	if _, err := r.OrdersBeside(t.Context(), cell, orderCells, collect(&runs), closed); !errors.Is(err, ErrInterrupted) {
		t.Errorf("interrupted before the window: %v", err)
	}
}
