//go:build !linux

package feed

import (
	"context"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

func monotonicNS() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic("feed: clock_gettime(CLOCK_MONOTONIC): " + err.Error())
	}
	return ts.Nano()
}

// SleepUntil waits until Now reaches deadline or ctx is done, whose error it
// returns. Without clock_nanosleep it is as late as the runtime's timers are.
func SleepUntil(ctx context.Context, deadline int64) error {
	timer := time.NewTimer(time.Duration(deadline - Now()))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// BootID names this boot of this machine: monotonic stamps compare only between
// processes that have the same one. It is empty where the system tells none.
func BootID() string {
	tv, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return ""
	}
	return strconv.FormatInt(tv.Nano(), 10)
}

// ThreadCPU returns 0: only Linux tells the CPU time of a thread here.
func ThreadCPU() int64 { return 0 }
