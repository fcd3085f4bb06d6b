package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The formats of captures.
const (
	// FormatBinance has a line "<receive ns> <JSON>" for each message of
	// Binance's combined streams, as hftbacktest records them.
	FormatBinance = "binance"
	// FormatCoinbase is cryptofeed's raw capture of the Coinbase Exchange feed.
	FormatCoinbase = "coinbase"
	// FormatKraken is cryptofeed's raw capture of Kraken's WebSocket API v1.
	FormatKraken = "kraken"
)

// Formats returns the names that Options.Format takes.
func Formats() []string { return []string{FormatBinance, FormatCoinbase, FormatKraken} }

// decoder reads the lines of one format. A line is not empty. After an error
// the decoder stands as if it had not seen the line.
type decoder interface {
	decode(line []byte, e *event) error
}

func newDecoder(format string, m *market) (decoder, error) {
	switch format {
	case FormatBinance:
		return &binance{market: m}, nil
	case FormatCoinbase:
		return &coinbase{market: m}, nil
	case FormatKraken:
		return &kraken{market: m}, nil
	}
	return nil, fmt.Errorf("replay: format %q is not known; want one of %s, or none to have it found", format, strings.Join(Formats(), ", "))
}

// sniffLines is how far the content is searched for a format.
const sniffLines = 1000

// findFormat reads lines until one tells the format.
func findFormat(in *input) (string, error) {
	for range sniffLines {
		line, err := in.next()
		switch {
		case errors.Is(err, errLong):
			continue
		case errors.Is(err, io.EOF) && in.line == 0:
			return "", fmt.Errorf("replay %s: the file is empty", in.path)
		case errors.Is(err, io.EOF):
			return "", unknownFormat(in)
		case err != nil:
			return "", err
		}
		if format := sniff(line); format != "" {
			return format, nil
		}
	}
	return "", unknownFormat(in)
}

func unknownFormat(in *input) error {
	return fmt.Errorf("replay %s: the format of the capture does not show in its first %d lines; known are %s; name the one it is with --format",
		in.path, in.line, strings.Join(Formats(), ", "))
}

// sniff returns the format of a line, or "" if it does not tell.
func sniff(line []byte) string {
	if len(bytes.TrimSpace(line)) == 0 {
		return ""
	}
	if stamp, body, _ := bytes.Cut(line, []byte(" ")); len(body) > 0 && body[0] == '{' {
		if _, err := nanoseconds(stamp); err == nil {
			return FormatBinance
		}
	}
	kind, _, body, err := cryptofeed(line)
	if err != nil || kind == kindConnection || len(body) == 0 {
		return ""
	}
	if body[0] == '[' {
		return FormatKraken
	}
	var keys struct {
		Type  json.RawMessage `json:"type"`
		Event json.RawMessage `json:"event"`
	}
	if json.Unmarshal(body, &keys) != nil {
		return ""
	}
	switch {
	case keys.Type != nil:
		return FormatCoinbase
	case keys.Event != nil:
		return FormatKraken
	}
	return ""
}

var errChanged = errors.New("the file has changed since it was opened; open it again")
