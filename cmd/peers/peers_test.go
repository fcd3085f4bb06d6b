package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/cmd/peers/read"
	"github.com/tickgauge/tickgauge/cmd/peers/rounds"
	"github.com/tickgauge/tickgauge/cmd/peers/serve"
	"github.com/tickgauge/tickgauge/feed"
)

// TestPeersDeliver has each peer serve a few streams in this process and wants
// every tick of a window from it.
func TestPeersDeliver(t *testing.T) {
	for _, c := range rounds.Contestants() {
		if c.IsExchange() || c.Class == rounds.Few {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { deliver(t, c) })
	}
}

func deliver(t *testing.T, c rounds.Contestant) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	const symbols, streams = 10, 200
	out, in := io.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- serve.Run(ctx, serve.Options{Name: c.Server, Addr: "127.0.0.1:0", Debug: "127.0.0.1:0", Symbols: symbols, Rate: 300}, in)
		_ = in.Close()
	}()
	var ready serve.Ready
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &ready) != nil {
		t.Fatalf("no ready line: %q, %v, %v", line, err, <-served)
	}
	place := read.Placement{Streams: streams, Connections: c.Connections(streams), Symbols: symbols}
	r, err := read.NewReader(read.Options{Protocol: c.Protocol, Addr: ready.Addr, Placement: place})
	if err != nil {
		t.Fatal(err)
	}
	reading := make(chan error, 1)
	go func() { reading <- r.Run(ctx) }()
	if err := r.Open(ctx); err != nil {
		t.Fatal(err)
	}
	control := rounds.Control{Addr: ready.Debug}
	from := feed.Now() + int64(50*time.Millisecond)
	to := from + int64(500*time.Millisecond)
	r.Window(from, to)
	if err := control.Start(ctx, from, to); err != nil {
		t.Fatal(err)
	}
	if err := feed.SleepUntil(ctx, to); err != nil {
		t.Fatal(err)
	}
	ledger, err := control.Ledger(ctx, from, to)
	if err != nil {
		t.Fatal(err)
	}
	due := rounds.Due(&ledger, place)
	if due == 0 {
		t.Fatal("nothing was due")
	}
	report := wait(t, r, due)
	if report.Gaps != 0 || report.Doubled != 0 || report.Ended != 0 || report.Latency == nil {
		t.Errorf("of %d ticks due: %+v", due, report)
	}
	cancel()
	if err := <-reading; err != nil {
		t.Errorf("reading ended with %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("serving ended with %v", err)
	}
}

func wait(t *testing.T, r *read.Reader, due int64) read.Report {
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	until := time.Now().Add(20 * time.Second)
	for range look.C {
		report, err := r.Report()
		if err != nil {
			t.Fatal(err)
		}
		if report.Received >= due {
			return report
		}
		if time.Now().After(until) {
			t.Fatalf("%d of %d ticks came: %+v", report.Received, due, report)
		}
	}
	return read.Report{}
}
