package feed

import "time"

// clockStart pairs the two clocks once, at process start, so that every stamp
// of this process is CLOCK_MONOTONIC read through time.Now.
var clockStart = func() (c struct {
	at   time.Time
	mono int64
}) {
	before := monotonicNS()
	c.at = time.Now()
	c.mono = before + (monotonicNS()-before)/2
	return c
}()

// Now returns CLOCK_MONOTONIC in nanoseconds, through its offset to time.Now
// read at process start. Any goroutine may call it.
func Now() int64 { return clockStart.mono + int64(time.Since(clockStart.at)) }

// WallOffset returns what must be added to Now to get nanoseconds since 1970,
// as the wall clock stands at the call.
func WallOffset() int64 { return time.Now().UnixNano() - Now() }
