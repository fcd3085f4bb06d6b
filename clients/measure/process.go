package measure

// Process is what this process used in a window. What is cumulative is interpolated
// between readings 50 ms apart, what is a level is the nearest reading.
type Process struct {
	CPUUserNS        int64 `json:"cpu_user_ns"`
	CPUSystemNS      int64 `json:"cpu_system_ns"`
	RSSBytes         int64 `json:"rss_bytes"`          // at the end of the window
	RSSBaselineBytes int64 `json:"rss_baseline_bytes"` // before the first stream
	Goroutines       int   `json:"goroutines"`         // at the end of the window

	// Heap is objects, those that are dead and not collected yet too.
	HeapBytes         int64 `json:"heap_bytes"`          // at the end of the window
	HeapBaselineBytes int64 `json:"heap_baseline_bytes"` // before the first stream
	// Idle is the memory when MarkIdle was called: all streams open, nothing published.
	Idle *Memory `json:"idle"`

	VoluntarySwitches   int64 `json:"voluntary_switches"`   // of threads, which waited
	InvoluntarySwitches int64 `json:"involuntary_switches"` // of threads, which had to make room

	GC *GC `json:"gc"` // nil: not measured
}

// Memory is what a process held at one time.
type Memory struct {
	AtNS      int64 `json:"at_ns"` // CLOCK_MONOTONIC
	RSSBytes  int64 `json:"rss_bytes"`
	HeapBytes int64 `json:"heap_bytes"`
}

// GC is what garbage collection took in a window.
type GC struct {
	Cycles int64 `json:"cycles"` // that ended in it
	// CPUShare is the collector's part of the CPU time in which the runtime was not
	// idle, 0 to 1. The runtime brings both up to date when a cycle ends, so it is that
	// between the last cycles before the edges of the window; 0 where none ended in it.
	CPUShare float64 `json:"cpu_share"`
	Pauses   *Pauses `json:"pauses_ns"` // nil: too long ago
}

// Pauses are the times for which the collector stopped the world, in ns. Each is
// taken for the upper edge of its bucket in runtime/metrics.
type Pauses struct {
	Count int64 `json:"count"`
	Quantiles
}
