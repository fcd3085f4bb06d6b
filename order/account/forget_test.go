package account

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/order"
	"pgregory.net/rapid"
)

// known asks for ids without changing which are known.
func known(m *Memory[subject], ids ...string) string {
	var got string
	for _, id := range ids {
		if m.Find(key(id)) != nil {
			got += id
		}
	}
	return got
}

// TestForgetsByCount: the newest are known, and all of them; asking for one that
// is known costs no other its place.
func TestForgetsByCount(t *testing.T) {
	m := newMemory(t, 3, time.Minute)
	for _, id := range []string{"a", "b", "c"} {
		put(t, m, id, 0)
	}
	for _, id := range []string{"a", "c", "a"} {
		if _, first := begin(m, id, 0); first {
			t.Fatalf("%s is one of the last three, and forgotten", id)
		}
	}
	for _, c := range []struct{ id, want string }{{"d", "bcd"}, {"e", "cde"}, {"a", "dea"}, {"f", "eaf"}} {
		put(t, m, c.id, 0)
		if got := known(m, "b", "c", "d", "e", "a", "f"); got != c.want || m.Len() != 3 {
			t.Errorf("after %s: %q are known, %d ids, want %q", c.id, got, m.Len(), c.want)
		}
	}
}

func TestRemembersOne(t *testing.T) {
	m := newMemory(t, 1, time.Minute)
	put(t, m, "a", 0)
	if _, first := begin(m, "a", 0); first {
		t.Error("the last one is forgotten")
	}
	put(t, m, "b", 0)
	if got := known(m, "a", "b"); got != "b" {
		t.Errorf("%q are known", got)
	}
}

// TestForgetsByAge: from the age on an id is not known; asking makes none younger.
func TestForgetsByAge(t *testing.T) {
	m := newMemory(t, 100, 10)
	put(t, m, "a", 1000)
	put(t, m, "b", 1004)
	if _, first := begin(m, "a", 1009); first {
		t.Error("forgotten before its age")
	}
	put(t, m, "c", 1010)
	if got := known(m, "a", "b", "c"); got != "bc" {
		t.Errorf("at 1010 %q are known", got)
	}
	put(t, m, "a", 1011)
	if got := known(m, "a", "b", "c"); got != "abc" {
		t.Errorf("at 1011 %q are known", got)
	}
	put(t, m, "d", 5000)
	if got := known(m, "a", "b", "c", "d"); got != "d" || m.Len() != 1 {
		t.Errorf("at 5000 %q are known, %d ids", got, m.Len())
	}
}

// TestGrowsInTheMiddle fills the ring anew after its oldest have gone, until it has
// to grow: the oldest still go first.
func TestGrowsInTheMiddle(t *testing.T) {
	m := newMemory(t, 1000, 1000)
	for i := range 50 {
		put(t, m, fmt.Sprint("old", i), 0)
	}
	for i := range 300 {
		put(t, m, fmt.Sprint(i), int64(1000+i))
	}
	if m.Len() != 300 {
		t.Errorf("%d ids, want 300", m.Len())
	}
	for i := range 299 { // at 2000+i is i forgotten
		if _, first := begin(m, "299", int64(2000+i)); first {
			t.Fatalf("299 is forgotten at %d", 2000+i)
		}
		if m.Find(key(fmt.Sprint(i))) != nil || m.Len() != 299-i {
			t.Fatalf("at %d are %d ids, and %d is %v", 2000+i, m.Len(), i, m.Find(key(fmt.Sprint(i))))
		}
		if next := m.Find(key(fmt.Sprint(i + 1))); next == nil {
			t.Fatalf("at %d is %d forgotten", 2000+i, i+1)
		}
	}
}

// TestKeepsWhatIsInFlight, whatever the bounds, until it is settled.
func TestKeepsWhatIsInFlight(t *testing.T) {
	m := newMemory(t, 2, 10)
	a, _ := begin(m, "a", 0)
	for i := range 200 { // and those behind it
		put(t, m, fmt.Sprint(i), int64(i))
	}
	b, _ := begin(m, "b", 300)
	if again, first := begin(m, "a", 1000); first || again != a || m.Len() != 202 {
		t.Fatalf("in flight, and forgotten: %d ids", m.Len())
	}
	a.Settle(&order.Execution{}, &subject{"a"})
	if again, first := begin(m, "b", 1000); first || again != b || m.Len() != 1 {
		t.Errorf("b is in flight, of %d ids", m.Len())
	}
	if got := known(m, "a", "0", "199"); got != "" {
		t.Errorf("%q are still known", got)
	}
	b.Settle(&order.Execution{}, &subject{"b"})
	if _, first := begin(m, "b", 1000); !first {
		t.Error("b is older than its age, and known")
	}
}

