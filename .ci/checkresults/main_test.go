package main

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const trade = `{"path":"p","sent":5,"acked":4,"rejected":1,"failed":0}`
	repeat := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	good := `{"due":10,"received":7,"conflated":2,"dropped":1,"missed":0,"duplicated":0}`
	file := func(schema string, n int, run string) string {
		cell := `{"transport":"grpc","connections":100,"runs":[` + run + `]}`
		return `{"schema":"` + schema + `","cells":[` + repeat(cell, n) + `],"orders":[` + repeat(trade, orders) + `]}`
	}
	for _, tt := range []struct{ name, file, err string }{
		{"whole", file(schema, cells, good), ""},
		{"no JSON", `{`, "unexpected end"},
		{"another schema", file("x", cells, good), "schema is"},
		{"a cell too few", file(schema, cells-1, good), "5 cells"},
		{"no runs", strings.Replace(file(schema, cells, good), good, "", 1), "no runs"},
		{"an account in part", file(schema, cells, `{"due":10}`), "is not told"},
		{"null in the account", file(schema, cells, strings.Replace(good, `"due":10`, `"due":null`, 1)), "due is not told"},
		{"nothing due", file(schema, cells, strings.Replace(good, `"due":10`, `"due":0`, 1)), "nothing was due"},
		{"nothing received", file(schema, cells, strings.Replace(good, `"received":7`, `"received":0`, 1)), "nothing of 10"},
		{"missed", file(schema, cells, strings.Replace(good, `"missed":0`, `"missed":1`, 1)), "1 of 10 were missed"},
		{"twice", file(schema, cells, strings.Replace(good, `"duplicated":0`, `"duplicated":1`, 1)), "twice"},
		{"does not add up", file(schema, cells, strings.Replace(good, `"due":10`, `"due":11`, 1)), "missed is 10"},
		{"a run of orders too few", strings.Replace(file(schema, cells, good), trade+",", "", 1), "20 runs of orders"},
		{"orders in part", strings.Replace(file(schema, cells, good), `,"failed":0`, "", 1), "failed is not told"},
		{"orders failed", strings.Replace(file(schema, cells, good), `"failed":0`, `"failed":1`, 1), "1 of 5 orders failed"},
		{"none acked", strings.Replace(file(schema, cells, good), `"acked":4`, `"acked":0`, 1), "none of 5"},
		{"orders do not add up", strings.Replace(file(schema, cells, good), `"sent":5`, `"sent":6`, 1), "failed is 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := check([]byte(tt.file))
			switch {
			case tt.err == "" && err != nil:
				t.Error(err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("got %v, want %q in it", err, tt.err)
			}
		})
	}
}
