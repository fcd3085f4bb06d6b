package main

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/proto/wire"
)

const (
	defaultWorkers     = 64
	sharedOrderConns   = 8
	defaultOrderWindow = 10 * time.Second
	mostWorkers        = 100_000
	mostPayload        = 1 << 20
)

// preset fills in what was not given: what the published run had, or the defaults.
func (c *ordersCmd) preset() {
	workers, duration, runs, payload := defaultWorkers, defaultOrderWindow, 1, 0
	if c.Preset == "hft" {
		workers, duration, runs, payload = 1000, 30*time.Second, 3, 1024
	}
	c.Workers, c.Duration = cmp.Or(c.Workers, &workers), cmp.Or(c.Duration, &duration)
	c.Runs, c.PayloadBytes = cmp.Or(c.Runs, &runs), cmp.Or(c.PayloadBytes, &payload)
}

func (c *ordersCmd) check() (*orderPath, wire.Encoding, error) {
	path, err := findPath(c.Path, c.HTTP)
	if err != nil {
		return nil, 0, usageError{err}
	}
	enc, err := wire.ParseEncoding(c.Encoding)
	if err != nil {
		return nil, 0, usageError{err}
	}
	c.preset()
	if err := positive(map[string]bounded{
		"--workers": {value: float64(*c.Workers), most: mostWorkers}, "--duration": seconds(*c.Duration), "--order-timeout": seconds(c.OrderTimeout), "--runs": {value: float64(*c.Runs), most: 1000},
	}); err != nil {
		return nil, 0, usageError{err}
	}
	switch {
	case !(c.Rate >= 0) || c.Rate > 1e7:
		err = fmt.Errorf("--rate %v: want orders per second, at most 1e7", c.Rate)
	case c.Warmup < 0 || c.Warmup > longestTime:
		err = fmt.Errorf("--warmup %s: want 0 to %s", c.Warmup, longestTime)
	case *c.PayloadBytes < 0 || *c.PayloadBytes > mostPayload:
		err = fmt.Errorf("--payload-bytes %d: want 0 to %d", *c.PayloadBytes, mostPayload)
	case c.Connections < 0 || c.Connections > *c.Workers:
		err = fmt.Errorf("--connections %d: want 1 to the number of workers, %d", c.Connections, *c.Workers)
	case !path.shares && c.Connections != 0 && c.Connections != *c.Workers:
		err = fmt.Errorf("--connections %d: over %s with HTTP/%s an order under way takes a connection, so every worker has its own; leave it out", c.Connections, path.name, path.httpVersion)
	case c.Account == "":
		err = errors.New("--account: name one, as acct-1")
	case c.JSON != "":
		err = mayWrite(c.JSON)
	case c.NoTable:
		err = errors.New("--no-table without --json FILE would show nothing")
	}
	if err != nil {
		return nil, 0, usageError{err}
	}
	if c.Connections == 0 {
		if c.Connections = *c.Workers; path.shares {
			c.Connections = min(*c.Workers, sharedOrderConns)
		}
	}
	c.Target = cmp.Or(c.Target, sideOf(path.overGRPC).target)
	return path, enc, enoughFiles(c.Connections, "the trader", "use fewer workers")
}
