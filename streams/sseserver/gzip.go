package sseserver

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"net/http"
	"strings"
	"sync"
)

// acceptsGzip reports whether a request's Accept-Encoding names gzip, and not with
// a weight of 0 (RFC 9110, section 12.5.3). A * alone asks for nothing here.
func acceptsGzip(h http.Header) bool {
	for _, line := range h.Values("Accept-Encoding") {
		for coding := range strings.SplitSeq(line, ",") {
			name, weight, _ := strings.Cut(coding, ";")
			if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
				continue
			}
			q, weighted := strings.CutPrefix(strings.ToLower(strings.TrimSpace(weight)), "q=")
			return !weighted || strings.Trim(q, "0.") != ""
		}
	}
	return false
}

// gzipBody is a body under Content-Encoding: gzip (RFC 1952) in which nothing
// refers to an earlier write: each is compressed as if it were the first, and
// ended on a whole byte, so that it can be read at once. All writes are one member,
// since browsers read no second one. One goroutine may call it.
type gzipBody struct {
	out   io.Writer
	pool  *sync.Pool // of *flate.Writer, each over 1 MB, so an idle stream holds none
	begun bool
	sum   uint32
	size  uint32
	buf   bytes.Buffer
}

var (
	gzipHeader = []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff} // deflate, no name, no time, no known system
	lastBlock  = []byte{1, 0, 0, 0xff, 0xff}                   // stored, and empty
)

// newFlatePool returns a pool for gzipBody.
func newFlatePool() *sync.Pool {
	return &sync.Pool{New: func() any {
		w, _ := flate.NewWriter(io.Discard, flate.BestSpeed) // the error is of unknown levels
		return w
	}}
}

// Write compresses p and writes it with one call.
func (g *gzipBody) Write(p []byte) (int, error) {
	g.begin()
	g.sum = crc32.Update(g.sum, crc32.IEEETable, p)
	g.size += uint32(len(p))
	w := g.pool.Get().(*flate.Writer)
	defer g.pool.Put(w)
	w.Reset(&g.buf) // which forgets the writes before, and those of other streams
	if _, err := w.Write(p); err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	if err := g.send(); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close ends the body, so that its reader sees the end of it and no cut.
func (g *gzipBody) Close() error {
	g.begin()
	end := binary.LittleEndian.AppendUint32(bytes.Clone(lastBlock), g.sum)
	g.buf.Write(binary.LittleEndian.AppendUint32(end, g.size))
	return g.send()
}

func (g *gzipBody) begin() {
	if !g.begun {
		g.begun = true
		g.buf.Write(gzipHeader)
	}
}

func (g *gzipBody) send() error {
	_, err := g.out.Write(g.buf.Bytes())
	if g.buf.Reset(); g.buf.Cap() > keepBuffer {
		g.buf = bytes.Buffer{}
	}
	return err
}
