package sseclient

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
)

// parts is a body of which each Read brings one part.
type parts struct {
	left [][]byte
	at   []int64 // when each Read returned
}

func (p *parts) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	p.at = append(p.at, feed.Now())
	return n, nil
}

// TestCompressedEventsComeAtOnce: each event is there once its flush has been read,
// with the stamp of that read and not of its inflating.
func TestCompressedEventsComeAtOnce(t *testing.T) {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	body := new(parts)
	flush := func(text string) {
		if _, err := io.WriteString(z, text); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
		body.left = append(body.left, bytes.Clone(out.Bytes()))
		out.Reset()
	}
	flush("data: a\n\n")
	flush("data: b\n\ndata: c\n\n")
	p := newParser(body)
	p.from = &inflated{raw: p.raw}
	for i, c := range []struct {
		data  string
		reads int
	}{{"a", 1}, {"b", 2}, {"c", 2}} {
		var e event
		if err := p.next(&e); err != nil || string(e.data) != c.data {
			t.Fatalf("event %d is %q, %v", i, e.data, err)
		}
		if len(body.at) != c.reads || p.readNS < body.at[c.reads-1] || p.readNS != p.raw.readNS {
			t.Errorf("event %s after %d reads, at %d: stamp %d", c.data, len(body.at), body.at, p.readNS)
		}
	}
	var e event
	if err := p.next(&e); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that is cut ends with %v", err)
	}
}

func TestWhatIsNoGzip(t *testing.T) {
	p := newParser(bytes.NewReader([]byte("data: a\n\nand more")))
	p.from = &inflated{raw: p.raw}
	var e event
	if err := p.next(&e); !errors.Is(err, gzip.ErrHeader) {
		t.Errorf("%+v, %v", e, err)
	}
}
