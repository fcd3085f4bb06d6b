package main

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

func post(t *testing.T, addr, body string) (int, string) {
	t.Helper()
	resp, err := http.Post("http://"+addr+"/debug/run", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(answer)
}

// A held source starts at a time of this clock, once, and for whom it is meant.
func TestHeldSourceTakesNoStrangeTimes(t *testing.T) {
	_, ready, _ := exchangeProcess(t, "--hold", "--arrivals=poisson")
	now := feed.Now()
	for _, body := range []string{
		`{"start_ns":9223372036854775807}`, `{"start_ns":0}`, `{"start_ns":-5}`, `nonsense`, `{"begin_ns":5}`,
		fmt.Sprintf(`{"start_ns":%d,"stop_ns":%d}`, now, now-1), fmt.Sprintf(`{"start_ns":%d,"stop_ns":9223372036854775807}`, now),
	} {
		if status, answer := post(t, ready.Debug, body); status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
	if status, answer := post(t, ready.Debug, `{"epoch":"abc"}`); status != http.StatusPreconditionFailed {
		t.Errorf("another epoch: %d %s", status, answer)
	}
	for _, want := range []int{http.StatusOK, http.StatusConflict} {
		if status, answer := post(t, ready.Debug, `{}`); status != want {
			t.Errorf("start: %d %s, want %d", status, answer, want)
		}
	}
	for _, query := range []string{"", "from=1", "from=9&to=3", "from=1&to=9223372036854775807", "from=a&to=b"} {
		resp, err := http.Get("http://" + ready.Debug + "/debug/ledger?" + query)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("ledger %q: %d", query, resp.StatusCode)
		}
	}
}

func TestLedgerOfAnotherExchangeIsNoLedger(t *testing.T) {
	_, a, _ := exchangeProcess(t, "--rate=2000")
	_, b, _ := exchangeProcess(t, "--rate=2000")
	status, _, errs := program(t, "fleet", "--target="+a.GRPC, "--debug-target="+b.Debug, "--streams=10", "--warmup=0s", "--duration=1s")
	if status != exitFailed || !strings.Contains(errs, "another exchange") {
		t.Errorf("status %d: %s", status, errs)
	}
}

// Without the exchange's ledger a run is judged by what came to all streams, and
// waits for it.
func TestFleetWithoutDebugTarget(t *testing.T) {
	_, ready, _ := exchangeProcess(t, "--rate=2000", "--symbols=10")
	file := filepath.Join(t.TempDir(), "run.json")
	status, _, errs := program(t, "fleet", "--target="+ready.GRPC, "--streams=20", "--warmup=0s", "--duration=1s", "--json="+file)
	run := readRun(t, file)
	if status != 0 || run.Due != run.Received || run.Due < 3000 || run.Missed != 0 || run.Server != nil {
		t.Errorf("status %d, run %+v: %s", status, run, errs)
	}
}

// What else the exchange served is not to be paid for by this fleet.
func TestOtherStreamsMakeARunInvalid(t *testing.T) {
	_, ready, _ := exchangeProcess(t, "--rate=2000")
	other := command(t, "fleet", "--target="+ready.GRPC, "--streams=7", "--warmup=0s", "--duration=60s")
	var log lines
	other.Stderr = &log
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Process.Kill(); _ = other.Wait() })
	waitFor(t, "the other fleet", func() bool { return log.has("7 of 7 streams open") })
	file := filepath.Join(t.TempDir(), "run.json")
	_, _, errs := program(t, "fleet", "--target="+ready.GRPC, "--debug-target="+ready.Debug, "--streams=5", "--warmup=0s", "--duration=1s", "--json="+file)
	if run := readRun(t, file); run.Valid || !strings.Contains(strings.Join(run.Reasons, "; "), "served 7 other streams") {
		t.Errorf("run %+v: %s", run, errs)
	}
}
