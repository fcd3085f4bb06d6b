package wire

import (
	"encoding/base64"
	"reflect"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// Every decoder takes any bytes without a panic, and what it takes encodes to
// something that decodes to the same.

func FuzzMessageProtobuf(f *testing.F) { fuzzMessage(f, Protobuf) }
func FuzzMessageJSON(f *testing.F)     { fuzzMessage(f, JSON) }

func fuzzMessage(f *testing.F, enc Encoding) {
	for _, g := range goldenMessages {
		data, err := AppendMessage(nil, enc, &g.message)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m := feed.Message{Ticks: []feed.Tick{goldenQuote}}
		if UnmarshalMessage(enc, data, &m) != nil {
			return
		}
		again, err := AppendMessage(nil, enc, &m)
		var got feed.Message
		if err := UnmarshalMessage(enc, must(t, again, err), &got); err != nil || !sameMessage(got, m) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, m, got, err)
		}
	})
}

func FuzzRequestProtobuf(f *testing.F) { fuzzRequest(f, Protobuf) }
func FuzzRequestJSON(f *testing.F)     { fuzzRequest(f, JSON) }

func fuzzRequest(f *testing.F, enc Encoding) {
	for _, g := range goldenRequests {
		data, err := AppendRequest(nil, enc, &g.request)
		f.Add(must(f, data, err))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var q, got feed.Request
		if UnmarshalRequest(enc, data, &q) != nil {
			return
		}
		again, err := AppendRequest(nil, enc, &q)
		if err := UnmarshalRequest(enc, must(t, again, err), &got); err != nil || !reflect.DeepEqual(got, q) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, q, got, err)
		}
	})
}

func FuzzEventDataProtobuf(f *testing.F) { fuzzEventData(f, Protobuf) }
func FuzzEventDataJSON(f *testing.F)     { fuzzEventData(f, JSON) }

func fuzzEventData(f *testing.F, enc Encoding) {
	for _, g := range goldenMessages {
		data, err := AppendMessage(nil, enc, &g.message)
		data = must(f, data, err)
		if enc == Protobuf {
			data = base64.StdEncoding.AppendEncode(nil, data)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, got feed.Message
		if UnmarshalEventData(enc, data, &m) != nil {
			return
		}
		event, err := AppendEvent(nil, enc, &m)
		if err != nil || m.Heartbeat != nil {
			return // no event of its own, or a cursor that no id: may be
		}
		if err := UnmarshalEventData(enc, eventData(t, event), &got); err != nil || !sameMessage(got, m) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, m, got, err)
		}
	})
}

func FuzzTick(f *testing.F) {
	for _, seed := range []string{quoteJSON, tradeJSON, emptyTickJSON, `{"bidPx":1e2,"askPx":-0.5,"seq":12,"s\u0065q":1}`, `{"new":[{}]}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var tick, got feed.Tick
		if UnmarshalTick(data, &tick) != nil {
			return
		}
		again, err := AppendTick(nil, &tick)
		if err := UnmarshalTick(must(t, again, err), &got); err != nil || got != tick {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, tick, got, err)
		}
	})
}

func FuzzSymbols(f *testing.F) {
	f.Add([]byte(`{"symbols":[{"name":"A","tickSize":"0.01"},{"name":"B","tickSize":1}]}`))
	f.Add([]byte(`{"symbols":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		symbols, err := UnmarshalSymbols(data)
		if err != nil {
			return
		}
		again, err := AppendSymbols(nil, symbols)
		got, err := UnmarshalSymbols(must(t, again, err))
		if err != nil || !reflect.DeepEqual(got, symbols) {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, symbols, got, err)
		}
	})
}

func FuzzProblem(f *testing.F) {
	f.Add([]byte(`{"code":"NOT_FOUND","message":"no","symbol":"A","requestId":"r","fatal":true}`))
	f.Add([]byte(`{"code":"","message":"","new":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var p, got feed.Problem
		if UnmarshalProblem(data, &p) != nil {
			return
		}
		again, err := AppendProblem(nil, &p)
		if err := UnmarshalProblem(must(t, again, err), &got); err != nil || got != p {
			t.Fatalf("%q\nreads as %+v\nthen as  %+v, %v", data, p, got, err)
		}
	})
}
