package main

import (
	"sync"
	"sync/atomic"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// written counts what the servers wrote; it is the streams' observer.
type written struct{ ticks, payload, ns atomic.Int64 }

// Wrote takes a write of ticks, from any goroutine.
func (w *written) Wrote(encoding int, ticks [][]byte, beganNS, returnedNS int64) {
	bytes := 0
	for _, t := range ticks {
		bytes += wire.TickBytes(encoding, t)
	}
	w.ticks.Add(int64(len(ticks)))
	w.payload.Add(int64(bytes))
	w.ns.Add(returnedNS - beganNS)
}

// sent tells what the stream sockets sent since a held source was started.
type sent struct {
	traffic *streams.Traffic
	written *written

	mu      sync.Mutex
	started *sentReading // nil: not started by request, or the system does not tell
}

type sentReading struct {
	segments streams.Segments
	ticks    int64
}

func (s *sent) read() *sentReading {
	segments, ok := s.traffic.Segments()
	if !ok {
		return nil
	}
	return &sentReading{segments, s.written.ticks.Load()}
}

// start notes what was sent before.
func (s *sent) start() {
	now := s.read()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = now
}

// tcp returns what was sent since start, nil where it is not known.
func (s *sent) tcp() *measure.TCP {
	s.mu.Lock()
	started := s.started
	s.mu.Unlock()
	if started == nil {
		return nil
	}
	now := s.read()
	if now == nil {
		return nil
	}
	t := &measure.TCP{
		Segments:     now.segments.Sent - started.segments.Sent,
		DataSegments: now.segments.Data - started.segments.Data,
		Retransmits:  now.segments.Retransmitted - started.segments.Retransmitted,
		Deliveries:   now.ticks - started.ticks,
	}
	if t.Deliveries > 0 {
		t.SegmentsPerDelivery = new(float64(t.Segments) / float64(t.Deliveries))
	}
	return t
}
