package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// Control speaks to the debug address of an exchange: it starts a held source
// and reads the ledger. Any goroutine may call it.
type Control struct {
	base   string
	client *http.Client
}

// controlTimeout is longer than the exchange takes to publish what is late.
const controlTimeout = 15 * time.Second

// NewControl returns a control for a debug address, a host:port.
func NewControl(addr string) (*Control, error) {
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return nil, fmt.Errorf("debug address %q: want host:port: %w", addr, err)
	}
	return &Control{
		base:   "http://" + addr + "/debug/",
		client: &http.Client{Timeout: controlTimeout, Transport: &http.Transport{DisableKeepAlives: true}},
	}, nil
}

// Run starts the held source at startNS, and stops it at stopNS; CLOCK_MONOTONIC.
// epoch, where not empty, is the exchange run that is meant: another one refuses.
// It reports false where the source runs already.
func (c *Control) Run(ctx context.Context, epoch string, startNS, stopNS int64) (bool, error) {
	body, err := json.Marshal(map[string]any{"start_ns": startNS, "stop_ns": stopNS, "epoch": epoch})
	if err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"run", bytes.NewReader(body))
	if err != nil {
		return false, fmt.Errorf("start source: %w", err)
	}
	status, answer, err := c.do(req)
	switch {
	case err != nil:
		return false, fmt.Errorf("start source: %w", err)
	case status == http.StatusConflict:
		return false, nil
	case status != http.StatusOK:
		return false, fmt.Errorf("start source: the debug address answered %d: %s", status, bytes.TrimSpace(answer))
	}
	return true, nil
}

// Ledger returns the exchange's account of [fromNS, toNS), CLOCK_MONOTONIC. The
// exchange answers once everything due in it has been published, or given up.
func (c *Control) Ledger(ctx context.Context, fromNS, toNS int64) (*measure.Ledger, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%sledger?from=%d&to=%d", c.base, fromNS, toNS), nil)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	status, answer, err := c.do(req)
	if err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("read ledger: the debug address answered %d: %s", status, bytes.TrimSpace(answer))
	}
	var l measure.Ledger
	if err := json.Unmarshal(answer, &l); err != nil {
		return nil, fmt.Errorf("read ledger: %w", err)
	}
	return &l, nil
}

func (c *Control) do(req *http.Request) (status int, body []byte, err error) {
	resp, err := c.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	return resp.StatusCode, body, err
}
