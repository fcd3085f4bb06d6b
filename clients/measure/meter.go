package measure

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/feed"
)

// Process is what this process used in a window.
type Process struct {
	CPUUserNS        int64 `json:"cpu_user_ns"`
	CPUSystemNS      int64 `json:"cpu_system_ns"`
	RSSBytes         int64 `json:"rss_bytes"`          // at the end of the window
	RSSBaselineBytes int64 `json:"rss_baseline_bytes"` // before the first stream
	Goroutines       int   `json:"goroutines"`         // when asked
}

// meterInterval is how often a Meter looks; a window's edges are interpolated.
const meterInterval = 50 * time.Millisecond

// meterSamples is how many samples a Meter keeps: an hour of them.
const meterSamples = int(time.Hour / meterInterval)

// Meter samples the process's CPU time, from getrusage, its memory and counters,
// so that any window of the last hour can be accounted for afterwards.
type Meter struct {
	names    []string
	read     func([]int64) []int64
	baseline int64

	mu      sync.Mutex
	samples []sample
	next    int // where the next one goes once the ring is full
}

type sample struct {
	atNS, userNS, sysNS, rss int64
	counters                 []int64
}

// NewMeter returns a meter that also samples counters of the given names; read
// appends their values in that order and may be nil. The memory baseline is
// taken now.
func NewMeter(names []string, read func(dst []int64) []int64) *Meter {
	if read == nil {
		read = func(dst []int64) []int64 { return dst }
	}
	m := &Meter{names: names, read: read, baseline: rssBytes()}
	m.sample()
	return m
}

// Run samples until ctx is done, and returns nil.
func (m *Meter) Run(ctx context.Context) error {
	ticker := time.NewTicker(meterInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			m.sample()
		}
	}
}

func (m *Meter) sample() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(m.now())
}

func (m *Meter) add(s sample) {
	if len(m.samples) < meterSamples {
		m.samples = append(m.samples, s)
		return
	}
	m.samples[m.next] = s
	m.next = (m.next + 1) % len(m.samples)
}

func (m *Meter) now() sample {
	var ru unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &ru) // fails only for a bad argument
	return sample{
		atNS: feed.Now(), userNS: ru.Utime.Nano(), sysNS: ru.Stime.Nano(), rss: rssBytes(),
		counters: m.read(nil),
	}
}

// Window returns what was used and counted in [fromNS, toNS), CLOCK_MONOTONIC,
// and the counters' totals now. What is older than an hour is cut off.
func (m *Meter) Window(fromNS, toNS int64) (p Process, window, totals map[string]int64) {
	m.sample() // so that a window which ends now has its end
	m.mu.Lock()
	defer m.mu.Unlock()
	from, to, last := m.at(fromNS), m.at(toNS), m.nth(len(m.samples)-1)
	p = Process{
		CPUUserNS: to.userNS - from.userNS, CPUSystemNS: to.sysNS - from.sysNS,
		RSSBytes: to.rss, RSSBaselineBytes: m.baseline, Goroutines: runtime.NumGoroutine(),
	}
	window, totals = make(map[string]int64, len(m.names)), make(map[string]int64, len(m.names))
	for i, name := range m.names {
		window[name] = to.counters[i] - from.counters[i]
		totals[name] = last.counters[i]
	}
	return p, window, totals
}

func (m *Meter) nth(i int) sample { return m.samples[(m.next+i)%len(m.samples)] }

// at interpolates between the samples around a time.
func (m *Meter) at(ns int64) sample {
	i := 0
	for i < len(m.samples) && m.nth(i).atNS < ns {
		i++
	}
	if i == 0 {
		return m.nth(0)
	}
	if i == len(m.samples) {
		return m.nth(i - 1)
	}
	a, b := m.nth(i-1), m.nth(i)
	part := float64(ns-a.atNS) / float64(max(b.atNS-a.atNS, 1))
	mix := func(x, y int64) int64 { return x + int64(part*float64(y-x)) }
	s := sample{atNS: ns, userNS: mix(a.userNS, b.userNS), sysNS: mix(a.sysNS, b.sysNS), rss: a.rss}
	if part >= 0.5 {
		s.rss = b.rss // the nearer reading
	}
	for j := range b.counters {
		s.counters = append(s.counters, mix(a.counters[j], b.counters[j]))
	}
	return s
}
