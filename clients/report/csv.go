package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/clients/plan"
)

// Named are results and what they are shown as.
type Named struct {
	Name string
	*Results
}

// csvHead are the columns that say which run a line is of: whose results, streams
// or orders, the name of its cell, and which run of that from 1.
var csvHead = []string{"results", "version", "created", "cpu_model", "cpus", "kind", "name", "run"}

// csvOmitted are fields that make no column: whole histograms, and lists of more than
// one figure each.
var csvOmitted = []string{"latency_hdr", "stalls"}

// WriteCSV writes a line for every run of every result, as RFC 4180 has it. Columns
// are called as in results.json, a dot for each level, and are the same for all
// results: kind says whether a line is of streams or of orders, and what the other
// kind alone has is empty, as is what was not measured. Reasons are joined by "; ".
func WriteCSV(w io.Writer, results ...Named) error {
	columns := slices.Clone(csvHead)
	for _, kind := range []any{plan.Cell{}, measure.Run{}, measure.Orders{}} {
		walk(reflect.ValueOf(kind), "", true, func(name, _ string) {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		})
	}
	out := csv.NewWriter(w)
	line := func(head []string, of ...any) {
		fields := make(map[string]string, len(columns))
		for i, name := range csvHead {
			fields[name] = head[i]
		}
		for _, v := range of {
			walk(reflect.ValueOf(v), "", true, func(name, text string) { fields[name] = text })
		}
		texts := make([]string, len(columns))
		for i, name := range columns {
			texts[i] = fields[name]
		}
		_ = out.Write(texts) // out keeps the error
	}
	_ = out.Write(columns)
	for _, r := range results {
		head := []string{r.Name, r.Version, r.Created, r.Host.CPUModel, strconv.Itoa(r.Host.CPUs)}
		names := cellNames(r.Results)
		for i, c := range r.Cells {
			for n, run := range c.Runs {
				line(append(slices.Clone(head), "streams", names[i], strconv.Itoa(n+1)), c.Cell, *run)
			}
		}
		seen := map[string]int{}
		for _, o := range r.Orders {
			name := orderName(o)
			seen[name]++
			line(append(slices.Clone(head), "orders", name, strconv.Itoa(seen[name])), *o)
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write CSV: %w", err)
	}
	return nil
}

// walk visits the fields of a struct of results.json in their order, those of
// nested ones too, by their JSON names. What was not measured is visited with empty
// texts, so that columns do not depend on values.
func walk(v reflect.Value, prefix string, measured bool, visit func(name, text string)) {
	for i := range v.NumField() {
		tag, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if tag == "" && v.Type().Field(i).Anonymous { // its fields stand among the others
			walk(v.Field(i), prefix, measured, visit)
			continue
		}
		if tag == "" || tag == "-" || slices.Contains(csvOmitted, tag) {
			continue
		}
		field, there := v.Field(i), measured
		if field.Kind() == reflect.Pointer {
			if field.IsNil() {
				field, there = reflect.New(field.Type().Elem()), false
			}
			field = field.Elem()
		}
		switch {
		case field.Kind() == reflect.Struct:
			walk(field, prefix+tag+".", there, visit)
		case there:
			visit(prefix+tag, csvText(field))
		default:
			visit(prefix+tag, "")
		}
	}
}

// csvText is a value as JSON would have it, text without quotes.
func csvText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	case reflect.Slice:
		var texts []string
		for i := range v.Len() {
			texts = append(texts, csvText(v.Index(i)))
		}
		return strings.Join(texts, "; ")
	}
	return fmt.Sprint(v.Interface())
}
