package read

import (
	"encoding/binary"
	"errors"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// account counts what the streams receive. One goroutine uses it.
type account struct {
	fromNS, toNS int64    // the window, on due times
	last         []uint64 // highest seq of each stream, snapshots and live_after_seq aside
	received     int64    // distinct ticks due in the window
	gaps         int64    // sequences that were jumped over, in and outside the window
	doubled      int64    // ticks that a stream had already
	skipped      int64    // messages that told of skipped ticks
	latency      *measure.Histogram
}

func newAccount(streams int) *account {
	return &account{last: make([]uint64, streams), latency: measure.NewHistogram()}
}

var errMessage = errors.New("no protobuf message of the exchange")

// Fields of MarketDataMessage and of Tick.
const (
	fieldTicks   = 1
	fieldSkipped = 5 + 1
	fieldSeq     = 2
	fieldDue     = 4
	fieldEvents  = 9 // the highest of the events
)

// kinds of what a message holds, besides ticks.
const (
	fieldHello      = 2
	fieldSubscribed = 3
	fieldProblem    = 8
)

// message counts a MarketDataMessage that a stream received at atNS, and returns
// the field of its event, 0 where it holds ticks.
func (a *account) message(stream int, b []byte, atNS int64) (event int, err error) {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 || key&7 != 2 {
			return 0, errMessage // every field of it is length-delimited
		}
		b = b[n:]
		size, n := binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return 0, errMessage
		}
		body := b[n : n+int(size)]
		b = b[n+int(size):]
		switch field := int(key >> 3); {
		case field == fieldTicks:
			if err := a.tick(stream, body, atNS); err != nil {
				return 0, err
			}
		case field <= fieldEvents:
			event = field
			if field == fieldSkipped {
				a.skipped++
			}
		}
	}
	return event, nil
}

// tick reads no further than it must: the symbol is that of the stream.
func (a *account) tick(stream int, b []byte, atNS int64) error {
	var seq, due uint64
	for len(b) > 0 && (seq == 0 || due == 0) {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return errMessage
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return errMessage
		}
		b = b[n:]
		switch key & 7 {
		case 0:
		case 2:
			if v > uint64(len(b)) {
				return errMessage
			}
			b = b[v:]
		default:
			return errMessage
		}
		switch key >> 3 {
		case fieldSeq:
			seq = v
		case fieldDue:
			due = v
		}
	}
	switch last := a.last[stream]; {
	case seq <= last:
		a.doubled++
		return nil
	case last != 0:
		a.gaps += int64(seq - last - 1)
	}
	a.last[stream] = seq
	if d := int64(due); d >= a.fromNS && d < a.toNS {
		a.received++
		a.latency.Record(atNS - d)
	}
	return nil
}

// Report is what a reader has counted.
type Report struct {
	Streams  int                `json:"streams"`  // that were opened
	Ended    int                `json:"ended"`    // of them, streams that the other side ended
	Received int64              `json:"received"` // distinct ticks due in the window
	Gaps     int64              `json:"gaps"`     // sequences jumped over
	Doubled  int64              `json:"doubled"`
	Skipped  int64              `json:"skipped"` // messages that told of skipped ticks
	Negative int64              `json:"negative"`
	Latency  *measure.Quantiles `json:"latency"` // ns, received minus due; nil: nothing was received
	BytesIn  int64              `json:"bytes_in"`
	BytesOut int64              `json:"bytes_out"`
}

func (a *account) report() Report {
	negative, _ := a.latency.Negative()
	return Report{Received: a.received, Gaps: a.gaps, Doubled: a.doubled, Skipped: a.skipped, Negative: negative, Latency: a.latency.Quantiles()}
}
