package feed

import (
	"context"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

func monotonicNS() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("feed: clock_gettime(CLOCK_MONOTONIC): " + err.Error()) // cannot happen on Linux
	}
	return ts.Nano()
}

// longestSleep bounds one clock_nanosleep, which a context cannot interrupt.
const longestSleep = int64(50 * time.Millisecond)

// SleepUntil waits until Now reaches deadline or ctx is done, whose error it
// returns. It blocks its OS thread in clock_nanosleep with an absolute deadline,
// so it is late by microseconds where time.Sleep is late by a millisecond; a
// caller that paces should have locked its goroutine to the thread. It returns
// up to 50 ms after ctx is done.
func SleepUntil(ctx context.Context, deadline int64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		now := Now()
		if now >= deadline {
			return nil
		}
		// Now may differ from the raw clock by the error of the pairing at start,
		// so the wait is taken from now and not from deadline itself.
		wake := monotonicNS() + min(deadline-now, longestSleep)
		ts := unix.NsecToTimespec(wake)
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil); err != nil && err != unix.EINTR {
			return err
		}
	}
}

// BootID names this boot of this machine: monotonic stamps compare only between
// processes that have the same one. It is empty where the system tells none.
func BootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// ThreadCPU returns the CPU time of the calling thread in ns. A caller that wants
// its own should have locked its goroutine to the thread.
func ThreadCPU() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return ts.Nano()
}
