package replay

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds one line of a capture. A snapshot of a deep book is a few
// megabytes; what is longer is no line of a known format.
const maxLine = 64 << 20

// errLong is returned by input.next in place of a line that it has passed over.
var errLong = errors.New("line too long")

// input reads the lines of a file, plain or gzip, as often as it is rewound.
type input struct {
	path  string
	limit int // bytes a line may have

	file  *os.File
	lines *bufio.Reader
	long  []byte // a line that does not fit the reader's buffer
	line  int    // number of the line returned last, from 1
	ended bool   // that line had no newline: the file ends in it
}

func openInput(path string) (*input, error) {
	info, err := os.Stat(path) // before it is opened, which would wait for a pipe's writer
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("replay %s: is no regular file; a capture is read twice, so write it to a file first", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	in := &input{path: path, limit: maxLine, file: file}
	switch {
	case info.Size() == 0:
		err = fmt.Errorf("replay %s: the file is empty", path)
	default:
		err = in.rewind()
	}
	if err != nil {
		_ = file.Close() // opened for reading: nothing to lose
		return nil, err
	}
	return in, nil
}

func (in *input) close() error { return in.file.Close() }

// rewind goes back to before the first line.
func (in *input) rewind() error {
	if _, err := in.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	in.line, in.ended = 0, false
	raw := bufio.NewReaderSize(in.file, 1<<16)
	in.lines = raw
	if magic, _ := raw.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return nil
	}
	unzipped, err := gzip.NewReader(raw)
	if err != nil {
		return in.unread(err)
	}
	in.lines = bufio.NewReaderSize(unzipped, 1<<16)
	return nil
}

// next returns the next line without its end, valid until the next call; io.EOF
// after the last one, and errLong for a line that is too long.
func (in *input) next() ([]byte, error) {
	line, err := in.lines.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		line, err = in.nextLong(line)
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		in.ended = true
		err = nil
	}
	switch {
	case errors.Is(err, io.EOF):
		return nil, err
	case errors.Is(err, errLong):
		in.line++
		return nil, err
	case err != nil:
		return nil, in.unread(err)
	}
	in.line++
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r")), nil
}

func (in *input) nextLong(start []byte) ([]byte, error) {
	in.long = append(in.long[:0], start...)
	for {
		part, err := in.lines.ReadSlice('\n')
		if len(in.long) <= in.limit {
			in.long = append(in.long, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(in.long) > in.limit && (err == nil || errors.Is(err, io.EOF)) {
			return nil, errLong
		}
		return in.long, err
	}
}

// at puts the place of the line returned last before its error.
func (in *input) at(err error) error {
	if errors.Is(err, errLong) {
		err = fmt.Errorf("%w: over %d MiB; is this a capture?", err, in.limit>>20)
	}
	if in.ended {
		err = fmt.Errorf("%w (the file ends within this line)", err)
	}
	return fmt.Errorf("replay %s:%d: %w", in.path, in.line, err)
}

// unread says why there is no more to read after the line returned last.
func (in *input) unread(err error) error {
	what := "read"
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF // io.EOF would be the end of the capture
		what = "the gzip data is cut off here; fetch the file again, or unpack what there is and replay that"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &corrupt):
		what = "the gzip data is damaged; fetch the file again"
	}
	return fmt.Errorf("replay %s:%d: %s: %w", in.path, in.line+1, what, err)
}
