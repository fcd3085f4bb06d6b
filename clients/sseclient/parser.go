package sseclient

import (
	"bytes"
	"fmt"
	"io"
)

const (
	// maxLineBytes bounds one line, and the data of one event.
	maxLineBytes = 16 << 20
	// readBytes is what one read may bring at first; keepBytes is the most that a
	// stream keeps of what a large event has needed.
	readBytes = 4 << 10
	keepBytes = 16 << 10
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// event is what next found: an event, or a comment. Its bytes are valid until
// the next call.
type event struct {
	name    []byte // empty where the stream gave none
	id      []byte // the last id of the stream so far
	data    []byte
	comment []byte // not nil: a comment, and name and data are not set
}

// parser reads a text/event-stream as the WHATWG HTML standard has it, except
// that bytes which are not UTF-8 stay as they are, and that comments are shown.
type parser struct {
	from   io.Reader // raw, or what inflates it
	raw    *stamped
	readNS int64 // when the last read of raw returned, CLOCK_MONOTONIC
	err    error // what ended reading

	buf     []byte // [start, end) is not parsed yet; [start, scanned) has no line end
	start   int
	scanned int
	end     int
	begun   bool // what a byte order mark could stand before has begun
	skipLF  bool // a line ended in CR, and an LF may belong to it

	// The event under way, and what outlives it:
	name       []byte
	data       []byte // each line of it ends in LF
	dispatched bool
	id         []byte
}

func newParser(from io.Reader) *parser {
	raw := &stamped{body: from}
	return &parser{from: raw, raw: raw, buf: make([]byte, readBytes)}
}

// next fills in e. It returns the reader's error at its end, where an event that
// no blank line has ended is lost, as the standard says.
func (p *parser) next(e *event) error {
	if p.dispatched {
		p.reset()
	}
	for {
		line, ok, err := p.line()
		if err != nil {
			return err
		}
		switch {
		case !ok:
			if err := p.read(); err != nil {
				return err
			}
		case len(line) == 0:
			if len(p.data) == 0 {
				p.name = p.name[:0]
				continue
			}
			p.dispatched = true
			*e = event{name: p.name, id: p.id, data: p.data[:len(p.data)-1]}
			return nil
		case line[0] == ':':
			*e = event{id: p.id, comment: line[1:]}
			return nil
		default:
			p.field(line)
		}
	}
}

func (p *parser) reset() {
	p.dispatched = false
	p.name, p.data = p.name[:0], p.data[:0]
	if cap(p.data) > keepBytes {
		p.data = nil
	}
}

func (p *parser) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		p.name = append(p.name[:0], value...)
	case "data":
		p.data = append(append(p.data, value...), '\n')
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			p.id = append(p.id[:0], value...)
		}
	} // retry is for clients that reconnect by themselves
}

// line takes a line without its end from the buffer, if a whole one is there. A
// CR ends a line at once: waiting for the LF that may follow would hold back an
// event that is complete.
func (p *parser) line() (line []byte, ok bool, err error) {
	if !p.begin() {
		return nil, false, nil
	}
	if p.skipLF && p.start < p.end {
		p.skipLF = false
		if p.buf[p.start] == '\n' {
			p.start++
			p.scanned = max(p.scanned, p.start)
		}
	}
	fresh := p.buf[p.scanned:p.end]
	at := bytes.IndexByte(fresh, '\n')
	if at >= 0 {
		fresh = fresh[:at]
	}
	if cr := bytes.IndexByte(fresh, '\r'); cr >= 0 {
		at, p.skipLF = cr, true
	}
	if at < 0 {
		p.scanned = p.end
		return nil, false, p.tooLong(p.end - p.start)
	}
	at += p.scanned
	line = p.buf[p.start:at]
	p.start, p.scanned = at+1, at+1
	return line, true, p.tooLong(len(line))
}

func (p *parser) tooLong(line int) error {
	if line > maxLineBytes || len(p.data)+line > maxLineBytes {
		return fmt.Errorf("an event of more than %d MiB", maxLineBytes>>20)
	}
	return nil
}

// begin skips a byte order mark, and reports false while what is there may be
// the beginning of one.
func (p *parser) begin() bool {
	if p.begun {
		return true
	}
	head := p.buf[p.start:min(p.end, p.start+len(byteOrderMark))]
	if !bytes.HasPrefix(byteOrderMark, head) {
		p.begun = true
	} else if len(head) == len(byteOrderMark) {
		p.begun = true
		p.start += len(head)
		p.scanned = p.start
	}
	return p.begun
}

// read brings more into the buffer. Every byte of what is parsed next but not of
// the line under way came with it, so readNS is the stamp of all that it ends.
func (p *parser) read() error {
	if p.err != nil {
		return p.err
	}
	kept := copy(p.buf, p.buf[p.start:p.end])
	p.start, p.scanned, p.end = 0, p.scanned-p.start, kept
	switch {
	case kept == 0 && len(p.buf) > keepBytes:
		p.buf = make([]byte, readBytes)
	case kept == len(p.buf):
		p.buf = append(p.buf, make([]byte, kept)...)
	}
	const patience = 100 // reads in a row that bring nothing
	for range patience {
		n, err := p.from.Read(p.buf[p.end:])
		p.readNS = p.raw.readNS
		p.end += n
		p.err = err
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	p.err = io.ErrNoProgress
	return p.err
}
