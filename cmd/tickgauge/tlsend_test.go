package main

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// After a write that timed out nothing more can be written under TLS, so the ends
// of streams are tried there too.

func TestSlowReaderIsEndedOverTLS(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 1, streams.Options{TLS: serverTLS(cert), Compression: true, Limits: feed.Limits{QueueTicks: 8}})
		j := newJournal()
		req := feed.Subscribe{Symbols: []string{"AAA"}, Policy: feed.PolicyDisconnect}
		if _, err := openWith(t, v, tr, dialOptions{encoding: enc, tls: trusting, compress: true}, j, req); err != nil {
			t.Fatal(err)
		}
		v.publish(0, 200_000)
		j.await(t, "end", func(j *journal) bool { return j.ended })
		if got := v.hub.Stats(); j.err == nil || got.Disconnected != 1 {
			t.Errorf("ended with %v, stats %+v; want one disconnected", j.err, got)
		}
	})
}

func TestShutdownTellsStreamsOverTLS(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{TLS: serverTLS(cert), Compression: true})
		// Neither holds the end up: one that never shakes hands, one stream.
		silent, err := net.Dial("tcp", v.target(tr))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = silent.Close() }()
		j := newJournal()
		if _, err := openWith(t, v, tr, dialOptions{encoding: enc, tls: trusting, compress: true}, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
			t.Fatal(err)
		}
		v.publish(0, 1)
		v.stop()
		j.await(t, "end", func(j *journal) bool { return j.ended })
		var p *feed.Problem
		if !errors.As(j.err, &p) || p.Code != feed.CodeShuttingDown || len(j.ticks("AAA")) != 1 {
			t.Errorf("ended with %v after %d ticks, want SHUTTING_DOWN after 1", j.err, len(j.ticks("AAA")))
		}
	})
}
