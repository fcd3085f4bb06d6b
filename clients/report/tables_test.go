package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// later is sample measured again: everything 10% more, a cell less, one more.
func later(t *testing.T) *Results {
	r := sample(t)
	r.Created = "2026-03-05T05:06:07Z"
	for _, c := range r.Cells {
		for _, run := range c.Runs {
			if run.Latency != nil {
				run.Latency.P50, run.Latency.P99 = run.Latency.P50*11/10, run.Latency.P99*11/10
			}
		}
	}
	r.Cells[3].Policy = "drop-oldest"
	r.Cells[4].Runs[1].Valid, r.Cells[4].Runs[1].Saturated = true, false
	r.Orders[0].Throughput *= 2
	r.Orders = append(r.Orders[:3], measuredOrders(4))
	r.Orders[3].Workers = 1000
	return r
}

func TestWriteTables(t *testing.T) {
	for _, c := range []struct {
		golden string
		write  func(io.Writer, ...Named) error
		of     []Named
	}{
		{"one.txt", WriteText, []Named{{"a.json", sample(t)}}},
		{"two.txt", WriteText, []Named{{"a.json", sample(t)}, {"b.json", later(t)}}},
		{"one.md", WriteMarkdown, []Named{{"a.json", sample(t)}}},
		{"two.md", WriteMarkdown, []Named{{"a.json", sample(t)}, {"b.json", later(t)}}},
	} {
		var b bytes.Buffer
		if err := c.write(&b, c.of...); err != nil {
			t.Fatal(err)
		}
		checkGolden(t, c.golden, b.Bytes())
		if err := c.write(fullAt("verdict"), c.of...); !errors.Is(err, errFull) {
			t.Errorf("%s on a full disk: error %v", c.golden, err)
		}
	}
}

func TestTablesOfNothing(t *testing.T) {
	for _, write := range []func(io.Writer, ...Named) error{WriteText, WriteMarkdown} {
		var b bytes.Buffer
		if err := write(&b, Named{"none", &Results{}}); err != nil || !strings.Contains(b.String(), "Nothing was measured.") {
			t.Errorf("%v:\n%s", err, b.String())
		}
	}
}

// TestMarkdownKeepsItsColumns: no text ends a cell or a row before its time.
func TestMarkdownKeepsItsColumns(t *testing.T) {
	const nasty = "a | b\n| c `d` <script> [e](f) \\|"
	r := sample(t)
	r.Cells[0].Transport, r.Cells[0].Encoding, r.Orders[0].Path = nasty, nasty, nasty
	r.Orders[1].FirstRejection = nasty
	var b bytes.Buffer
	if err := WriteMarkdown(&b, Named{nasty, r}); err != nil {
		t.Fatal(err)
	}
	columns := 0
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "<script>") {
			t.Errorf("markup in %q", line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			if line = strings.TrimSpace(line); line != "" && !strings.ContainsAny(line[:1], "#-t") {
				t.Errorf("a line of its own: %q", line)
			}
			continue
		}
		bars, escaped := 0, false
		for _, c := range line {
			if c == '|' && !escaped {
				bars++
			}
			escaped = c == '\\' && !escaped
		}
		if columns == 0 {
			columns = bars
		}
		if bars != columns {
			t.Errorf("%d bars, want %d: %q", bars, columns, line)
		}
	}
}
