package wire

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/tickgauge/tickgauge/feed"
)

// eventData returns the data of one whole event.
func eventData(t fatalf, event []byte) []byte {
	t.Helper()
	_, rest, ok := bytes.Cut(event, []byte("\ndata: "))
	data, end := bytes.CutSuffix(rest, []byte("\n\n"))
	if !ok || !end || bytes.ContainsAny(data, "\r\n") {
		t.Fatalf("not one event with one line of data: %q", event)
	}
	return data
}

func TestEventRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		enc, want, got := drawEncoding(t), drawEvent(t), drawMessage(t)
		event, err := AppendEvent([]byte("before"), enc, &want)
		event = must(t, event, err)
		if want.Heartbeat != nil {
			if !bytes.HasPrefix(event, []byte("before: heartbeat ")) {
				t.Fatalf("heartbeat %q", event)
			}
			return
		}
		if err := UnmarshalEventData(enc, eventData(t, event), &got); err != nil || !sameMessage(got, want) {
			t.Fatalf("got %+v, %v\nwant %+v", got, err, want)
		}
	})
}

func TestGoldenEvents(t *testing.T) {
	for _, c := range []struct {
		message        feed.Message
		json, protobuf string
	}{
		{feed.Message{Hello: &feed.Hello{Epoch: "ab"}},
			"event: hello\ndata: {\"hello\":{\"epoch\":\"ab\",\"limits\":{}}}\n\n", "event: hello\ndata: EgYSAmFiMgA=\n\n"},
		{feed.Message{Subscribed: &feed.Subscribed{Cursor: "ab-5"}},
			"event: subscribed\nid: ab-5\ndata: {\"subscribed\":{\"cursor\":\"ab-5\"}}\n\n", "event: subscribed\nid: ab-5\ndata: GgYaBGFiLTU=\n\n"},
		{feed.Message{Subscribed: &feed.Subscribed{Policy: feed.PolicyConflate}},
			"event: subscribed\ndata: {\"subscribed\":{\"policy\":\"CONFLATE\"}}\n\n", "event: subscribed\ndata: GgIQAQ==\n\n"},
		{feed.Message{Unsubscribed: &feed.Unsubscribed{}},
			"event: unsubscribed\ndata: {\"unsubscribed\":{}}\n\n", "event: unsubscribed\ndata: IgA=\n\n"},
		{feed.Message{Snapshot: &feed.Snapshot{Cursor: "ab-5"}},
			"event: snapshot\nid: ab-5\ndata: {\"snapshot\":{\"tick\":" + emptyTickJSON + ",\"cursor\":\"ab-5\"}}\n\n",
			"event: snapshot\nid: ab-5\ndata: KggKABIEYWItNQ==\n\n"},
		{feed.Message{Skipped: &feed.Skipped{Symbol: "A", ToSeq: 2, Cursor: "ab-6"}},
			"event: skipped\nid: ab-6\ndata: {\"skipped\":{\"symbol\":\"A\",\"toSeq\":\"2\",\"cursor\":\"ab-6\"}}\n\n",
			"event: skipped\nid: ab-6\ndata: MgsKAUEYAjIEYWItNg==\n\n"},
		{feed.Message{Problem: &feed.Problem{Code: feed.CodeInternal, Message: "a\nb"}},
			"event: problem\ndata: {\"problem\":{\"code\":\"INTERNAL\",\"message\":\"a\\nb\"}}\n\n", "event: problem\ndata: Qg8KCElOVEVSTkFMEgNhCmI=\n\n"},
		{feed.Message{Heartbeat: &feed.Heartbeat{SentNS: 77}}, ": heartbeat 77\n\n", ": heartbeat 77\n\n"},
	} {
		for enc, want := range map[Encoding]string{JSON: c.json, Protobuf: c.protobuf} {
			got, err := AppendEvent(nil, enc, &c.message)
			if string(must(t, got, err)) != want {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		}
	}
}

func TestEventRefuses(t *testing.T) {
	for want, m := range map[string]feed.Message{
		"nothing set":             {},
		"the hub's encoders":      {Ticks: []feed.Tick{{}}},
		"event skipped: cursor":   {Skipped: &feed.Skipped{Cursor: "ab-1\ndata: x"}},
		"several of":              {Hello: &feed.Hello{}, Heartbeat: &feed.Heartbeat{}},
		"hello.limits.maxStreams": {Hello: &feed.Hello{Limits: feed.Limits{MaxStreams: -1}}},
	} {
		for _, enc := range Encodings() {
			got, err := AppendEvent([]byte("before"), enc, &m)
			wantError(t, err, want)
			if string(got) != "before" {
				t.Errorf("%s: dst came back as %q", want, got)
			}
		}
	}
	for _, data := range []string{"?", "QQ", "QR==", "Qg8KCElOVEVSTkFMEgNhCmI"} {
		wantError(t, UnmarshalEventData(Protobuf, []byte(data), &feed.Message{}), "base64")
	}
	wantError(t, UnmarshalEventData(Protobuf, []byte("/w=="), &feed.Message{}), "decode protobuf message")
	wantError(t, UnmarshalEventData(JSON, []byte("{"), &feed.Message{}), "decode JSON message")
}

func TestNames(t *testing.T) {
	for _, enc := range Encodings() {
		if got, err := ParseEncoding(enc.String()); got != enc || err != nil {
			t.Errorf("%s reads as %s, %v", enc, got, err)
		}
	}
	if got, err := ParseEncoding("proto"); got != Protobuf || err != nil {
		t.Error(got, err)
	}
	_, err := ParseEncoding("xml")
	wantError(t, err, `"xml", want protobuf or json`)

	for i := range policyNames {
		p := feed.Policy(i)
		for _, text := range []string{PolicyName(p), strings.ToUpper(PolicyName(p)), strings.ReplaceAll(PolicyName(p), "-", "_")} {
			if got, err := ParsePolicy(text); got != p || err != nil {
				t.Errorf("%q reads as %d, %v", text, got, err)
			}
		}
	}
	if got := PolicyName(feed.PolicyDropOldest); got != "drop-oldest" {
		t.Error(got)
	}
	_, err = ParsePolicy("newest")
	wantError(t, err, `"newest", want conflate, drop-oldest or disconnect`)
}
