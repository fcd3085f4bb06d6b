package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tickgauge/tickgauge/feed"
)

// unmarshal decodes JSON and puts its errors in the terms of the capture.
func unmarshal(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON: %w", err)
	case errors.As(err, &kind):
		if kind.Field == "" {
			return fmt.Errorf("JSON %s is no message of this format", kind.Value)
		}
		return fmt.Errorf("%q is a JSON %s", kind.Field, kind.Value)
	}
	return err
}

// ignored is a field whose name differs from a wanted one in case alone, which
// encoding/json would otherwise put there.
type ignored struct{}

// UnmarshalJSON takes any value.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// clearFields empties fields before the next line and keeps their room.
func clearFields(fields ...*json.RawMessage) {
	for _, f := range fields {
		*f = (*f)[:0]
	}
}

// text returns what a JSON string says. A missing value gives nil.
func text(field string, raw json.RawMessage) ([]byte, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if raw[0] != '"' {
		return nil, fmt.Errorf("%q is no string: %s", field, shorten(raw))
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return []byte(s), err
}

// price reads a price above 0 from a JSON string or from the digits of a number.
func price(field string, raw json.RawMessage) (feed.Price, error) {
	if len(raw) == 0 {
		return 0, fmt.Errorf("%q is missing", field)
	}
	px, err := feed.ParsePrice(unquoted(raw))
	if err == nil && px <= 0 {
		err = fmt.Errorf("price %s is not above 0", px)
	}
	if err != nil {
		return 0, fmt.Errorf("%q: %w", field, err)
	}
	return px, nil
}

// size reads a size of 0 or more, as price does.
func size(field string, raw json.RawMessage) (feed.Size, error) {
	if len(raw) == 0 {
		return 0, fmt.Errorf("%q is missing", field)
	}
	sz, err := feed.ParseSize(unquoted(raw))
	if err == nil && sz < 0 {
		err = fmt.Errorf("size %s is below 0", sz)
	}
	if err != nil {
		return 0, fmt.Errorf("%q: %w", field, err)
	}
	return sz, nil
}

// tradeSize reads a size above 0.
func tradeSize(field string, raw json.RawMessage) (feed.Size, error) {
	sz, err := size(field, raw)
	if err == nil && sz == 0 {
		err = fmt.Errorf("%q: a trade of size 0", field)
	}
	return sz, err
}

// tradeID reads a whole number from its digits; none is 0.
func tradeID(field string, raw json.RawMessage) (id uint64, err error) {
	if len(raw) > 0 {
		err = unmarshal(raw, &id)
	}
	if err != nil {
		return 0, fmt.Errorf("%q: %s is no trade id", field, shorten(raw))
	}
	return id, nil
}

func unquoted(raw json.RawMessage) json.RawMessage {
	if len(raw) >= 2 && raw[0] == '"' {
		return raw[1 : len(raw)-1]
	}
	return raw
}

func shorten(raw []byte) []byte {
	if len(raw) > 40 {
		return append(raw[:40:40], "…"...)
	}
	return raw
}

// row is a JSON array of strings and numbers, such as the level of a book.
type row struct {
	cells [4]json.RawMessage
	n     int
}

// parse cuts up an array that encoding/json has found to be well formed. The
// cells are parts of data.
func (r *row) parse(data []byte) error {
	*r = row{}
	if len(data) < 2 || data[0] != '[' {
		return fmt.Errorf("%s is no array", shorten(data))
	}
	rest := bytes.TrimSpace(data[1 : len(data)-1])
	for len(rest) > 0 {
		if r.n == len(r.cells) || rest[0] == '[' || rest[0] == '{' || bytes.IndexByte(rest, '\\') >= 0 {
			return fmt.Errorf("%s is no array of at most %d plain values", shorten(data), len(r.cells))
		}
		end := 0
		if rest[0] == '"' {
			end = 2 + bytes.IndexByte(rest[1:], '"')
		}
		if comma := bytes.IndexByte(rest[end:], ','); comma >= 0 {
			end += comma
		} else {
			end = len(rest)
		}
		r.cells[r.n] = json.RawMessage(bytes.TrimSpace(rest[:end]))
		r.n++
		rest = bytes.TrimSpace(rest[min(end+1, len(rest)):])
	}
	return nil
}

// level reads the price and the size of a level from cells i and i+1.
func (r *row) level(i int) (c change, err error) {
	c.px, err = price("price", r.cells[i])
	if errors.Is(err, feed.ErrRange) && isFar(r.cells[i]) {
		c.far, err = true, nil
	}
	if err == nil {
		c.sz, err = size("size", r.cells[i+1])
	}
	return c, err
}

// isFar reports whether a price is too large for feed.Price in its whole part.
// Another price out of range would lose decimals.
func isFar(raw json.RawMessage) bool {
	whole, _, _ := bytes.Cut(unquoted(raw), []byte("."))
	if len(bytes.Trim(whole, "0123456789")) > 0 {
		return false
	}
	_, err := feed.ParsePrice(whole)
	return errors.Is(err, feed.ErrRange)
}
