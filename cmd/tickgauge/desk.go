package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order/desk"
)

// deskFlags say how an exchange takes orders.
type deskFlags struct {
	Accounts    int           `default:"${accounts}" help:"Accounts that trade: acct-1 to acct-N."`
	ServiceTime string        `placeholder:"DURATION" help:"What each order waits before it matches, as a risk check would: 100us, or a sum as 40us+60us."`
	Service     string        `default:"virtual" enum:"virtual,realtime" help:"virtual answers at once and reports the service time in service_ns; realtime waits it out."`
	IDs         int           `name:"ids" default:"${ids}" help:"Order ids remembered, so that an order sent again gets its first answer."`
	IDAge       time.Duration `name:"id-age" default:"${id_age}" help:"For how long at most."`
	Reports     int           `default:"${reports}" help:"Executions kept per account for streams that resume."`
	OpenOrders  int           `default:"${open_orders}" help:"Resting orders that one account may have."`
	Reserve     []string      `sep:"none" placeholder:"NAME" help:"List this symbol too, with a quote that never changes and no ticks of the source: for orders beside streams that are measured. May be repeated."`
}

// The quote of a reserved symbol: a size that no load uses up.
const (
	reservedTickSize feed.Price = 10_000_000 // 0.01
	reservedBid                 = 100_000_000_000
	reservedSize     feed.Size  = 1_000_000_000 * 100_000_000
)

// mostAccounts bounds what a slip of the hand may ask for.
const mostAccounts = 100_000

func (f *deskFlags) checkDesk() error {
	if err := positive(map[string]bounded{
		"--accounts": {value: float64(f.Accounts), most: mostAccounts}, "--ids": {value: float64(f.IDs), most: 1 << 24}, "--id-age": seconds(f.IDAge),
		"--reports": {value: float64(f.Reports), most: mostPlaces}, "--open-orders": {value: float64(f.OpenOrders), most: 1 << 24},
	}); err != nil {
		return err
	}
	if f.Service == "realtime" && f.ServiceTime == "" {
		return errors.New("--service realtime waits nothing without --service-time")
	}
	_, err := f.service()
	return err
}

// service reads a sum of durations.
func (f *deskFlags) service() (desk.Service, error) {
	s := desk.Service{Realtime: f.Service == "realtime"}
	if f.ServiceTime == "" {
		return s, nil
	}
	for part := range strings.SplitSeq(f.ServiceTime, "+") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || d < 0 || d > desk.MaxServiceTime {
			return s, fmt.Errorf("--service-time %q: want durations of 0 to %s, as 100us or 40us+60us", f.ServiceTime, desk.MaxServiceTime)
		}
		s.Time += d
	}
	if s.Time > desk.MaxServiceTime {
		return s, fmt.Errorf("--service-time %q: want at most %s", f.ServiceTime, desk.MaxServiceTime)
	}
	return s, nil
}

// listed returns the source's symbols with the reserved ones after them.
func (f *deskFlags) listed(source []feed.Symbol) ([]feed.Symbol, error) {
	symbols := append([]feed.Symbol(nil), source...)
	for _, name := range f.Reserve {
		for _, s := range symbols {
			if s.Name == name {
				return nil, fmt.Errorf("--reserve %s: the exchange lists that symbol already; choose another name", name)
			}
		}
		symbols = append(symbols, feed.Symbol{Name: name, TickSize: reservedTickSize})
	}
	return symbols, nil
}

// openDesk returns a desk whose trades become ticks of the hub, which has the symbols
// that listed returned.
func (f *deskFlags) openDesk(hub *feed.Hub) (*desk.Desk, error) {
	service, err := f.service()
	if err != nil {
		return nil, err
	}
	symbols := hub.Symbols()
	d, err := desk.New(symbols, desk.Options{
		Accounts: f.Accounts, IDs: f.IDs, IDAge: f.IDAge, Reports: f.Reports, OpenOrders: f.OpenOrders, Service: service,
		Traded: func(symbol int, px feed.Price, qty feed.Size, tradeID uint64, aggressor feed.Side) {
			hub.Publish(&feed.Update{Symbol: symbol, Origin: feed.OriginOrder, LastPx: px, LastSz: qty, TradeID: tradeID, Aggressor: aggressor}, feed.Now())
		},
	})
	if err != nil {
		return nil, err
	}
	for i := len(symbols) - len(f.Reserve); i < len(symbols); i++ {
		u := feed.Update{Symbol: i, Origin: feed.OriginSchedule, Quote: true, BidPx: reservedBid, BidSz: reservedSize, AskPx: reservedBid + reservedTickSize, AskSz: reservedSize}
		hub.Publish(&u, feed.Now())
		quote(d)(&u)
	}
	return d, nil
}

// quote makes the feed's quotes the market maker's.
func quote(d *desk.Desk) func(u *feed.Update) {
	return func(u *feed.Update) {
		if u.Quote {
			d.Quote(u.Symbol, u.BidPx, u.BidSz, u.AskPx, u.AskSz)
		}
	}
}
