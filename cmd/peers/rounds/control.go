package rounds

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// Control speaks to the debug address of an exchange or a peer.
type Control struct{ Addr string }

// Start has the held source publish from startNS to before stopNS, CLOCK_MONOTONIC.
func (c Control) Start(ctx context.Context, startNS, stopNS int64) error {
	body, err := json.Marshal(map[string]int64{"start_ns": startNS, "stop_ns": stopNS})
	if err != nil {
		return err
	}
	return c.call(ctx, http.MethodPost, "/debug/run", bytes.NewReader(body), nil)
}

// Ledger returns the account of a window once it is over.
func (c Control) Ledger(ctx context.Context, fromNS, toNS int64) (l measure.Ledger, err error) {
	err = c.call(ctx, http.MethodGet, fmt.Sprintf("/debug/ledger?from=%d&to=%d", fromNS, toNS), nil, &l)
	return l, err
}

// Collect has the process collect its garbage, so that its memory compares.
func (c Control) Collect(ctx context.Context) error {
	return c.call(ctx, http.MethodGet, "/debug/pprof/heap?gc=1", nil, nil)
}

func (c Control) call(ctx context.Context, method, path string, body io.Reader, into any) error {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+c.Addr+path, body)
	if err != nil {
		return err
	}
	req.Close = true // the next one may be of another process
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if resp.StatusCode >= 300 {
		return fmt.Errorf("%s: %s: %s", path, resp.Status, bytes.TrimSpace(b))
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
