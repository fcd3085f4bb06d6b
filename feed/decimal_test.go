package feed

import (
	"errors"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePrice(t *testing.T) {
	for _, c := range []struct {
		text string
		want Price
	}{
		{"0", 0}, {"-0", 0}, {"+0", 0}, {"000", 0}, {"0.0", 0}, {"0.000000000000", 0}, {"0e5", 0}, {"0e-5", 0},
		{"0e999999999999999999999999", 0}, {"0e-999999999999999999999999", 0},
		{"1", 1e9}, {"+1", 1e9}, {"-1", -1e9}, {"007", 7e9}, {"1.5", 1.5e9}, {"-1.5", -1.5e9},
		{"61837.63", 61_837_630_000_000}, {"0.000000001", 1}, {"-0.000000001", -1},
		{"1.000000000000", 1e9}, {"0.100000000000000000000000000000", 1e8}, {"1.500000000", 1.5e9},
		{"1e0", 1e9}, {"1E0", 1e9}, {"1e9", 1e18}, {"1e+9", 1e18}, {"1e-9", 1}, {"12e-9", 12}, {"1.2e-8", 12},
		{"1e09", 1e18}, {"1e0000000000000000000000001", 1e10}, {"0.0000000000001e13", 1e9}, {"1000e-12", 1},
		{"100000000000000000000000000000e-29", 1e9}, {"10.10e-1", 1.01e9},
		{"9223372036.854775807", math.MaxInt64}, {"-9223372036.854775807", -math.MaxInt64},
		{"-9223372036.854775808", math.MinInt64}, {"-9223372036.8547758080000", math.MinInt64},
		{"9223372036854775807e-9", math.MaxInt64}, {"0.09223372036854775807e11", math.MaxInt64},
	} {
		got, err := ParsePrice(c.text)
		if got != c.want || err != nil {
			t.Errorf("ParsePrice(%s) = %d, %v, want %d", c.text, got, err, c.want)
		}
		if b, err := ParsePrice([]byte(c.text)); b != c.want || err != nil {
			t.Errorf("ParsePrice of the bytes %s = %d, %v, want %d", c.text, b, err, c.want)
		}
	}
}

func TestParsePriceOutOfRange(t *testing.T) {
	for _, text := range []string{
		"9223372036.854775808", "-9223372036.854775809", "9223372037", "-9223372037", "9223372036854775808e-9",
		"18446744073.709551615", "18446744073.709551616", "18446744074", "-18446744074", "27670116110.564327423",
		"1e10", "1e400", "-1e400", "1e999999999999", "1e9223372036854775807", "1e9223372036854775808", "1e18446744073709551617",
		"1e-400", "-1e-400", "1e-999999999999", "1e-10", "1e-9223372036854775809", "1e-18446744073709551617",
		"0.0000000001", "1.0000000001", "1.00000000010", "0.1234567891", "15e-10", "123456789012345678901234567890e-25",
		"123456789012345678901234567890", "1000000000000000000000000000001",
	} {
		if got, err := ParsePrice(text); !errors.Is(err, ErrRange) || got != 0 {
			t.Errorf("ParsePrice(%s) = %d, %v, want 0, %v", text, got, err, ErrRange)
		}
	}
}

func TestParsePriceNotANumber(t *testing.T) {
	for _, text := range []string{
		"", "-", "+", ".", "-.", "1.", "-1.", "1.e5", ".5", "-.5", "+.5", ".e5", "e5", "1e", "1e+", "1e-", "1e.5", "1e5.", "1e1e1",
		"NaN", "nan", "Inf", "-Inf", "+Inf", "infinity", "null", "true", "0x1", "0x1p4", "0b1", "1_000", "1,000", "1 000",
		" 1", "1 ", "1\n", "\x001", "1\x00", "--1", "+-1", "-+1", "1-", "1.2.3", "1..2", "١", "1f", "$1", `"1"`,
		strings.Repeat("x", 1<<20), strings.Repeat("1", 1<<20) + "x", strings.Repeat(".", 1<<20), strings.Repeat("-", 1<<20),
	} {
		got, err := ParsePrice(text)
		if err == nil || errors.Is(err, ErrRange) || got != 0 {
			t.Errorf("ParsePrice(%.40q) = %d, %v, want an error that is no %q", text, got, err, ErrRange)
			continue
		}
		if len(err.Error()) > 200 {
			t.Errorf("ParsePrice(%.40q): the error has %d bytes", text, len(err.Error()))
		}
	}
}

// TestParseLongText would take hours if reading were worse than linear.
func TestParseLongText(t *testing.T) {
	const n = 1 << 20
	zeros, nines := strings.Repeat("0", n), strings.Repeat("9", n)
	for _, c := range []struct {
		name, text string
		want       Size
		inRange    bool
	}{
		{"zeros", zeros, 0, true},
		{"zeros before", zeros + "1", 1e8, true},
		{"zeros after the point", "1." + zeros, 1e8, true},
		{"zeros on both sides", zeros + "." + zeros, 0, true},
		{"a late digit", "1." + zeros + "1", 0, false},
		{"a small number", "0." + zeros + "1", 0, false},
		{"a large number", "1" + zeros, 0, false},
		{"nines", nines, 0, false},
		{"nines after the point", "0." + nines, 0, false},
		{"a large exponent", "1e" + nines, 0, false},
		{"a small exponent", "1e-" + nines, 0, false},
		{"zero to a large exponent", "0e" + nines, 0, true},
		{"a padded exponent", "1e" + zeros + "1", 1e9, true},
		{"zeros made up for", "1" + zeros + "e-1048576", 1e8, true},
		{"a point made up for", "0." + zeros + "1e1048577", 1e8, true},
		// The exponent is not cut to one that the zeros make up for.
		{"more than made up for", "1" + zeros + zeros + "e-20971520", 0, false},
		{"a point more than made up for", "0." + zeros + zeros + "1e20971521", 0, false},
	} {
		got, err := ParseSize(c.text)
		if got != c.want || (err == nil) != c.inRange || (err != nil && !errors.Is(err, ErrRange)) {
			t.Errorf("%s: ParseSize = %d, %v, want %d, in range %t", c.name, got, err, c.want, c.inRange)
		}
	}
}

func TestDecimalString(t *testing.T) {
	for _, c := range []struct {
		v           int64
		price, size string
	}{
		{0, "0", "0"}, {1, "0.000000001", "0.00000001"}, {-1, "-0.000000001", "-0.00000001"},
		{10, "0.00000001", "0.0000001"}, {1e8, "0.1", "1"}, {1e9, "1", "10"}, {-15e8, "-1.5", "-15"},
		{61_837_630_000_000, "61837.63", "618376.3"}, {1_000_000_001, "1.000000001", "10.00000001"},
		{math.MaxInt64, "9223372036.854775807", "92233720368.54775807"},
		{math.MinInt64, "-9223372036.854775808", "-92233720368.54775808"},
	} {
		if got := Price(c.v).String(); got != c.price {
			t.Errorf("Price(%d) is %s, want %s", c.v, got, c.price)
		}
		if got := Size(c.v).String(); got != c.size {
			t.Errorf("Size(%d) is %s, want %s", c.v, got, c.size)
		}
	}
	if got := string(Size(5e7).Append(Price(2e9).Append([]byte("x ")))); got != "x 20.5" {
		t.Errorf("appended %q, want %q", got, "x 20.5")
	}
}

func TestDecimalRoundTrip(t *testing.T) {
	canonical := regexp.MustCompile(`^(0|-?(0|[1-9][0-9]*)\.[0-9]*[1-9]|-?[1-9][0-9]*)$`)
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Int64().Draw(t, "v")
		price, size := Price(v).String(), Size(v).String()
		for _, text := range []string{price, size} {
			if !canonical.MatchString(text) {
				t.Fatalf("%d is written %s", v, text)
			}
		}
		if got, err := ParsePrice(price); got != Price(v) || err != nil {
			t.Fatalf("price %s reads as %d, %v, want %d", price, got, err, v)
		}
		if got, err := ParseSize(size); got != Size(v) || err != nil {
			t.Fatalf("size %s reads as %d, %v, want %d", size, got, err, v)
		}
	})
}

