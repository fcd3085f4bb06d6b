package sseserver

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

func TestShutdown(t *testing.T) {
	for _, version := range versions {
		e := start(t, streams.Options{})
		s := e.open(t, version, "?symbol=AAA", nil)
		s.want(wire.JSON, "hello")
		s.want(wire.JSON, "subscribed")
		e.Shutdown(context.Background())
		wantProblem(t, s.want(wire.JSON, "problem"), feed.CodeShuttingDown)
		_, err := s.next(wire.JSON)
		wantEOF(t, err)
	}
}

func TestSlowReader(t *testing.T) {
	for _, version := range versions {
		// A reader that stops fills the buffers on the way, then the exchange's queue.
		t.Run("disconnect HTTP "+version, func(t *testing.T) {
			e := start(t, streams.Options{Limits: feed.Limits{QueueTicks: 4}})
			s := e.open(t, version, "?symbol=AAA&policy=disconnect", nil)
			eventually(t, "the policy ends the stream", func() bool {
				e.publish(0)
				return e.Hub().Stats().Disconnected == 1
			})
			last, err := s.rest(wire.JSON)
			wantEOF(t, err)
			wantProblem(t, last, feed.CodeSlowConsumer)
		})
		t.Run("conflate HTTP "+version, func(t *testing.T) {
			e := start(t, streams.Options{Limits: feed.Limits{QueueTicks: 4}})
			s := e.open(t, version, "?symbol=AAA", nil)
			var final uint64
			eventually(t, "ticks are conflated", func() bool {
				final = e.publish(0)
				return e.Hub().Stats().Conflated > 100
			})
			var seq uint64
			for seq < final {
				got, err := s.next(wire.JSON)
				if err != nil {
					t.Fatal(err)
				}
				switch m := got.message; {
				case m.Skipped != nil:
					if m.Skipped.FromSeq > seq+1 || m.Skipped.ToSeq < seq {
						t.Fatalf("skipped %+v after %d", m.Skipped, seq)
					}
					seq = m.Skipped.ToSeq
				case len(m.Ticks) > 0 && m.Ticks[0].Seq > seq: // else skipped already
					if m.Ticks[0].Seq != seq+1 {
						t.Fatalf("tick %d after %d", m.Ticks[0].Seq, seq)
					}
					seq++
				}
			}
		})
		t.Run("write timeout HTTP "+version, func(t *testing.T) {
			e := start(t, streams.Options{WriteTimeout: 100 * time.Millisecond})
			s := e.open(t, version, "?symbol=AAA", nil)
			eventually(t, "the write times out", func() bool {
				e.publish(0)
				return e.Stats().TimedOut == 1
			})
			eventually(t, "the handler returns", func() bool { return e.Stats().Open == 0 })
			if _, err := s.rest(wire.JSON); err == nil || errors.Is(err, io.EOF) {
				t.Errorf("the stream ended with %v, want an error", err)
			}
		})
	}
}
