// Command checkresults reads a results.json of `tickgauge compare` and fails where
// it does not tell of a whole comparison in which nothing was lost unsaid.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
)

const (
	schema = "tickgauge.results/v2"
	cells  = 6  // five transports, and one with orders beside it
	orders = 21 // seven paths: in a closed loop, at a rate, and so beside streams
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: checkresults results.json")
		os.Exit(2)
	}
	data, err := os.ReadFile(os.Args[1])
	if err == nil {
		err = check(data)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "checkresults: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%s: %d cells and %d runs of orders, every delivery and order accounted for\n", os.Args[1], cells, orders)
}

type results struct {
	Schema string  `json:"schema"`
	Cells  []cell  `json:"cells"`
	Orders []trade `json:"orders"`
}

// trade is the account of orders of a run.
type trade struct {
	Path     string `json:"path"`
	Sent     *int64 `json:"sent"`
	Acked    *int64 `json:"acked"`
	Rejected *int64 `json:"rejected"`
	Failed   *int64 `json:"failed"`
}

func (o trade) check() error {
	for name, n := range map[string]*int64{"sent": o.Sent, "acked": o.Acked, "rejected": o.Rejected, "failed": o.Failed} {
		if n == nil {
			return fmt.Errorf("%s is not told", name)
		}
	}
	switch {
	case *o.Acked <= 0:
		return fmt.Errorf("none of %d orders was acked", *o.Sent)
	case *o.Failed != 0:
		return fmt.Errorf("%d of %d orders failed", *o.Failed, *o.Sent)
	case *o.Sent != *o.Acked+*o.Rejected:
		return fmt.Errorf("%d orders were sent, but acked + rejected + failed is %d", *o.Sent, *o.Acked+*o.Rejected)
	}
	return nil
}

type cell struct {
	Transport   string `json:"transport"`
	Connections int    `json:"connections"`
	Runs        []run  `json:"runs"`
}

// run is the account of deliveries of a run. A figure that is absent or null is
// nil, which no check takes for zero.
type run struct {
	Due        *int64 `json:"due"`
	Received   *int64 `json:"received"`
	Conflated  *int64 `json:"conflated"`
	Dropped    *int64 `json:"dropped"`
	Missed     *int64 `json:"missed"`
	Duplicated *int64 `json:"duplicated"`
}

// check reports all that is wrong with a results file, not only the first.
func check(data []byte) error {
	var r results
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	var errs []error
	if r.Schema != schema {
		errs = append(errs, fmt.Errorf("schema is %q, want %q", r.Schema, schema))
	}
	if len(r.Cells) != cells {
		errs = append(errs, fmt.Errorf("%d cells, want %d", len(r.Cells), cells))
	}
	for _, c := range r.Cells {
		name := fmt.Sprintf("%s on %d connections", c.Transport, c.Connections)
		if len(c.Runs) == 0 {
			errs = append(errs, fmt.Errorf("%s: no runs", name))
		}
		for i, run := range c.Runs {
			if err := run.check(); err != nil {
				errs = append(errs, fmt.Errorf("%s, run %d: %w", name, i+1, err))
			}
		}
	}
	if len(r.Orders) != orders {
		errs = append(errs, fmt.Errorf("%d runs of orders, want %d", len(r.Orders), orders))
	}
	for i, o := range r.Orders {
		if err := o.check(); err != nil {
			errs = append(errs, fmt.Errorf("orders, run %d, %s: %w", i+1, o.Path, err))
		}
	}
	return errors.Join(errs...)
}

func (r run) check() error {
	for name, n := range map[string]*int64{
		"due": r.Due, "received": r.Received, "conflated": r.Conflated,
		"dropped": r.Dropped, "missed": r.Missed, "duplicated": r.Duplicated,
	} {
		if n == nil {
			return fmt.Errorf("%s is not told", name)
		}
	}
	sum := *r.Received + *r.Conflated + *r.Dropped + *r.Missed
	switch {
	case *r.Due <= 0:
		return errors.New("nothing was due")
	case *r.Received <= 0:
		return fmt.Errorf("nothing of %d due was received", *r.Due)
	case *r.Missed != 0:
		return fmt.Errorf("%d of %d were missed", *r.Missed, *r.Due)
	case *r.Duplicated != 0:
		return fmt.Errorf("%d of %d came twice", *r.Duplicated, *r.Due)
	case *r.Due != sum:
		return fmt.Errorf("%d were due, but received + conflated + dropped + missed is %d", *r.Due, sum)
	}
	return nil
}
