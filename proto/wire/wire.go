// Package wire turns the messages of the feed and of orders into bytes and back:
// protobuf as in tickgauge.v1, JSON of the same names, SSE events around either, the bodies
// of the REST calls, and the codecs that gRPC asks for. No other package knows
// how anything is spelled on the wire.
//
// All functions may be called from any goroutine. What they append to dst they
// return, as append does; after an error dst is returned as it was given. What
// they read they never keep.
//
// JSON has the names of the protobuf fields in lowerCamelCase. Prices, sizes and
// 64-bit integers are written as strings that hold a decimal number without
// trailing zeros, and read from strings or numbers by their literal digits: a
// number that does not fit, or would lose digits, is refused, as are NaN and
// Infinity; an integer has neither point nor exponent. Enumerations are written
// in upper case without the prefix of their type (DROP_OLDEST) and read in any
// case, with '-' or '_'. What is zero or empty is left out, except in ticks and of
// the quantities of a report, and may be absent. A member that is not known is refused in requests and ignored
// in what the exchange says; null for one that is known, a member that stands
// twice, text that is not UTF-8 and anything after the value are refused.
package wire

import (
	"fmt"
	"strconv"
)

// Encoding is how messages are spelled; every transport carries both.
type Encoding uint8

// The encodings.
const (
	Protobuf Encoding = iota
	JSON
)

// Encodings returns all encodings in the order of their values.
func Encodings() []Encoding { return []Encoding{Protobuf, JSON} }

// String returns protobuf or json.
func (e Encoding) String() string {
	switch e {
	case Protobuf:
		return "protobuf"
	case JSON:
		return "json"
	}
	return "encoding(" + strconv.Itoa(int(e)) + ")"
}

// ParseEncoding reads proto, protobuf or json; anything else is an error that
// lists the choices.
func ParseEncoding(text string) (Encoding, error) {
	switch text {
	case "proto", "protobuf":
		return Protobuf, nil
	case "json":
		return JSON, nil
	}
	return 0, fmt.Errorf("unknown encoding %s, want protobuf or json", quoteShort(text))
}

func unknownEncoding(enc Encoding) error { return fmt.Errorf("wire: no such encoding: %s", enc) }

// quoteShort quotes text that came from outside, so that an error stays one
// short line.
func quoteShort[T ~string | ~[]byte](text T) string {
	if len(text) > 40 {
		return strconv.Quote(string(text[:40]) + "…")
	}
	return strconv.Quote(string(text))
}
