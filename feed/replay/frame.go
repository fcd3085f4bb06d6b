package replay

import (
	"bytes"
	"errors"
	"fmt"
	"math"
)

// Lines of cryptofeed's own that are no message.
const (
	kindConnection = "connection" // <->: a connection was opened
	kindSent       = "sent"       // <-: what the client sent
)

// cryptofeed takes a line of cryptofeed's raw captures apart. A line that the
// venue sent has no kind; at is then its receive time and body its JSON.
func cryptofeed(line []byte) (kind string, at int64, body []byte, err error) {
	if len(line) > 0 && line[0] >= '0' && line[0] <= '9' {
		stamp, body, found := bytes.Cut(line, []byte(": "))
		if !found {
			return "", 0, nil, errors.New("want <receive seconds>: <JSON>")
		}
		at, err = seconds(stamp)
		return "", at, body, err
	}
	_, rest, found := bytes.Cut(line, []byte(" <- "))
	if found {
		_, body, _ = bytes.Cut(rest, []byte(": "))
		return kindSent, 0, body, nil
	}
	if bytes.Contains(line, []byte(" <-> ")) {
		return kindConnection, 0, nil, nil
	}
	return "", 0, nil, fmt.Errorf("want <receive seconds>: <JSON>, or a line with <-> or <-; this starts with %q", shorten(line))
}

// nanoseconds reads a time since 1970 written in whole nanoseconds.
func nanoseconds(text []byte) (int64, error) {
	ns, err := digits(text)
	if err != nil || ns == 0 {
		return 0, fmt.Errorf("%q is no receive time in nanoseconds", shorten(text))
	}
	return ns, nil
}

// maxSeconds is where a time in nanoseconds ends to fit int64.
const maxSeconds = math.MaxInt64/1_000_000_000 - 1

// seconds reads a time since 1970 written in seconds with at most nine decimals.
func seconds(text []byte) (int64, error) {
	whole, frac, point := bytes.Cut(text, []byte("."))
	s, err := digits(whole)
	if err != nil || len(frac) > 9 || s > maxSeconds || point && len(frac) == 0 {
		return 0, fmt.Errorf("%q is no receive time in seconds", shorten(text))
	}
	ns := s
	for i := range 9 {
		ns *= 10
		if i < len(frac) {
			if frac[i] < '0' || frac[i] > '9' {
				return 0, fmt.Errorf("%q is no receive time in seconds", shorten(text))
			}
			ns += int64(frac[i] - '0')
		}
	}
	if ns == 0 {
		return 0, fmt.Errorf("%q is no receive time in seconds", shorten(text))
	}
	return ns, nil
}

var errDigits = errors.New("no whole number")

func digits(text []byte) (n int64, err error) {
	if len(text) == 0 || len(text) > 19 {
		return 0, errDigits
	}
	var u uint64 // 19 digits always fit
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, errDigits
		}
		u = u*10 + uint64(c-'0')
	}
	if u > math.MaxInt64 {
		return 0, errDigits
	}
	return int64(u), nil
}
