package feed

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseCursor(t *testing.T) {
	for _, c := range []struct {
		text string
		want Cursor
	}{
		{"a-0", Cursor{"a", 0}},
		{"0123456789abcdef-42", Cursor{"0123456789abcdef", 42}},
		{strings.Repeat("f", 32) + "-18446744073709551615", Cursor{strings.Repeat("f", 32), math.MaxUint64}},
		{"a-007", Cursor{"a", 7}},
	} {
		if got, err := ParseCursor(c.text); got != c.want || err != nil {
			t.Errorf("ParseCursor(%q) = %v, %v, want %v", c.text, got, err, c.want)
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	for _, text := range []string{
		"", "-", "a", "a-", "-5", "5", "A-5", "g-5", "0x1-5", "a--5", "a-+5", "a-5-6", "a-5 ", " a-5", "a -5", "a- 5", "a-5\n", "a-1e3",
		"a-1.0", "a-0x1", "a-1_0", "a-x", "é-1", "a-١", "a–5", "a-18446744073709551616", "a-" + strings.Repeat("9", 1<<20),
		strings.Repeat("f", 33) + "-1", strings.Repeat("f", 1<<20) + "-1", strings.Repeat("f", 1<<20),
	} {
		got, err := ParseCursor(text)
		if err == nil {
			t.Errorf("ParseCursor(%.60q) = %v, want an error", text, got)
			continue
		}
		if got != (Cursor{}) || len(err.Error()) > 250 {
			t.Errorf("ParseCursor(%.60q) = %v with an error of %d bytes, want none and a short one", text, got, len(err.Error()))
		}
	}
}

func TestCursorRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Cursor{
			Epoch:  rapid.StringMatching(`[0-9a-f]{1,32}`).Draw(t, "epoch"),
			HubSeq: rapid.Uint64().Draw(t, "hub_seq"),
		}
		if got, err := ParseCursor(c.String()); got != c || err != nil {
			t.Fatalf("%s reads as %v, %v", c, got, err)
		}
		if got := string(c.Append([]byte("id: "))); got != "id: "+c.String() {
			t.Fatalf("appended %q", got)
		}
	})
}

func TestEpochsDiffer(t *testing.T) {
	a, b := newHub(t, 1, HubOptions{}).Epoch(), newHub(t, 1, HubOptions{}).Epoch()
	if a == b {
		t.Errorf("two hubs have the epoch %s", a)
	}
	if _, err := ParseCursor(Cursor{Epoch: a}.String()); err != nil {
		t.Errorf("the epoch of a hub: %v", err)
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, text := range []string{"a-0", "0123456789abcdef-42", "", "-", "A-5", "a-+5", "a-007", "a-18446744073709551616", "a--1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCursor(text)
		if err != nil {
			return
		}
		// Nothing but zeros before the number is lost.
		epoch, seq, _ := strings.Cut(text, "-")
		if trimmed := strings.TrimLeft(seq[:len(seq)-1], "0") + seq[len(seq)-1:]; c.String() != epoch+"-"+trimmed {
			t.Fatalf("%q reads as %s", text, c)
		}
		if again, err := ParseCursor(c.String()); again != c || err != nil {
			t.Fatalf("%q reads as %s, which reads as %v, %v", text, c, again, err)
		}
	})
}
