package measure

import (
	"context"
	"runtime"
	"slices"
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

// meterSamples is how many samples a Meter keeps: an hour of them. A longer life
// is sampled at twice the interval, and so on.
const meterSamples = int(time.Hour / meterInterval)

// Meter samples the process's CPU time, from getrusage, its memory and counters,
// so that any window can be accounted for afterwards.
type Meter struct {
	names    []string
	read     func([]int64) []int64
	baseline int64

	mu      sync.Mutex
	samples []sample
	stride  int // of the interval's ticks, each stride-th is kept
	ticks   int
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

// add keeps a sample, if it is one of those to keep, and thins out the old ones
// when there are too many: each other one goes.
func (m *Meter) add(s sample) {
	m.ticks++
	if m.stride = max(m.stride, 1); (m.ticks-1)%m.stride != 0 {
		return
	}
	if len(m.samples) >= meterSamples {
		for i := 0; 2*i < len(m.samples); i++ {
			m.samples[i] = m.samples[2*i]
		}
		m.samples = m.samples[:(len(m.samples)+1)/2]
		m.stride *= 2
	}
	m.samples = append(m.samples, s)
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
// and the counters' totals now.
func (m *Meter) Window(fromNS, toNS int64) (p Process, window, totals map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.now() // so that a window which ends now has its end
	samples := append(slices.Clip(m.samples), last)
	from, to := at(samples, fromNS), at(samples, toNS)
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

// at interpolates between the samples around a time.
func at(samples []sample, ns int64) sample {
	i := 0
	for i < len(samples) && samples[i].atNS < ns {
		i++
	}
	if i == 0 {
		return samples[0]
	}
	if i == len(samples) {
		return samples[i-1]
	}
	a, b := samples[i-1], samples[i]
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
