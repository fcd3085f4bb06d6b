package main

import (
	"testing"
	"time"
)

// waitFor waits for a condition that no channel tells of. It looks each millisecond:
// what it waits for needs the processor more.
func waitFor(t *testing.T, what string, ok func() bool) {
	t.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for expired := time.After(patience); !ok(); {
		select {
		case <-look.C:
		case <-expired:
			t.Fatalf("waited %s in vain for %s", patience, what)
		}
	}
}
