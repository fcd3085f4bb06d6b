package measure

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/tickgauge/tickgauge/feed"
)

// within measures a load between two samples of their own, so that nothing of it is
// interpolated away.
func within(load func(m *Meter)) Process {
	m := NewMeter(nil, nil)
	m.sample()
	from := m.samples[len(m.samples)-1].atNS
	load(m)
	m.sample()
	p, _, _ := m.Window(from, m.samples[len(m.samples)-1].atNS)
	return p
}

// A goroutine that spins costs user time, and at most what all processors have.
func TestMeterOfSpinning(t *testing.T) {
	const burnt = 20_000_000
	began := feed.Now()
	p := within(func(m *Meter) {
		start := m.now().used[usedUser]
		spun := make(chan int)
		go func() {
			sum := 0
			for i := 0; i%1000 != 0 || m.now().used[usedUser]-start < burnt; i++ {
				sum += i * i
			}
			spun <- sum
		}()
		<-spun
	})
	if most := (feed.Now() - began) * int64(runtime.NumCPU()+1); p.CPUUserNS < burnt || p.CPUUserNS+p.CPUSystemNS > most+burnt {
		t.Errorf("used %+v, want %d to %d ns", p, burnt, most)
	}
}

func TestMeterOfGarbage(t *testing.T) {
	const cycles, held = 4, 32 << 20
	runtime.GC() // what tests before left must not count as held
	keep := make([][]byte, 0, 64)
	p := within(func(*Meter) {
		for len(keep) < cap(keep) {
			b := make([]byte, held/64)
			for i := range b {
				b[i] = 1
			}
			keep = append(keep, b)
		}
		for range cycles {
			runtime.GC()
		}
	})
	g := p.GC
	// The world stops twice in each cycle.
	if g == nil || g.Cycles < cycles || g.Pauses == nil || g.Pauses.Count < 2*cycles || g.Pauses.Max <= 0 || g.Pauses.P50 > g.Pauses.Max {
		t.Fatalf("collections %+v, want %d or more", g, cycles)
	}
	if !(g.CPUShare > 0 && g.CPUShare <= 1) {
		t.Errorf("collections took %v of the CPU", g.CPUShare)
	}
	if p.HeapBytes-p.HeapBaselineBytes < held/2 {
		t.Errorf("heap %d after %d, of which %d were kept", p.HeapBytes, p.HeapBaselineBytes, held)
	}
	runtime.KeepAlive(keep)
}

// A thread that waits in the kernel gives its processor away.
func TestMeterOfWaiting(t *testing.T) {
	const waits = 20
	p := within(func(*Meter) {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range waits {
			if _, err := unix.Poll(nil, 1); err != nil && err != unix.EINTR {
				t.Error(err)
			}
		}
	})
	if p.VoluntarySwitches < waits/2 || p.InvoluntarySwitches < 0 {
		t.Errorf("switches %d and %d, want %d or more", p.VoluntarySwitches, p.InvoluntarySwitches, waits/2)
	}
}

func TestMeterCountsGoroutines(t *testing.T) {
	const n = 500
	stop := make(chan struct{})
	p := within(func(*Meter) {
		for range n {
			go func() { <-stop }()
		}
	})
	close(stop)
	if p.Goroutines < n {
		t.Errorf("%d goroutines, want %d or more", p.Goroutines, n)
	}
}

func TestMeterMarksIdle(t *testing.T) {
	m := NewMeter(nil, nil)
	if p, _, _ := m.Window(0, feed.Now()); p.Idle != nil {
		t.Errorf("idle %+v before it was marked", p.Idle)
	}
	before := feed.Now()
	m.MarkIdle()
	if p, _, _ := m.Window(0, feed.Now()); p.Idle == nil || p.Idle.AtNS < before || p.Idle.RSSBytes <= 0 || p.Idle.HeapBytes <= 0 {
		t.Errorf("idle %+v", p.Idle)
	}
}
