package sseserver

import (
	"io"
	"net/http"
	"slices"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// keepBuffer is what a stream's buffer may hold while nothing is written.
const keepBuffer = 8 << 10

// writer is the transport of a session: one Write and one Flush a call.
type writer struct {
	out      io.Writer
	control  *http.ResponseController
	encoding wire.Encoding
	buf      []byte
}

func newWriter(w http.ResponseWriter, enc wire.Encoding) *writer {
	return &writer{out: w, control: http.NewResponseController(w), encoding: enc}
}

// WriteMessage writes a message as one event, a heartbeat as a comment.
func (w *writer) WriteMessage(m *feed.Message) error {
	event, err := wire.AppendEvent(w.buf[:0], w.encoding, m)
	if err != nil {
		return err
	}
	w.keep(event)
	return w.write(event)
}

// WriteExecution writes an execution as one event.
func (w *writer) WriteExecution(e *order.Execution) error {
	event, err := wire.AppendExecutionEvent(w.buf[:0], w.encoding, e)
	if err != nil {
		return err
	}
	w.keep(event)
	return w.write(event)
}

// WriteTicks writes the hub's events; several leave as one.
func (w *writer) WriteTicks(ticks [][]byte) error {
	if len(ticks) == 1 {
		return w.write(ticks[0])
	}
	size := 0
	for _, t := range ticks {
		size += len(t)
	}
	events := slices.Grow(w.buf[:0], size)
	for _, t := range ticks {
		events = append(events, t...)
	}
	w.keep(events)
	return w.write(events)
}

func (w *writer) write(events []byte) error {
	if _, err := w.out.Write(events); err != nil {
		return err
	}
	return w.control.Flush()
}

// keep takes a buffer back for the next call, unless it is one that an idle
// stream should not hold.
func (w *writer) keep(buf []byte) {
	if cap(buf) <= keepBuffer {
		w.buf = buf
	}
}
