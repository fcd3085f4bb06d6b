package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/tickgauge/tickgauge/clients/measure"
)

// WriteBench writes Go's benchmark format (golang.org/design/14313-benchmark-format),
// which benchstat compares: a line for each run that may be compared. Those that are
// invalid, saturated or empty are left out, and a comment says so. Several results
// are told apart by the key results, for benchstat -col results.
func WriteBench(w io.Writer, results ...Named) error {
	var b benchText
	for _, r := range results {
		if len(results) > 1 {
			b.key("results", r.Name)
		}
		// The version is a comment: benchstat would not compare across a key.
		b.comment("tickgauge %s, measured %s", r.Version, r.Created)
		b.key("goos", r.Host.OS)
		b.key("goarch", r.Host.Arch)
		b.key("cpu", r.Host.CPUModel)
		names := cellNames(r.Results)
		for i := range r.Cells {
			c := &r.Cells[i]
			for n, run := range c.Runs {
				line(&b, streamFigures, run, "Streams"+streamsName(c), run.Received, leftOut(run.Valid, run.Saturated, run.Reasons), numbered(names[i], cmp.Or(run.Round, n+1), len(c.Runs)))
			}
		}
		for _, o := range r.Orders {
			line(&b, orderFigures, o, "Orders"+ordersName(o), o.Acked, leftOut(o.Valid, o.Saturated, o.Reasons), orderName(o))
		}
	}
	var text strings.Builder
	units(&text, streamFigures)
	units(&text, orderFigures)
	if _, err := io.WriteString(w, text.String()+b.String()); err != nil {
		return fmt.Errorf("write benchmarks: %w", err)
	}
	return nil
}

// benchText is the benchmark format as it grows.
type benchText struct{ strings.Builder }

func (b *benchText) key(key, value string) { _, _ = fmt.Fprintf(b, "%s: %s\n", key, oneLine(value)) }

// comment writes a line that readers of the format pass over.
func (b *benchText) comment(format string, args ...any) {
	_, _ = fmt.Fprintf(b, "# %s\n", oneLine(fmt.Sprintf(format, args...)))
}

// leftOut is why a run is not written, empty where it is.
func leftOut(valid, saturated bool, reasons []string) string {
	switch why := strings.Join(reasons, "; "); {
	case !valid:
		return "not valid: " + why
	case saturated:
		return why // which says so
	}
	return ""
}

// line writes a run after its benchmark's name and how many deliveries or orders it
// is of, or why not.
func line[T any](b *benchText, figures []runFigure[T], run T, benchmark string, n int64, why, name string) {
	if why == "" && n == 0 {
		why = "nothing was received"
	}
	if why != "" {
		b.comment("left out: %s: %s", name, why)
		return
	}
	_, _ = fmt.Fprintf(b, "Benchmark%s\t%d", benchmark, n)
	for _, f := range figures {
		if v, ok := f.value(run); ok {
			_, _ = fmt.Fprintf(b, "\t%s %s", strconv.FormatFloat(v, 'f', -1, 64), f.unit)
		}
	}
	b.WriteByte('\n')
}

// units says of each figure what is better.
func units[T any](b *strings.Builder, figures []runFigure[T]) {
	for _, f := range figures {
		if text := fmt.Sprintf("Unit %s better=%s\n", f.unit, f.better); !strings.Contains(b.String(), text) {
			b.WriteString(text)
		}
	}
}

// axis is a part of a benchmark's name. What has its usual value is left out, so
// that names stay short and are the same in every results file.
type axis struct{ name, value, usual string }

func streamsName(c *Cell) string {
	source := c.Source
	if source != "" {
		source = filepath.Base(source)
	}
	return benchName(
		axis{"transport", c.Transport, ""}, axis{"http", c.HTTPVersion, ""}, axis{"encoding", c.Encoding, ""},
		axis{"symbols", strconv.Itoa(c.Symbols), "100"}, axis{"symbols-per-stream", strconv.Itoa(c.SymbolsPerStream), "1"},
		axis{"rate", plain(c.Rate), "200"}, axis{"arrivals", c.Arrivals, "steady"}, axis{"zipf", plain(c.Zipf), "0"}, axis{"source", source, "synth"},
		axis{"policy", c.Policy, "conflate"}, axis{"payload", strconv.Itoa(c.PayloadBytes), "0"},
		axis{"tls", strconv.FormatBool(c.TLS), "false"}, axis{"compression", c.Compression, ""},
		axis{"order-path", c.OrderPath, ""}, axis{"orders", plain(c.OrdersBeside), "0"},
		// A number after an equals sign is last: one after a dash would be GOMAXPROCS.
		axis{"streams", strconv.Itoa(c.Streams), ""}, axis{"connections", strconv.Itoa(c.Connections), ""},
	)
}

func ordersName(o *measure.Orders) string {
	return benchName(
		axis{"path", o.Path, ""}, axis{"http", o.HTTPVersion, ""}, axis{"encoding", o.Encoding, ""}, axis{"payload", strconv.Itoa(o.PayloadBytes), "0"},
		axis{"tls", strconv.FormatBool(o.TLS), "false"}, axis{"compression", o.Compression, ""},
		axis{"beside", o.StreamsTransport, ""}, axis{"streams", strconv.Itoa(o.StreamsBeside), "0"},
		axis{"rate", plain(o.Rate), "0"}, axis{"workers", strconv.Itoa(o.Workers), ""}, axis{"connections", strconv.Itoa(o.Connections), ""},
	)
}

func benchName(axes ...axis) string {
	var b strings.Builder
	for _, a := range axes {
		if a.value != a.usual {
			b.WriteString("/" + a.name + "=" + strings.NewReplacer("/", "_", " ", "_", "\t", "_").Replace(oneLine(a.value)))
		}
	}
	return b.String()
}

func plain(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// oneLine is a text without line ends, which would begin something else, and other
// control characters, which a terminal would obey.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, unicode.IsControl), " ")
}