var (
	decimalGrammar = regexp.MustCompile(`^[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	zeroMantissa   = regexp.MustCompile(`^[+-]?[0.]+([eE].*)?$`)
)

// decimalByBig reads text as math/big does.
func decimalByBig(text string, decimals int64) (v int64, number, inRange bool) {
	if !decimalGrammar.MatchString(text) {
		return 0, false, false
	}
	if zeroMantissa.MatchString(text) {
		return 0, true, true
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		exponent, _ := new(big.Int).SetString(strings.TrimPrefix(text[i+1:], "+"), 10)
		if exponent.CmpAbs(big.NewInt(int64(len(text))+30)) > 0 {
			return 0, true, false // more than the digits could make up for, and big.Rat would write it out
		}
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(decimals), nil)))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, true, false
	}
	return r.Num().Int64(), true, true
}

func FuzzDecimal(f *testing.F) {
	for _, text := range []string{"0", "-0", "61837.63", "1e-9", "1e400", "1e-400", "1e999999999999", ".5", "1.", "0x1", "1_000", "NaN",
		"9223372036.854775807", "-9223372036.854775808", "92233720368.54775808", "1.0000000000", "100e-2", "18446744073709551616", "1e+05"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		price, err := ParsePrice(text)
		checkDecimal(t, text, int64(price), err, PriceDecimals)
		size, err := ParseSize([]byte(text))
		checkDecimal(t, text, int64(size), err, SizeDecimals)
	})
}

func checkDecimal(t *testing.T, text string, got int64, err error, decimals int64) {
	t.Helper()
	want, number, inRange := decimalByBig(text, decimals)
	switch {
	case got != want, (err == nil) != inRange:
		t.Fatalf("%q with %d decimals = %d, %v, want %d, in range %t", text, decimals, got, err, want, inRange)
	case err != nil && errors.Is(err, ErrRange) != number:
		t.Fatalf("%q with %d decimals: %v; is it a number: %t", text, decimals, err, number)
	}
}
