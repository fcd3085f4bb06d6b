package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

var errTwice = errors.New("stands twice")

// reader takes one JSON value apart. Its errors start with where they happened,
// as in ticks[0].bidPx.
type reader struct {
	data   []byte
	in     bytes.Buffer
	dec    jsontext.Decoder
	root   string // what an error calls the whole value; may be empty
	strict bool   // refuses members that are not known
}

// readJSON has value read the only JSON value of data.
func readJSON(data []byte, root string, strict bool, value func(r *reader) error) error {
	r := &reader{data: data, in: *bytes.NewBuffer(data), root: root, strict: strict}
	// The decoder reads a Buffer in place, and does not write to it. It would also
	// see to members that stand twice, but with fourteen allocations for each tick;
	// object and unknown do.
	r.dec.Reset(&r.in, jsontext.AllowDuplicateNames(true))
	if err := value(r); err != nil {
		return err
	}
	switch _, err := r.dec.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("more after the JSON value")
	default:
		return r.syntax(err)
	}
}

// object calls member with each name; member must read the value.
func (r *reader) object(member func(name []byte) error) error {
	if r.dec.PeekKind() != '{' {
		return r.wrongType("an object")
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	var seen names
	for r.dec.PeekKind() != '}' {
		raw, err := r.dec.ReadValue()
		if err != nil {
			return r.syntax(err)
		}
		end := r.dec.InputOffset()
		name := unquote(r.data[end-int64(len(raw)) : end])
		if !seen.add(name) {
			return r.fail(errTwice)
		}
		if err := member(name); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// array calls element for each; element must read it.
func (r *reader) array(element func() error) error {
	if r.dec.PeekKind() != '[' {
		return r.wrongType("an array")
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	for r.dec.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	if _, err := r.dec.ReadToken(); err != nil {
		return r.syntax(err)
	}
	return nil
}

// names are the members that an object has had so far. The zero value is none.
type names struct {
	few  [24][]byte // as many as an execution has, with one to spare
	n    int
	many map[string]struct{} // once there are more
}

// add reports whether name is new. It keeps name.
func (s *names) add(name []byte) bool {
	for _, have := range s.few[:s.n] {
		if string(have) == string(name) {
			return false
		}
	}
	if s.n < len(s.few) {
		s.few[s.n] = name
		s.n++
		return true
	}
	if s.many == nil {
		s.many = make(map[string]struct{})
	}
	if _, twice := s.many[string(name)]; twice {
		return false
	}
	s.many[string(name)] = struct{}{}
	return true
}

// unknown skips or refuses the value of a member that is not known.
func (r *reader) unknown() error {
	raw, err := r.dec.ReadValue()
	switch {
	case err != nil:
		return r.syntax(err)
	case r.strict:
		return r.fail(errors.New("unknown member"))
	case !raw.IsValid(): // the decoder has seen to the rest
		return r.fail(fmt.Errorf("a member in it %w", errTwice))
	}
	return nil
}

// text returns a string's content, which is only good until the next read.
func (r *reader) text() ([]byte, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.syntax(err)
	}
	if raw[0] != '"' {
		return nil, r.got("a string", raw.Kind())
	}
	return unquote(raw), nil
}

func (r *reader) string(to *string) error {
	b, err := r.text()
	*to = string(b)
	return err
}

func (r *reader) strings(to *[]string) error {
	return r.array(func() error {
		b, err := r.text()
		*to = append(*to, string(b))
		return err
	})
}

func (r *reader) bool(to *bool) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return r.syntax(err)
	}
	switch raw[0] {
	case 't', 'f':
		*to = raw[0] == 't'
		return nil
	}
	return r.got("true or false", raw.Kind())
}

// unquote takes a valid JSON string and returns its content, in place where
// nothing in it is escaped.
func unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the decoder has checked it
	return text
}

// wrongType reads the value that is not of the type wanted.
func (r *reader) wrongType(want string) error {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return r.syntax(err)
	}
	return r.got(want, raw.Kind())
}

func (r *reader) got(want string, kind jsontext.Kind) error {
	words := map[jsontext.Kind]string{'n': "null", 't': "true", 'f': "false", '"': "a string", '0': "a number",
		'{': "an object", '[': "an array"}
	return r.fail(fmt.Errorf("want %s, got %s", want, words[kind]))
}

// fail says what is wrong with the value read last.
func (r *reader) fail(err error) error { return r.at(r.dec.StackPointer(), err) }

// syntax says it of the decoder's own errors.
func (r *reader) syntax(err error) error {
	var s *jsontext.SyntacticError
	switch {
	case err == io.EOF:
		return errors.New("empty, want a JSON value")
	case !errors.As(err, &s):
		return err
	}
	return r.at(s.JSONPointer, fmt.Errorf("%w at byte %d", s.Err, s.ByteOffset))
}

func (r *reader) at(p jsontext.Pointer, err error) error {
	var where strings.Builder
	where.WriteString(r.root)
	for token := range p.Tokens() {
		switch {
		case len(token) > 40 || token == "" || strings.ContainsFunc(token, notName):
			where.WriteString("[" + quoteShort(token) + "]")
		case strings.Trim(token, "0123456789") == "":
			where.WriteString("[" + token + "]")
		default:
			if where.Len() > 0 {
				where.WriteByte('.')
			}
			where.WriteString(token)
		}
	}
	if where.Len() == 0 {
		return err
	}
	return fmt.Errorf("%s: %w", where.String(), err)
}

func notName(c rune) bool {
	return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
}
