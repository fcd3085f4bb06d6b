package sseclient

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// shown is an event in a form that compares, a comment as ":" and its text.
type shown struct{ name, id, data string }

// parseAll parses to the end, and returns the error if it is not io.EOF.
func parseAll(from io.Reader) (all []shown, err error) {
	p := newParser(from)
	for {
		var e event
		if err := p.next(&e); err != nil {
			if err == io.EOF {
				err = nil
			}
			return all, err
		}
		if e.comment != nil {
			all = append(all, shown{":" + string(e.comment), string(e.id), ""})
			continue
		}
		all = append(all, shown{string(e.name), string(e.id), string(e.data)})
	}
}

func TestParser(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []shown
	}{
		"empty":                   {"", nil},
		"one":                     {"event: tick\nid: e-1\ndata: x\n\n", []shown{{"tick", "e-1", "x"}}},
		"CRLF":                    {"event: a\r\ndata: x\r\n\r\ndata: y\r\n\r\n", []shown{{"a", "", "x"}, {"", "", "y"}}},
		"CR":                      {"event: a\rdata: x\r\rdata: y\r\r", []shown{{"a", "", "x"}, {"", "", "y"}}},
		"mixed ends":              {"data: x\r\n\ndata: y\n\rdata: z\r\r", []shown{{"", "", "x"}, {"", "", "y"}, {"", "", "z"}}},
		"lines of data":           {"data: a\ndata: b\ndata:\ndata: c\n\n", []shown{{"", "", "a\nb\n\nc"}}},
		"one space only":          {"data:  a \n\n", []shown{{"", "", " a "}}},
		"no space":                {"data:a\nevent:b\n\n", []shown{{"b", "", "a"}}},
		"no colon":                {"data\n\ndata\ndata\n\n", []shown{{"", "", ""}, {"", "", "\n"}}},
		"colons in data":          {"data: a: b: c\n\n", []shown{{"", "", "a: b: c"}}},
		"no data, no event":       {"event: a\n\ndata: x\n\n", []shown{{"", "", "x"}}},
		"id stays":                {"id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n", []shown{{"", "1", "x"}, {"", "1", "y"}, {"", "", "z"}}},
		"id without data":         {"id: 1\n\ndata: x\n\n", []shown{{"", "1", "x"}}},
		"id with NUL":             {"id: 1\nid: 2\x003\ndata: x\n\n", []shown{{"", "1", "x"}}},
		"last name counts":        {"event: a\nevent: b\ndata: x\n\n", []shown{{"b", "", "x"}}},
		"retry":                   {"retry: 10\n\nretry: x\ndata: y\n\n", []shown{{"", "", "y"}}},
		"unknown field":           {"dat: x\ndata : y\nDATA: z\n\n", nil},
		"comment":                 {": hi\n\n:\n\n", []shown{{": hi", "", ""}, {":", "", ""}}},
		"comment inside an event": {"data: a\n: c\ndata: b\n\n", []shown{{": c", "", ""}, {"", "", "a\nb"}}},
		"no blank line at the end": {"data: x\n\ndata: lost\n",
			[]shown{{"", "", "x"}}},
		"no end of line":       {"data: x\n\ndata: lost", []shown{{"", "", "x"}}},
		"BOM":                  {"\xef\xbb\xbfdata: x\n\n", []shown{{"", "", "x"}}},
		"BOM later is a field": {"data: x\n\n\xef\xbb\xbfdata: y\n\n", []shown{{"", "", "x"}}},
		"two BOMs":             {"\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n", nil},
		"half a BOM":           {"\xef\xbbdata: x\n\ndata: y\n\n", []shown{{"", "", "y"}}},
		"BOM, then CRLF":       {"\xef\xbb\xbf\r\ndata: x\r\n\r\n", []shown{{"", "", "x"}}},
		"many blank lines":     {"\n\n\n\r\n\r\ndata: x\n\n\n\n", []shown{{"", "", "x"}}},
		"not UTF-8":            {"data: \xff\n\n", []shown{{"", "", "\xff"}}},
		"longer than a read":   {"data: " + strings.Repeat("x", 3*readBytes) + "\n\ndata: y\n\n", []shown{{"", "", strings.Repeat("x", 3*readBytes)}, {"", "", "y"}}},
		"longer than is kept": {"data: " + strings.Repeat("x", 3*keepBytes) + "\n\ndata: y\n\n" + strings.Repeat(":\n", 2*keepBytes),
			append([]shown{{"", "", strings.Repeat("x", 3*keepBytes)}, {"", "", "y"}}, repeated(shown{":", "", ""}, 2*keepBytes)...)},
	} {
		t.Run(name, func(t *testing.T) {
			for how, from := range map[string]io.Reader{
				"whole":          strings.NewReader(c.in),
				"by the byte":    iotest.OneByteReader(strings.NewReader(c.in)),
				"error with end": iotest.DataErrReader(strings.NewReader(c.in)),
			} {
				got, err := parseAll(from)
				if err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%s: %.200q (%v), want %.200q", how, got, err, c.want)
				}
			}
		})
	}
}

