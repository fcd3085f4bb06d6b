package replay

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSeconds(t *testing.T) {
	for text, want := range map[string]int64{
		"1618677816.8434298":   1618677816843429800,
		"1618677817.020616":    1618677817020616000,
		"1618677817.08014":     1618677817080140000,
		"1618677817":           1618677817000000000,
		"0.000000001":          1,
		"1.123456789":          1123456789,
		"9223372034.999999999": 9223372034999999999,
	} {
		if got, err := seconds([]byte(text)); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1.0", "+1", "1e9", "1.1234567891", "9223372036.0", "99999999999999999999", "1.2.3", "0", "0.0", "1_0", "١"} {
		if got, err := seconds([]byte(text)); err == nil {
			t.Errorf("%q: %d, want an error", text, got)
		}
	}
}

func TestRow(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                          "",
		`["a"]`:                       `"a"`,
		`["a","b"]`:                   `"a"|"b"`,
		` [ "a" , 1.5e3,null , "x" ]`: `"a"|1.5e3|null|"x"`,
		`["a,b","c]"]`:                `"a,b"|"c]"`,
		`["",""]`:                     `""|""`,
	} {
		var r row
		if err := r.parse([]byte(strings.TrimSpace(text))); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var cells []string
		for _, c := range r.cells[:r.n] {
			cells = append(cells, string(c))
		}
		if got := strings.Join(cells, "|"); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`[1,2,3,4,5]`, `[[1]]`, `[{}]`, `["\""]`, `"a"`, `1`, `null`, `{}`} {
		var r row
		if err := r.parse([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// A row has to agree with encoding/json on everything that it takes.
func FuzzRow(f *testing.F) {
	f.Add([]byte(`["14.8024", 12.77 ,null,"r"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var want []json.RawMessage
		var r row
		data = []byte(strings.TrimSpace(string(data)))
		if !json.Valid(data) || r.parse(data) != nil {
			return
		}
		if err := json.Unmarshal(data, &want); err != nil || len(want) != r.n {
			t.Fatalf("%q: %d cells, want %d (%v)", data, r.n, len(want), err)
		}
		for i, w := range want {
			if string(w) != string(r.cells[i]) {
				t.Fatalf("%q: cell %d is %q, want %q", data, i, r.cells[i], w)
			}
		}
	})
}
