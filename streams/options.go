// Package streams is the exchange's side of every stream: the options and limits
// all servers share, the Session each stream runs, and the HTTP listener that
// carries REST, WebSocket and SSE.
package streams

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// The limits where Options leaves them at zero. docs/wire.md documents them.
const (
	DefaultMaxMessageBytes        = 1 << 20
	DefaultMaxSymbolsPerStream    = 1000
	DefaultMaxSubscribesPerSecond = 100
	DefaultMaxStreams             = 100_000
	DefaultHeartbeat              = 10 * time.Second
	DefaultWriteTimeout           = 10 * time.Second
	DefaultBatchTicks             = 256
)

// Observer is told what left on streams. Its methods are called from many
// goroutines and must not block.
type Observer interface {
	// Wrote is called after a write of ticks, with their encoded forms in the hub's
	// encoding of that index, which it must not keep, and with when the write began and
	// returned, CLOCK_MONOTONIC.
	Wrote(encoding int, ticks [][]byte, beganNS, returnedNS int64)
}

// Queue is what a session writes from: a *feed.Subscription, or what Options.Faults
// puts before one. Its methods are those of feed.Subscription.
type Queue interface {
	Ready() <-chan struct{}
	Take(b *feed.Batch, maxFrames int) error
	Waiting() int
}

// Options are what all servers share; the zero value works.
type Options struct {
	Version       string
	Limits        feed.Limits   // zero fields take the defaults
	Heartbeat     time.Duration // the longest silence of a stream
	WriteTimeout  time.Duration // a write that takes longer ends its stream
	BatchTicks    int           // ticks that leave in one message at most
	Observer      Observer      // may be nil
	Workers       int           // that write streams; 0 takes GOMAXPROCS
	FlushInterval time.Duration // the least time between two writes to a connection; 0 waits for nothing
	Desk          order.Desk    // takes the orders; nil refuses them
	TLS           *tls.Config   // of gRPC and HTTP, with a certificate; nil serves without TLS
	Compression   bool          // of WebSocket and SSE, for clients that offer it; gRPC has gzip for all that ask

	// Faults, where set, is given the subscription of each new stream and returns what
	// the stream is written from. Once closing is closed nothing must be held back. Answers,
	// heartbeats and executions do not pass there.
	Faults func(sub *feed.Subscription, closing <-chan struct{}) Queue
}

func (o Options) withDefaults() (Options, error) {
	l := &o.Limits
	l.MaxMessageBytes = cmp.Or(l.MaxMessageBytes, DefaultMaxMessageBytes)
	l.MaxSymbolsPerStream = cmp.Or(l.MaxSymbolsPerStream, DefaultMaxSymbolsPerStream)
	l.MaxSubscribesPerSecond = cmp.Or(l.MaxSubscribesPerSecond, DefaultMaxSubscribesPerSecond)
	l.MaxStreams = cmp.Or(l.MaxStreams, DefaultMaxStreams)
	l.QueueTicks = cmp.Or(l.QueueTicks, feed.DefaultQueue)
	o.Heartbeat = cmp.Or(o.Heartbeat, DefaultHeartbeat)
	o.WriteTimeout = cmp.Or(o.WriteTimeout, DefaultWriteTimeout)
	o.BatchTicks = cmp.Or(o.BatchTicks, DefaultBatchTicks)
	o.Version = cmp.Or(o.Version, "unknown")
	for name, v := range map[string]int{
		"max message bytes": l.MaxMessageBytes, "max symbols per stream": l.MaxSymbolsPerStream,
		"max subscribes per second": l.MaxSubscribesPerSecond, "max streams": l.MaxStreams,
		"queue": l.QueueTicks, "batch": o.BatchTicks,
		"heartbeat": int(o.Heartbeat), "write timeout": int(o.WriteTimeout),
	} {
		if v < 0 {
			return o, fmt.Errorf("%s is %d, want a positive number", name, v)
		}
	}
	return o, nil
}
