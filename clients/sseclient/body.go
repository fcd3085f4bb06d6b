package sseclient

import (
	"compress/gzip"
	"io"

	"github.com/tickgauge/tickgauge/feed"
)

// stamped is a body that knows when it was last read.
type stamped struct {
	body   io.Reader
	readNS int64 // when the last Read returned, CLOCK_MONOTONIC
}

// Read is io.Reader's.
func (s *stamped) Read(b []byte) (int, error) {
	n, err := s.body.Read(b)
	s.readNS = feed.Now()
	return n, err
}

// inflated is the plain text of a gzip body. It gives what has been flushed as soon
// as that is there, and its own work comes after the stamp of raw.
type inflated struct {
	raw   *stamped
	plain *gzip.Reader // once the header has been read
}

// Read is io.Reader's.
func (f *inflated) Read(b []byte) (int, error) {
	if f.plain == nil {
		plain, err := gzip.NewReader(f.raw)
		if err != nil {
			return 0, err
		}
		f.plain = plain
	}
	return f.plain.Read(b)
}
