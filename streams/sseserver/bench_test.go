package sseserver

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// BenchmarkWriteTicks is what a write of ready ticks costs the exchange, the
// reader of the same process included, from the shared bytes to the socket.
func BenchmarkWriteTicks(b *testing.B) {
	tick := &feed.Tick{Symbol: "BTC/USD", Seq: 123_456, HubSeq: 12_345_678, DueNS: 1 << 50, PublishNS: 1 << 50, ExchangeTSNS: 1 << 60,
		BidPx: 61_837_630_000_000, BidSz: 120_000_000, AskPx: 61_837_640_000_000, AskSz: 50_000_000, LastPx: 61_837_630_000_000, Origin: feed.OriginSchedule}
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			shared := wire.HubEncoders()[hubEncoding(enc)](nil, "0123456789abcdef", tick)
			for _, n := range []int{1, 16} {
				b.Run("HTTP"+version+"/"+enc.String()+"/ticks="+strconv.Itoa(n), func(b *testing.B) {
					ticks := make([][]byte, n)
					for i := range ticks {
						ticks[i] = shared
					}
					b.ReportAllocs()
					b.SetBytes(int64(n * len(shared)))
					serveOnce(b, version, func(w http.ResponseWriter) {
						out := newWriter(w, enc)
						for b.Loop() {
							if err := out.WriteTicks(ticks); err != nil {
								b.Error(err)
								return
							}
						}
					})
				})
			}
		}
	}
}

// BenchmarkWriteExecution is what an execution costs the exchange, encoded for one
// stream alone.
func BenchmarkWriteExecution(b *testing.B) {
	x := report("acct-1", 123_456)
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			b.Run("HTTP"+version+"/"+enc.String(), func(b *testing.B) {
				b.ReportAllocs()
				serveOnce(b, version, func(w http.ResponseWriter) {
					out := newWriter(w, enc)
					for b.Loop() {
						if err := out.WriteExecution(&x); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}

// serveOnce runs a handler on a real server and reads what it writes.
func serveOnce(b *testing.B, version string, handle func(http.ResponseWriter)) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(b.Context())
	served := make(chan error, 1)
	go func() {
		served <- streams.ServeHTTP(ctx, ln, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { handle(w) }),
			streams.Options{}, time.Second, slog.New(slog.DiscardHandler))
	}()
	c := client(b, version)
	c.Transport.(*http.Transport).HTTP2 = nil // the window of net/http, for which nothing waits
	resp, err := c.Get("http://" + ln.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		b.Error(err)
	}
	_ = resp.Body.Close()
	c.CloseIdleConnections()
	cancel()
	if err := <-served; err != nil {
		b.Error(err)
	}
}
