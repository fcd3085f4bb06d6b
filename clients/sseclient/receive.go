package sseclient

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

const (
	eventStream = "text/event-stream"
	// maxProblemBytes bounds the body of a refusal.
	maxProblemBytes = 64 << 10
)

// refusal returns nil where the answer is a stream of events, else what it is.
func refusal(resp *http.Response) error {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode == http.StatusOK && kind == eventStream {
		return nil
	}
	if resp.StatusCode != http.StatusOK && kind == "application/json" {
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblemBytes))
		if err != nil {
			return fmt.Errorf("HTTP %s: %w", resp.Status, err)
		}
		p := new(feed.Problem)
		if err := wire.UnmarshalProblem(body, p); err == nil && p.Code != "" {
			return p
		}
	}
	return fmt.Errorf("%w: it answered %s with content type %q, want 200 with %s",
		clients.ErrNoExchange, resp.Status, kind, eventStream)
}

// receiver turns the events of one stream into deliveries.
type receiver struct {
	events   *parser
	encoding wire.Encoding
	greeted  bool
}

func newReceiver(body io.Reader, enc wire.Encoding, compressed bool) *receiver {
	events := newParser(body)
	if compressed {
		events.from = &inflated{raw: events.raw}
	}
	return &receiver{events: events, encoding: enc}
}

// receive fills in all of d but its Stream. Comments that are no heartbeat, and
// events that this client does not know, are passed over.
func (r *receiver) receive(d *clients.Delivery) error {
	for {
		var e event
		if err := r.events.next(&e); err != nil {
			return err
		}
		d.ReceivedNS = r.events.readNS
		if e.comment != nil {
			sent, ok := heartbeat(e.comment)
			if !ok || !r.greeted {
				continue
			}
			d.Message = feed.Message{Ticks: d.Message.Ticks[:0], Heartbeat: &feed.Heartbeat{SentNS: sent}}
			d.Execution, d.DecodedNS = nil, d.ReceivedNS
			return nil
		}
		switch string(e.name) {
		case "tick", "hello", "subscribed", "unsubscribed", "snapshot", "skipped", "execution", "problem":
		default:
			if !r.greeted {
				return fmt.Errorf("%w: its first event is %s", clients.ErrNoExchange, quoteShort(e.name))
			}
			continue
		}
		r.greeted = true
		if err := r.unmarshal(e.data, d); err != nil {
			return fmt.Errorf("event %s: %w", e.name, err)
		}
		d.DecodedNS = feed.Now()
		return nil
	}
}

func (r *receiver) unmarshal(data []byte, d *clients.Delivery) error {
	m := wire.StreamMessage{Feed: d.Message}
	err := wire.UnmarshalStreamEventData(r.encoding, data, &m)
	d.Message, d.Execution = m.Feed, m.Execution
	return err
}

// heartbeat reads the comment that the exchange sends where it has nothing to say.
func heartbeat(comment []byte) (sentNS int64, ok bool) {
	text, ok := bytes.CutPrefix(comment, []byte(" heartbeat "))
	if !ok {
		return 0, false
	}
	sentNS, err := strconv.ParseInt(string(text), 10, 64)
	return sentNS, err == nil
}

func quoteShort(text []byte) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(string(text[:most]) + "…")
	}
	return strconv.Quote(string(text))
}
