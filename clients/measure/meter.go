package measure

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/feed"
)

// meterInterval is how often a Meter looks; a window's edges are interpolated.
const meterInterval = 50 * time.Millisecond

// meterSamples is how many samples a Meter keeps: an hour of them. A longer life
// is sampled at twice the interval, and so on.
const meterSamples = int(time.Hour / meterInterval)

// Meter samples the process's CPU time and context switches, from getrusage, its
// memory, its garbage collections and counters, so that any window can be accounted
// for afterwards. Its methods may be called from any goroutine.
type Meter struct {
	names    []string
	read     func([]int64) []int64
	baseline sample

	mu      sync.Mutex
	runtime goMetrics
	pauses  pauseLog
	idle    *Memory // nil: not marked
	samples []sample
	stride  int // of the interval's ticks, each stride-th is kept
	ticks   int
}

// The cumulative figures of a sample, interpolated at the edges of a window.
const (
	usedUser = iota // CPU
	usedSystem
	usedVoluntary // context switches
	usedInvoluntary
	usedGC   // CPU of collections
	usedBusy // CPU of Go that is not idle
	usedCycles
	usedFigures
)

// The levels of a sample; the one of the nearest is taken.
const (
	levelRSS = iota
	levelHeap
	levelGoroutines
	levels
)

type sample struct {
	atNS     int64
	used     [usedFigures]int64
	level    [levels]int64
	counters []int64
}

// NewMeter returns a meter that also samples counters of the given names; read
// appends their values in that order and may be nil. The memory baseline is
// taken now.
func NewMeter(names []string, read func(dst []int64) []int64) *Meter {
	if read == nil {
		read = func(dst []int64) []int64 { return dst }
	}
	m := &Meter{names: names, read: read}
	m.sample()
	m.baseline = m.samples[0]
	return m
}

// MarkIdle notes the memory of now as that of all streams open and nothing
// published.
func (m *Meter) MarkIdle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.now()
	m.idle = &Memory{AtNS: s.atNS, RSSBytes: s.level[levelRSS], HeapBytes: s.level[levelHeap]}
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
	g := m.runtime.read()
	s := sample{
		atNS: feed.Now(), counters: m.read(nil),
		used: [usedFigures]int64{
			usedUser: ru.Utime.Nano(), usedSystem: ru.Stime.Nano(), usedVoluntary: ru.Nvcsw, usedInvoluntary: ru.Nivcsw,
			usedGC: g.gcCPUNS, usedBusy: g.busyCPUNS, usedCycles: g.cycles,
		},
		level: [levels]int64{levelRSS: rssBytes(), levelHeap: g.heap, levelGoroutines: g.goroutines},
	}
	m.pauses.add(s.atNS, g.pauses)
	return s
}

// Window returns what was used and counted in [fromNS, toNS), CLOCK_MONOTONIC,
// and the counters' totals now.
func (m *Meter) Window(fromNS, toNS int64) (p Process, window, totals map[string]int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.now() // so that a window which ends now has its end
	samples := append(slices.Clip(m.samples), last)
	from, to := at(samples, fromNS), at(samples, toNS)
	var used [usedFigures]int64
	for i := range used {
		used[i] = to.used[i] - from.used[i]
	}
	p = Process{
		CPUUserNS: used[usedUser], CPUSystemNS: used[usedSystem],
		VoluntarySwitches: used[usedVoluntary], InvoluntarySwitches: used[usedInvoluntary],
		RSSBytes: to.level[levelRSS], RSSBaselineBytes: m.baseline.level[levelRSS],
		HeapBytes: to.level[levelHeap], HeapBaselineBytes: m.baseline.level[levelHeap],
		Goroutines: int(to.level[levelGoroutines]), Idle: m.idle,
		GC: &GC{Cycles: used[usedCycles], Pauses: m.pauses.window(fromNS, toNS)},
	}
	if busy := used[usedBusy]; busy > 0 {
		p.GC.CPUShare = float64(used[usedGC]) / float64(busy)
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
	s := sample{atNS: ns, level: a.level}
	for j := range s.used {
		s.used[j] = mix(a.used[j], b.used[j])
	}
	if part >= 0.5 {
		s.level = b.level // the nearer reading
	}
	for j := range b.counters {
		s.counters = append(s.counters, mix(a.counters[j], b.counters[j]))
	}
	return s
}
