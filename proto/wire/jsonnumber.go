package wire

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tickgauge/tickgauge/feed"
)

// digits returns the literal digits of a number, which is only good until the
// next read. A string must hold what could stand without its quotes.
func (r *reader) digits() ([]byte, error) {
	raw, err := r.dec.ReadValue()
	if err != nil {
		return nil, r.syntax(err)
	}
	switch raw.Kind() {
	case '0':
		return raw, nil
	case '"':
		text := unquote(raw)
		digits := bytes.TrimPrefix(text, []byte("-"))
		if len(digits) == 0 || digits[0] < '0' || digits[0] > '9' || digits[0] == '0' && len(digits) > 1 && digits[1] >= '0' && digits[1] <= '9' {
			return nil, r.fail(fmt.Errorf("%s is no number", quoteShort(text)))
		}
		return text, nil
	}
	return nil, r.got("a number, or one in a string", raw.Kind())
}

func (r *reader) price(to *feed.Price) error {
	text, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = feed.ParsePrice(text); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *reader) size(to *feed.Size) error {
	text, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = feed.ParseSize(text); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *reader) uint64(to *uint64) error {
	text, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseUint(string(text), 10, 64); err != nil {
		return r.fail(integerError(text, 0, math.MaxUint64, err))
	}
	return nil
}

func (r *reader) int64(to *int64) error {
	text, err := r.digits()
	if err != nil {
		return err
	}
	if *to, err = strconv.ParseInt(string(text), 10, 64); err != nil {
		return r.fail(integerError(text, math.MinInt64, math.MaxInt64, err))
	}
	return nil
}

// count reads an integer that has 32 bits on the wire.
func (r *reader) count(to *int) error {
	var v uint64
	if err := r.uint64(&v); err != nil {
		return err
	}
	const limit uint64 = min(math.MaxUint32, math.MaxInt)
	if v > limit {
		return r.fail(fmt.Errorf("%d is beyond %d", v, limit))
	}
	*to = int(v)
	return nil
}

func integerError(text []byte, low int64, high uint64, err error) error {
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("%s is not in %d to %d", quoteShort(text), low, high)
	}
	return fmt.Errorf("%s is not an integer of digits alone from %d to %d", quoteShort(text), low, high)
}

func readEnum[E ~uint8](r *reader, to *E, names []string) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if *to, err = parseEnum[E](text, names); err != nil {
		return r.fail(err)
	}
	return nil
}
