package main

import (
	"testing"
	"time"
)

// waitFor waits for a condition that no channel tells of. It looks each millisecond:
// what it waits for needs the processor more.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}
