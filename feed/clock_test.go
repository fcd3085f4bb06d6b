package feed

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestNowIsTheMonotonicClock(t *testing.T) {
	const pairing = int64(100 * time.Millisecond) // far more than two readings at process start lie apart
	for range 1000 {
		before, now, after := monotonicNS(), Now(), monotonicNS()
		if now < before-pairing || now > after+pairing {
			t.Fatalf("Now is %d between %d and %d of the raw clock", now, before, after)
		}
		if again := Now(); again < now {
			t.Fatalf("Now went from %d back to %d", now, again)
		}
	}
	before, wall, after := time.Now().UnixNano(), Now()+WallOffset(), time.Now().UnixNano()
	if wall < before-pairing || wall > after+pairing {
		t.Errorf("the wall clock is %d between %d and %d", wall, before, after)
	}
}

func TestSleepUntil(t *testing.T) {
	for _, wait := range []time.Duration{-time.Hour, 0, 100 * time.Microsecond, 3 * time.Millisecond, 60 * time.Millisecond} {
		deadline := Now() + int64(wait)
		if err := SleepUntil(t.Context(), deadline); err != nil || Now() < deadline {
			t.Errorf("a wait of %s ended %d ns before its deadline, %v", wait, deadline-Now(), err)
		}
	}
}

func TestSleepUntilIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- SleepUntil(ctx, Now()+int64(time.Hour)) }()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("a wait of an hour: %v, want %v", err, context.Canceled)
	}
	// Also one that is late all the time has to notice.
	if err := SleepUntil(ctx, Now()-1); !errors.Is(err, context.Canceled) {
		t.Errorf("a deadline in the past: %v, want %v", err, context.Canceled)
	}
}

func TestBootID(t *testing.T) {
	id := BootID()
	if id != BootID() || strings.ContainsAny(id, " \n") {
		t.Errorf("the boot is %q and then %q", id, BootID())
	}
}