// TestMemoryIsBounded sends 400,000 distinct ids, and as many accounts' worth of
// repeats, and looks at what is left on the heap.
func TestMemoryIsBounded(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return int64(s.HeapAlloc)
	}
	before := heap()
	m := newMemory(t, 0, 0)
	var full int64
	for i := range 400_000 {
		put(t, m, fmt.Sprintf("order-%020d", i), int64(i))
		if i%7 == 0 {
			if _, first := begin(m, fmt.Sprintf("order-%020d", i), int64(i)); first {
				t.Fatalf("id %d was forgotten at once", i)
			}
		}
		if n := m.Len(); n != min(i+1, DefaultIDs) {
			t.Fatalf("%d ids after %d", n, i+1)
		}
		if i+1 == DefaultIDs {
			full = heap() - before
		}
	}
	end := heap() - before
	t.Logf("%d ids take %d MB, %d bytes each; after 400,000 it is %d MB", DefaultIDs, full>>20, full/DefaultIDs, end>>20)
	if each := full / DefaultIDs; each > 1500 {
		t.Errorf("%d bytes an id", each)
	}
	if end > full+full/4 {
		t.Errorf("the memory grows: %d bytes when it was full, %d later", full, end)
	}
	// Age alone gives it back too.
	put(t, m, "last", int64(time.Hour))
	if n := m.Len(); n != 1 {
		t.Errorf("%d ids an hour later", n)
	}
	runtime.KeepAlive(m)
}

// TestMemoryIsItsReference compares a memory with a list that is looked through
// from end to end.
func TestMemoryIsItsReference(t *testing.T) {
	for range 20 { // times rapid's 100 sequences
		rapid.Check(t, testReference)
	}
}

func testReference(t *rapid.T) {
	type entry struct {
		id      string
		at      int64
		answer  *Answer[subject]
		settled bool
	}
	limit, age := rapid.IntRange(1, 5).Draw(t, "limit"), int64(rapid.IntRange(1, 30).Draw(t, "age"))
	m, err := NewMemory[subject](limit, time.Duration(age))
	if err != nil {
		t.Fatal(err)
	}
	var list []*entry
	drop := func(keep int, now int64) {
		for len(list) > 0 && list[0].settled && (len(list) > keep || now-list[0].at >= age) {
			list = list[1:]
		}
	}
	now := int64(0)
	id := rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "g"})
	t.Repeat(map[string]func(*rapid.T){
		"begin": func(t *rapid.T) {
			id := id.Draw(t, "id")
			now += int64(rapid.IntRange(0, 5).Draw(t, "later"))
			a, first := begin(m, id, now)
			drop(limit, now)
			for _, e := range list {
				if e.id == id {
					if first || a != e.answer {
						t.Fatalf("%s is not known", id)
					}
					return
				}
			}
			if !first {
				t.Fatalf("%s is known", id)
			}
			drop(limit-1, now)
			list = append(list, &entry{id: id, at: now, answer: a})
		},
		"settle": func(t *rapid.T) {
			if len(list) == 0 {
				t.Skip("none")
			}
			e := list[rapid.IntRange(0, len(list)-1).Draw(t, "which")]
			if e.settled {
				t.Skip("settled")
			}
			e.settled = true
			e.answer.Settle(&order.Execution{}, &subject{e.id})
		},
		"": func(t *rapid.T) {
			if m.Len() != len(list) {
				t.Fatalf("%d ids, want %d", m.Len(), len(list))
			}
			for _, e := range list {
				s := m.Find(key(e.id))
				if (s != nil) != e.settled || s != nil && s.id != e.id {
					t.Fatalf("Find of %s: %v", e.id, s)
				}
			}
		},
	})
}
