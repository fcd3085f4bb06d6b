package desk

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		symbols []feed.Symbol
		opts    Options
	}{
		{"negative accounts", symbols, Options{Accounts: -1}},
		{"negative ids", symbols, Options{IDs: -1}},
		{"negative age of ids", symbols, Options{IDAge: -1}},
		{"negative reports", symbols, Options{Reports: -1}},
		{"negative open orders", symbols, Options{OpenOrders: -1}},
		{"negative service", symbols, Options{Service: Service{Time: -1}}},
		{"service beyond its bound", symbols, Options{Service: Service{Time: MaxServiceTime + 1}}},
		{"symbol without a grid", []feed.Symbol{{Name: "A"}}, Options{}},
		{"symbol on a negative grid", []feed.Symbol{{Name: "A", TickSize: -1}}, Options{}},
		{"symbol without a name", []feed.Symbol{{TickSize: 1}}, Options{}},
		{"symbol twice", []feed.Symbol{{Name: "A", TickSize: 1}, {Name: "B", TickSize: 1}, {Name: "A", TickSize: 2}}, Options{}},
	} {
		if _, err := New(c.symbols, c.opts); err == nil || !strings.HasPrefix(err.Error(), "new desk: ") {
			t.Errorf("%s: New says %v", c.name, err)
		}
	}
}

func TestDefaults(t *testing.T) {
	d := newDesk(t, Options{})
	want := []string{"acct-1", "acct-2", "acct-3", "acct-4", "acct-5", "acct-6", "acct-7", "acct-8", "acct-9", "acct-10"}
	if got := d.Accounts(); !slices.Equal(got, want) {
		t.Errorf("accounts %q", got)
	}
	if d.opts.OpenOrders != DefaultOpenOrders {
		t.Errorf("%d open orders", d.opts.OpenOrders)
	}
}

// TestOpenOrders: the bound is of what rests, counts no order that cannot, and
// gives back the place of what is filled, canceled or replaced.
func TestOpenOrders(t *testing.T) {
	scripted(t, Options{OpenOrders: 2}, `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 b buy 5@105 of B
				1#2 o2 b new, 0+5 of 5@105
			1 c buy 5@100
				1#3 c rejected, 0+0 of 5@100, TOO_MANY_OPEN_ORDERS
			1 d buy 5@100 ioc
				1#4 o3 d new, 0+5 of 5@100
				1#5 o3 d canceled, 0+0 of 5@100
			1 e buy 5@100 fok
				1#6 o4 e new, 0+5 of 5@100
				1#7 o4 e canceled, 0+0 of 5@100
			1 r replace a 6@100
				1#8 o1 r<a replaced new, 0+6 of 6@100
			1 f buy 5@100
				1#9 f rejected, 0+0 of 5@100, TOO_MANY_OPEN_ORDERS
			2 x sell 5@100
				2#1 o5 x new, 0+5 of 5@100
				1#10 o1 r<a trade partial 5@100, 5+1 of 6@100 avg 100
				2#2 o5 x trade filled 5@100, 5+0 of 5@100 avg 100
				trade 1: 5@100, sell came in
			1 g buy 5@100
				1#11 g rejected, 0+0 of 5@100, TOO_MANY_OPEN_ORDERS
			2 y sell 1@100
				2#3 o6 y new, 0+1 of 1@100
				1#12 o1 r<a trade filled 1@100, 6+0 of 6@100 avg 100
				2#4 o6 y trade filled 1@100, 1+0 of 1@100 avg 100
				trade 2: 1@100, sell came in
			1 h buy 5@100
				1#13 o7 h new, 0+5 of 5@100
			1 i cancel b
				1#14 o2 i<b canceled, 0+0 of 5@105
			2 z sell 1@101
				2#5 o8 z new, 0+1 of 1@101
			1 j buy 1@101
				1#15 o9 j new, 0+1 of 1@101
				2#6 o8 z trade filled 1@101, 1+0 of 1@101 avg 101
				1#16 o9 j trade filled 1@101, 1+0 of 1@101 avg 101
				trade 3: 1@101, buy came in
			1 k buy 1@101
				1#17 o10 k new, 0+1 of 1@101
			1 l buy 1@101
				1#18 l rejected, 0+0 of 1@101, TOO_MANY_OPEN_ORDERS`)
}

// TestFind: by any id that a request about the order had.
func TestFind(t *testing.T) {
	v := scripted(t, Options{}, `
			1 a buy 5@100
				1#1 o1 a new, 0+5 of 5@100
			1 b replace a 4@100
				1#2 o1 b<a replaced new, 0+4 of 4@100
			1 bad replace b 4@100.001
				1#3 o1 bad<b rejected new, 0+4 of 4@100, PRICE_OFF_GRID
			2 x sell 1@100
				2#1 o2 x new, 0+1 of 1@100
				1#4 o1 b<a trade partial 1@100, 1+3 of 4@100 avg 100
				2#2 o2 x trade filled 1@100, 1+0 of 1@100 avg 100
				trade 1: 1@100, sell came in`)
	last := map[string]order.Execution{}
	for _, e := range v.reports {
		if e.Reject == "" {
			last[e.Account] = e
		}
	}
	for _, c := range []struct{ account, id string }{{"acct-1", "a"}, {"", "b"}, {"acct-1", "bad"}, {"acct-2", "x"}} {
		if e, err := v.find(c.account, c.id); err != nil || e != last["acct-"+map[bool]string{true: "2", false: "1"}[c.id == "x"]] {
			t.Errorf("Find %s of %q: %+v, %v", c.id, c.account, e, err)
		}
	}
	for _, c := range []struct{ account, id string }{{"acct-2", "a"}, {"acct-1", "x"}, {"acct-1", ""}, {"acct-1", "c"}, {"acct-11", "a"}} {
		e, err := v.find(c.account, c.id)
		want := order.ErrUnknownOrder
		if c.account == "acct-11" {
			want = order.ErrUnknownAccount
		}
		if !errors.Is(err, want) || e != (order.Execution{}) {
			t.Errorf("Find %s of %q: %+v, %v", c.id, c.account, e, err)
		}
	}
}
