package fanout

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// What the kernel does not take waits, in its order, and leaves in one write.
func TestSocketKeepsWhatIsNotTaken(t *testing.T) {
	k := newKernel(3)
	s := NewSocket(k)
	for _, part := range []string{"first,", "second,", "third"} {
		if err := s.Send([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.written(); got != "fir" || s.Flush() || s.Since() == 0 {
		t.Fatalf("%q was written, flushed %t, waits since %d", got, s.Flush(), s.Since())
	}
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		s.Wait()
	}()
	k.give(2)
	tries := k.count()
	k.give(-1)
	receive(t, "the socket takes all", waited)
	if got := k.written(); got != "first,second,third" || s.Since() != 0 || !s.Flush() {
		t.Errorf("%q was written, waits since %d", got, s.Since())
	}
	if n := k.count() - tries; n > 3 {
		t.Errorf("%d writes for what waited", n)
	}
}

// A socket that fails says so to everybody, and keeps nothing.
func TestSocketFails(t *testing.T) {
	broken := errors.New("broken pipe")
	for name, end := range map[string]func(k *kernel, s *Socket){
		"write": func(k *kernel, _ *Socket) { k.fail(broken) },
		"cut":   func(k *kernel, s *Socket) { s.Cut(broken); k.fail(broken) },
	} {
		t.Run(name, func(t *testing.T) {
			k := newKernel(0)
			s := NewSocket(k)
			if err := s.Send(make([]byte, 2*maxWritten)); err != nil {
				t.Fatal(err)
			}
			var waiting sync.WaitGroup
			wrote := make(chan error, 1)
			for range 3 {
				waiting.Go(s.Wait)
			}
			waiting.Go(func() {
				_, err := s.Write([]byte("pong"))
				wrote <- err
			})
			end(k, s)
			if err := receive(t, "the write is freed", wrote); !errors.Is(err, broken) {
				t.Errorf("write: %v", err)
			}
			waiting.Wait()
			if err := s.Send([]byte("x")); !errors.Is(err, broken) || !errors.Is(s.Err(), broken) {
				t.Errorf("send: %v, the socket's error %v", err, s.Err())
			}
			if !s.Flush() || s.Since() != 0 {
				t.Error("a socket that is over holds its connection")
			}
		})
	}
}

// Nothing follows the last bytes, and they come behind all that waits.
func TestSocketSendLast(t *testing.T) {
	k := newKernel(1)
	s := NewSocket(k)
	_ = s.Send([]byte("ticks "))
	if err := s.SendLast([]byte("close")); err != nil {
		t.Fatal(err)
	}
	if err := s.Send([]byte("late")); !errors.Is(err, ErrEnded) {
		t.Errorf("send behind the last: %v", err)
	}
	if _, err := s.Write([]byte("late")); !errors.Is(err, ErrEnded) {
		t.Errorf("write behind the last: %v", err)
	}
	k.give(-1)
	s.Wait()
	if got := k.written(); got != "ticks close" {
		t.Errorf("written %q", got)
	}
}

// Frames of many goroutines come whole and each goroutine's in its order, however
// little the kernel takes at a time.
func TestSocketNeverCutsAFrame(t *testing.T) {
	const writers, frames = 4, 200
	k := newKernel(0)
	s := NewSocket(k)
	var sent sync.WaitGroup
	for w := range writers {
		sent.Go(func() {
			for i := range frames {
				frame := fmt.Appendf(nil, "<%d:%d>", w, i)
				if w%2 == 0 {
					_ = s.Send(frame)
				} else if _, err := s.Write(frame); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop, fed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(fed)
		for n := 1; ; n = n%7 + 1 {
			select {
			case <-stop:
				return
			default:
				k.give(n)
			}
		}
	}()
	sent.Wait()
	s.Wait()
	close(stop)
	<-fed
	next := make([]int, writers)
	for frame := range strings.SplitAfterSeq(k.written(), ">") {
		if frame == "" {
			continue
		}
		var w, i int
		if _, err := fmt.Sscanf(frame, "<%d:%d>", &w, &i); err != nil || next[w] != i {
			t.Fatalf("frame %q where %v were next: %v", frame, next, err)
		}
		next[w]++
	}
	for w, n := range next {
		if n != frames {
			t.Errorf("writer %d: %d frames of %d", w, n, frames)
		}
	}
}
