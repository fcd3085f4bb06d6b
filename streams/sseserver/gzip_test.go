package sseserver

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/streams"
)

func TestAcceptsGzip(t *testing.T) {
	for header, want := range map[string]bool{
		"": false, "gzip": true, "GZIP": true, "br, gzip": true, "gzip;q=1": true, "gzip; q=0.001": true, "deflate, gzip;q=0.5, *": true,
		"gzip;q=0": false, "gzip; Q=0.000": false, "identity": false, "*": false, "gzipped": false, "x-gzip": false,
	} {
		if got := acceptsGzip(http.Header{"Accept-Encoding": {header}}); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if !acceptsGzip(http.Header{"Accept-Encoding": {"br", "gzip"}}) {
		t.Error("a header of two lines")
	}
}

// writes keeps what each Write brought.
type writes [][]byte

func (w *writes) Write(p []byte) (int, error) {
	*w = append(*w, bytes.Clone(p))
	return len(p), nil
}

// TestGzipKeepsNoContext: the same text is the same bytes wherever it comes, and
// after every write all of it can be read.
func TestGzipKeepsNoContext(t *testing.T) {
	var out writes
	body := &gzipBody{out: &out, pool: newFlatePool()}
	text := strings.Repeat("event: tick\ndata: abc\n\n", 20)
	for _, s := range []string{"first", text, "between", text, ""} {
		if n, err := io.WriteString(body, s); n != len(s) || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(out) != 5 || !bytes.Equal(out[1], out[3]) || len(out[1]) >= len(text)/2 {
		t.Errorf("%d writes, %d bytes of %d: %x and %x", len(out), len(out[1]), len(text), out[1], out[3])
	}
	var sent bytes.Buffer
	plain := ""
	for i, part := range out {
		sent.Write(part)
		plain += []string{"first", text, "between", text, ""}[i]
		got := make([]byte, len(plain))
		r, err := gzip.NewReader(bytes.NewReader(sent.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(r, got); err != nil || string(got) != plain {
			t.Errorf("after write %d: %q, %v", i, got, err)
		}
	}
	if err := body.Close(); err != nil {
		t.Fatal(err)
	}
	sent.Write(out[5])
	r, err := gzip.NewReader(&sent)
	if err != nil {
		t.Fatal(err)
	}
	r.Multistream(false) // as browsers read it
	if got, err := io.ReadAll(r); err != nil || string(got) != plain || sent.Len() > 0 {
		t.Errorf("the whole body is %q, %v, with %d bytes after it", got, err, sent.Len())
	}
}

func TestStreamIsCompressedWhereBothWantIt(t *testing.T) {
	for _, version := range versions {
		for _, allowed := range []bool{false, true} {
			for _, asked := range []string{"identity", "gzip"} {
				e := start(t, streams.Options{Compression: allowed})
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.addr+"/v2/events?symbol=AAA", nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Accept-Encoding", asked)
				resp, err := client(t, version).Do(req)
				if err != nil {
					t.Fatal(err)
				}
				var body io.Reader = resp.Body
				zipped := resp.Header.Get("Content-Encoding") == "gzip"
				if zipped {
					if body, err = gzip.NewReader(resp.Body); err != nil {
						t.Fatal(err)
					}
				}
				if zipped != (allowed && asked == "gzip") || (resp.Header.Get("Vary") == "Accept-Encoding") != allowed {
					t.Errorf("HTTP/%s, allowed %v, asked for %s: %v", version, allowed, asked, resp.Header)
				}
				e.publish(0)
				stopped := make(chan struct{})
				go func() {
					defer close(stopped)
					e.Shutdown(ctx)
				}()
				// To the end of the body, which a gzip reader checks.
				if got, err := io.ReadAll(body); err != nil || !strings.HasPrefix(string(got), "event: hello\n") || !strings.Contains(string(got), "SHUTTING_DOWN") {
					t.Errorf("HTTP/%s, allowed %v, asked for %s: %q, %v", version, allowed, asked, got, err)
				}
				<-stopped
				_ = resp.Body.Close()
				cancel()
			}
		}
	}
}
