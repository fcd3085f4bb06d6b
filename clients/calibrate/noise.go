package calibrate

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/feed"
)

// Noise is what else the machine did.
type Noise struct {
	// OthersShare is what other processes used of all CPUs in the idle second, in
	// steps of 10 ms of CPU; nil where the system does not tell.
	OthersShare *float64 `json:"others_cpu_share"`
	// StealShare is what the host of a virtual machine took of the CPU time during the
	// whole calibration, as /proc/stat has it; nil where the system does not tell.
	StealShare *float64 `json:"steal_share"`

	// A thread that spins and reads the clock does not run in the gaps between
	// readings: interrupts, other threads, the host. (The method is known as fixed work
	// or sysjitter.) Gaps of 5 µs and more count.
	SpunNS      int64   `json:"spun_ns"`
	Gaps        int64   `json:"gaps"`
	GapShare    float64 `json:"gap_share"` // of the time spun
	LongestGap  int64   `json:"longest_gap_ns"`
	LongGaps    int64   `json:"long_gaps"` // of 100 µs and more
	GapsAtLeast int64   `json:"gaps_at_least_ns"`
}

const (
	gapNS     = int64(5 * time.Microsecond)
	longGapNS = int64(100 * time.Microsecond)
)

// spin has one thread look for gaps.
func (c *Calibration) spin(ctx context.Context, opts *Options) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	n := &c.Noise
	n.GapsAtLeast = gapNS
	began := feed.Now()
	last, gone := began, int64(0)
	for last-began < int64(opts.Spin) {
		now := feed.Now()
		gap := now - last
		last = now
		if gap < gapNS {
			continue
		}
		if ctx.Err() != nil { // seen at an interrupt, of which there are hundreds a second
			return ctx.Err()
		}
		n.Gaps++
		gone += gap
		n.LongestGap = max(n.LongestGap, gap)
		if gap >= longGapNS {
			n.LongGaps++
		}
	}
	n.SpunNS = last - began
	n.GapShare = float64(gone) / float64(n.SpunNS)
	return nil
}

// stat is the first line of /proc/stat (proc_stat(5)), in ticks of 10 ms since boot
// summed over the CPUs; total is 0 where there is none.
type stat struct{ total, idle, steal int64 }

const statTick = int64(10 * time.Millisecond) // USER_HZ is 100 on all that Go runs on

func readStat() stat {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return stat{}
	}
	return parseStat(string(b))
}

func parseStat(text string) (s stat) {
	line, _, _ := strings.Cut(text, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return stat{}
	}
	// user nice system idle iowait irq softirq steal; guest times are in user and nice.
	for i, field := range fields[1:9] {
		v, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return stat{}
		}
		s.total += v
		switch i {
		case 3, 4:
			s.idle += v
		case 7:
			s.steal = v
		}
	}
	return s
}

// othersShare is what was used between two readings that tookNS lie apart, but for
// ownNS.
func othersShare(before, after stat, ownNS, tookNS int64) *float64 {
	if before.total == 0 || after.total == 0 || tookNS <= 0 {
		return nil
	}
	used := (after.total - before.total - (after.idle - before.idle) - (after.steal - before.steal)) * statTick
	share := max(0, float64(used-ownNS)/float64(tookNS*int64(runtime.NumCPU())))
	return &share
}

func stealShare(before, after stat) *float64 {
	if total := after.total - before.total; before.total > 0 && total > 0 {
		share := float64(after.steal-before.steal) / float64(total)
		return &share
	}
	return nil
}

func processCPU() int64 {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru) // fails only for a bad argument
	return ru.Utime.Nano() + ru.Stime.Nano()
}
