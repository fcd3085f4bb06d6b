package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/clients/measure"
)

func TestWriteOrders(t *testing.T) {
	var b bytes.Buffer
	if err := WriteOrders(&b, sampleOrders()); err != nil {
		t.Fatal(err)
	}
	checkGolden(t, "orders.txt", b.Bytes())
}

// TestWriteOrdersLeavesOut: what no run has is no column.
func TestWriteOrdersLeavesOut(t *testing.T) {
	var b bytes.Buffer
	if err := WriteOrders(&b, []*measure.Orders{measuredOrders(1)}); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"beside", "service", "not valid"} {
		if strings.Contains(b.String(), word) {
			t.Errorf("the table has %q:\n%s", word, b.String())
		}
	}
}

func TestWriteOrdersTellsThatItCouldNot(t *testing.T) {
	for _, word := range []string{"verdict", "waited for one"} { // in the table, and below it
		if err := WriteOrders(fullAt(word), sampleOrders()); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "write order table: ") {
			t.Errorf("full at %q: error %v", word, err)
		}
	}
}

// TestEmptyIsAList: skipped parts are empty lists, so that readers can range.
func TestEmptyIsAList(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	if err := (&Results{Schema: Schema}).WriteFile(path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"cells": []`, `"orders": []`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

// TestOrdersOverTLSAreOthers: runs that differ in TLS or compression are neither
// pooled nor called the same.
func TestOrdersOverTLSAreOthers(t *testing.T) {
	plain := measure.Orders{Path: "websocket", HTTPVersion: "1.1", Encoding: "json", Workers: 1, Connections: 1}
	secure, smaller := plain, plain
	secure.TLS, smaller.Compression = true, "deflate"
	keys, names, benches := make(map[orderKey]bool), make(map[string]bool), make(map[string]bool)
	for _, o := range []*measure.Orders{&plain, &secure, &smaller} {
		keys[keyOf(o)], names[orderName(o)], benches[ordersName(o)] = true, true, true
	}
	if len(keys) != 3 || len(names) != 3 || len(benches) != 3 {
		t.Errorf("%v, %v, %v", keys, names, benches)
	}
}
