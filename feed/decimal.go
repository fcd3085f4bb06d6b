package feed

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// PriceDecimals and SizeDecimals are the powers of ten behind Price and Size.
const (
	PriceDecimals = 9
	SizeDecimals  = 8
)

// ErrRange is wrapped by the parse errors for numbers that are well formed but
// do not fit, or would lose digits.
var ErrRange = errors.New("out of range")

// Price is a price in units of 1e-9, as in Databento's DBN. Zero means none.
type Price int64

// Size is a quantity in units of 1e-8. Zero means none.
type Size int64

// String writes the price as a plain decimal without trailing zeros.
func (p Price) String() string { return string(p.Append(nil)) }

// Append appends the price as a plain decimal without trailing zeros.
func (p Price) Append(dst []byte) []byte { return appendDecimal(dst, int64(p), PriceDecimals) }

// String writes the size as a plain decimal without trailing zeros.
func (s Size) String() string { return string(s.Append(nil)) }

// Append appends the size as a plain decimal without trailing zeros.
func (s Size) Append(dst []byte) []byte { return appendDecimal(dst, int64(s), SizeDecimals) }

// ParsePrice reads a decimal such as "61837.63" or "1e-5" exactly: text that is
// no number, a value beyond int64 and digits past 1e-9 are errors, the last two
// wrapping ErrRange.
func ParsePrice[T ~string | ~[]byte](text T) (Price, error) {
	v, err := parseDecimal(text, PriceDecimals)
	if err != nil {
		return 0, fmt.Errorf("price %s: %w", quoteShort(string(text)), err)
	}
	return Price(v), nil
}

// ParseSize reads a decimal exactly, as ParsePrice does, with digits down to 1e-8.
func ParseSize[T ~string | ~[]byte](text T) (Size, error) {
	v, err := parseDecimal(text, SizeDecimals)
	if err != nil {
		return 0, fmt.Errorf("size %s: %w", quoteShort(string(text)), err)
	}
	return Size(v), nil
}

var pow10 = [...]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}

func appendDecimal(dst []byte, v int64, decimals int) []byte {
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u // also right for the smallest int64
	}
	unit := uint64(pow10[decimals])
	dst = strconv.AppendUint(dst, u/unit, 10)
	frac := u % unit
	if frac == 0 {
		return dst
	}
	for frac%10 == 0 {
		frac /= 10
		decimals--
	}
	dst = append(dst, '.')
	for i := decimals - 1; i >= 0; i-- {
		dst = append(dst, byte('0'+frac/uint64(pow10[i])%10))
	}
	return dst
}

// parseDecimal reads JSON's number grammar, plus leading zeros and a leading
// plus sign, which some venues write.
func parseDecimal[T ~string | ~[]byte](text T, decimals int) (int64, error) {
	i, neg := 0, false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		neg = text[i] == '-'
		i++
	}
	var (
		mantissa uint64
		scale    int // digits of the mantissa behind the point
		zeros    int // zeros seen but not yet worth multiplying in
		digits   bool
		point    bool
		overflow bool
	)
	for ; i < len(text); i++ {
		c := text[i]
		if c == '.' && digits && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits = true
		if point {
			scale++
		}
		if c == '0' {
			zeros++
			continue
		}
		for ; zeros >= 0 && !overflow; zeros-- {
			if mantissa > math.MaxUint64/10 {
				overflow = true
				break
			}
			mantissa *= 10
		}
		zeros = 0
		if mantissa > math.MaxUint64-uint64(c-'0') {
			overflow = true
		}
		mantissa += uint64(c - '0')
	}
	if !digits || (i > 0 && text[i-1] == '.') {
		return 0, errors.New("not a decimal number")
	}
	var exponent int64
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		e, n, err := parseExponent(text[i+1:])
		if err != nil {
			return 0, err
		}
		exponent, i = e, i+1+n
	}
	if i != len(text) {
		return 0, errors.New("not a decimal number")
	}
	if mantissa == 0 && !overflow {
		return 0, nil
	}
	shift := int64(decimals) + exponent + int64(zeros-scale)
	return scaled(mantissa, shift, neg, overflow, decimals)
}

func scaled(mantissa uint64, shift int64, neg, overflow bool, decimals int) (int64, error) {
	if shift < 0 {
		// The mantissa ends in a digit other than zero, so digits would be lost.
		return 0, fmt.Errorf("has digits past 1e-%d: %w", decimals, ErrRange)
	}
	limit := uint64(math.MaxInt64)
	if neg {
		limit++
	}
	for ; shift > 0 && !overflow; shift-- {
		if mantissa > limit/10 {
			overflow = true
		}
		mantissa *= 10
	}
	if overflow || mantissa > limit {
		return 0, fmt.Errorf("beyond ±%d: %w", math.MaxInt64/pow10[decimals], ErrRange)
	}
	if neg {
		return -int64(mantissa), nil
	}
	return int64(mantissa), nil
}

// parseExponent caps what it reads far above the digits that any text could have,
// so that no run of zeros makes up for what the cap took off.
func parseExponent[T ~string | ~[]byte](text T) (value int64, n int, err error) {
	neg := false
	if n < len(text) && (text[n] == '-' || text[n] == '+') {
		neg = text[n] == '-'
		n++
	}
	start := n
	for ; n < len(text) && text[n] >= '0' && text[n] <= '9'; n++ {
		if value < 1<<56 {
			value = value*10 + int64(text[n]-'0')
		}
	}
	if n == start {
		return 0, n, errors.New("not a decimal number")
	}
	if neg {
		value = -value
	}
	return value, n, nil
}

func quoteShort(s string) string { return strconv.Quote(shortName(s)) }

// shortName keeps what somebody sent from filling an answer.
func shortName(s string) string { return shorten(s, 40) }

// shorten cuts text that is longer than limit bytes, at a whole rune.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}