func repeated(e shown, n int) []shown {
	all := make([]shown, n)
	for i := range all {
		all[i] = e
	}
	return all
}

// A CR that ends a blank line completes the event: nothing may wait for the LF.
func TestParserDoesNotWaitForLF(t *testing.T) {
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	go func() { _, _ = w.Write([]byte("data: x\r\n\r")) }()
	var e event
	p := newParser(r)
	if err := p.next(&e); err != nil || string(e.data) != "x" {
		t.Fatalf("%q, %v", e.data, err)
	}
	go func() { _, _ = w.Write([]byte("\ndata: y\r\n\r\n")) }()
	if err := p.next(&e); err != nil || string(e.data) != "y" {
		t.Fatalf("%q, %v", e.data, err)
	}
}

// Events that came together share a stamp, taken after the read that ended them.
func TestParserStamps(t *testing.T) {
	var returned []int64
	chunks := []string{"data: a\n\ndata: b\n\ndata: ", "c\n", "\n"}
	p := newParser(readerFunc(func(b []byte) (int, error) {
		if len(returned) == len(chunks) {
			return 0, io.EOF
		}
		n := copy(b, chunks[len(returned)])
		returned = append(returned, feed.Now())
		return n, nil
	}))
	for i, read := range []int{0, 0, 2} {
		var e event
		if err := p.next(&e); err != nil {
			t.Fatal(err)
		}
		if p.readNS < returned[read] || (read+1 < len(returned) && p.readNS > returned[read+1]) {
			t.Errorf("event %d: stamp %d is not that of read %d of %d", i, p.readNS, read, returned)
		}
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestParserErrors(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		from io.Reader
		want string
	}{
		"reader":       {io.MultiReader(strings.NewReader("data: x\n\nda"), iotest.ErrReader(broken)), "broken"},
		"endless line": {io.MultiReader(strings.NewReader("data: "), endless("x")), "more than 16 MiB"},
		"endless data": {endless("data: x\n"), "more than 16 MiB"},
		"no progress":  {readerFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress.Error()},
	} {
		if _, err := parseAll(c.from); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

func endless(text string) io.Reader {
	big := []byte(strings.Repeat(text, 1<<17))
	return readerFunc(func(b []byte) (int, error) {
		n := copy(b, big)
		return n - n%len(text), nil // whole texts, so that they join
	})
}

// plain is the standard once more, in the simplest way, over the whole stream.
func plain(in []byte) (all []shown) {
	text := strings.TrimPrefix(string(in), "\ufeff")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(text, "\n")
	var name, id, data string
	for _, line := range lines[:len(lines)-1] { // the last has no end
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data != "" {
				all = append(all, shown{name, id, strings.TrimSuffix(data, "\n")})
			}
			name, data = "", ""
		case line[0] == ':':
			all = append(all, shown{line, id, ""})
		case field == "event":
			name = value
		case field == "data":
			data += value + "\n"
		case field == "id" && !strings.Contains(value, "\x00"):
			id = value
		}
	}
	return all
}

// FuzzParser splits its input after each of the lengths in turn: however a
// stream arrives, its events are those of the standard.
func FuzzParser(f *testing.F) {
	for _, in := range []string{
		"event: tick\nid: e-1\ndata: x\n\n: heartbeat 1\n\n", "\xef\xbb\xbfdata: x\r\n\r\ndata:y\r\rid", "data\ndata\n\n\r\n:\n\nid: \x00\n",
	} {
		f.Add([]byte(in), []byte{1, 2, 3})
		f.Add([]byte(in), []byte{})
	}
	f.Fuzz(func(t *testing.T, in, lengths []byte) {
		left := in
		i := 0
		got, err := parseAll(readerFunc(func(b []byte) (int, error) {
			if len(left) == 0 {
				return 0, io.EOF
			}
			n := len(left)
			if len(lengths) > 0 {
				n = min(n, 1+int(lengths[i%len(lengths)]))
				i++
			}
			n = copy(b, left[:n])
			left = left[n:]
			return n, nil
		}))
		if want := plain(in); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q in lengths %v: %q (%v), want %q", in, lengths, got, err, want)
		}
	})
}

// FuzzReceive feeds the receiver what no exchange would say.
func FuzzReceive(f *testing.F) {
	hello, err := wire.AppendEvent(nil, wire.JSON, &feed.Message{Hello: &feed.Hello{Epoch: "e0"}})
	if err != nil {
		f.Fatal(err)
	}
	execution, err := wire.AppendExecutionEvent(nil, wire.Protobuf, &order.Execution{ClOrdID: "a", ReportSeq: 1, OrdStatus: order.New})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(hello, false)
	f.Add(execution, true)
	f.Add(wire.HubEncoders()[wire.EventProtobuf](nil, "e0", &feed.Tick{Symbol: "A", Seq: 1}), true)
	f.Add([]byte(": heartbeat 7\n\nevent: problem\ndata: {}\n\n"), false)
	f.Fuzz(func(_ *testing.T, in []byte, proto bool) {
		enc := wire.JSON
		if proto {
			enc = wire.Protobuf
		}
		r := newReceiver(bytes.NewReader(in), enc, false)
		var d clients.Delivery
		for r.receive(&d) == nil {
			_ = fmt.Sprint(d.Message, d.Execution)
		}
	})
}

func BenchmarkReceive(b *testing.B) {
	tick := &feed.Tick{Symbol: "BTC/USD", Seq: 123_456, HubSeq: 12_345_678, DueNS: 1 << 50, PublishNS: 1 << 50, ExchangeTSNS: 1 << 60,
		BidPx: 61_837_630_000_000, BidSz: 120_000_000, AskPx: 61_837_640_000_000, AskSz: 50_000_000, LastPx: 61_837_630_000_000, Origin: feed.OriginSchedule}
	for name, hub := range map[string]int{"protobuf": wire.EventProtobuf, "json": wire.EventJSON} {
		one := wire.HubEncoders()[hub](nil, "0123456789abcdef", tick)
		stream := bytes.Repeat(one, 10)
		again := func() io.Reader { // 10 events a read
			return readerFunc(func(p []byte) (int, error) { return copy(p, stream), nil })
		}
		b.Run("parse/"+name, func(b *testing.B) {
			p := newParser(again())
			b.ReportAllocs()
			b.SetBytes(int64(len(one)))
			for b.Loop() {
				var e event
				if err := p.next(&e); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("parse and decode/"+name, func(b *testing.B) {
			enc := wire.Protobuf
			if hub == wire.EventJSON {
				enc = wire.JSON
			}
			r := newReceiver(again(), enc, false)
			r.greeted = true
			var d clients.Delivery
			b.ReportAllocs()
			b.SetBytes(int64(len(one)))
			for b.Loop() {
				if err := r.receive(&d); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
