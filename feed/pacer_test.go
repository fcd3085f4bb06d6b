package feed

import (
	"context"
	"testing"
	"time"
)

// TestPacerWakesInOrderAndNotBefore: nobody is woken early, and first come is first
// served even where a later one has the earlier deadline.
func TestPacerWakesInOrderAndNotBefore(t *testing.T) {
	p := NewPacer(16)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	type woken struct {
		n    int
		late int64
	}
	wakes := make(chan woken, 3)
	now := Now()
	for n, deadline := range []int64{now + int64(2*time.Millisecond), now + int64(3*time.Millisecond), now} {
		if !p.Wake(deadline, func() { wakes <- woken{n, Now() - deadline} }) {
			t.Fatal("the pacer has stopped before it ran")
		}
	}
	if p.Waiting() != 3 {
		t.Errorf("%d wait, want 3", p.Waiting())
	}
	go func() { done <- p.Run(ctx) }()
	for n := range 3 {
		if w := <-wakes; w.n != n || w.late < 0 {
			t.Errorf("woke %d, late by %d ns; want %d and not before its time", w.n, w.late, n)
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
	<-p.Stopped()
	for range cap(p.waiting) + 1 { // more than could wait
		p.Wake(0, func() { t.Error("woken by a pacer that has stopped") })
	}
}
