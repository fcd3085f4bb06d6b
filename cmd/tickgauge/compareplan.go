package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"

	"github.com/tickgauge/tickgauge/clients/compare"
	"github.com/tickgauge/tickgauge/clients/plan"
	"github.com/tickgauge/tickgauge/feed"
)

// given are the names of the flags on the command line.
func given(ctx *kong.Context) map[string]bool {
	names := make(map[string]bool)
	for _, p := range ctx.Path {
		if p.Flag != nil { // defaults are not in the path
			names[p.Flag.Name] = true
		}
	}
	return names
}

// only refuses flags beside those named, for a reason.
func only(given map[string]bool, why string, allowed ...string) error {
	for name := range given {
		if !slices.Contains(allowed, name) {
			return usageError{fmt.Errorf("--%s does not go with %s", name, why)}
		}
	}
	return nil
}

// plan returns what the flags ask for: a plan by name or file, or the default plan
// with what they change of it.
func (c *compareCmd) plan(given map[string]bool) (*plan.Plan, error) {
	if c.SkipStreams && c.SkipOrders {
		return nil, usageError{errors.New("--skip-streams and --skip-orders together measure nothing")}
	}
	p, err := c.chosen(given)
	if err != nil {
		return nil, usageError{err}
	}
	if c.Rounds != nil {
		p.Rounds = *c.Rounds
	}
	if c.SkipStreams {
		p.Cells = nil
	}
	if c.SkipOrders {
		p.Orders = nil
	}
	for _, text := range c.Threshold {
		t, err := plan.ParseThreshold(text)
		if err != nil {
			return nil, usageError{err}
		}
		p.Thresholds = append(p.Thresholds, t)
	}
	if err := p.Validate(); err != nil {
		return nil, usageError{err}
	}
	if err := p.CheckThresholds(compare.CheckThreshold); err != nil {
		return nil, usageError{err}
	}
	return p, nil
}

func (c *compareCmd) chosen(given map[string]bool) (*plan.Plan, error) {
	if c.Plan != "" {
		if err := only(given, "--plan, which says it; change the plan (tickgauge plan show)", "plan", "out", "rounds", "skip-streams", "skip-orders", "threshold", "json", "welch", "all-pairs", "calibrate"); err != nil {
			return nil, err
		}
		return plan.Load(c.Plan)
	}
	p, err := plan.Load("default")
	if err != nil {
		return nil, err
	}
	p.Edited()
	if err := c.check(); err != nil {
		return nil, err
	}
	base := plan.Cell{
		Encoding: c.Encoding, Streams: c.Streams, Connections: c.Connections, SymbolsPerStream: 1, Policy: c.Policy,
		Source: c.Source, Arrivals: plan.CaptureArrivals,
	}
	if c.Source == synthSource {
		base.Symbols, base.Rate, base.Arrivals = 100, defaultRate, "steady"
	} else if c.Arrivals != "" || c.Zipf != nil || c.Symbols != nil || c.Seed != nil {
		return nil, errors.New("--symbols, --arrivals, --zipf and --seed are for the synthetic source; leave them out with a capture")
	}
	set(&base.Symbols, c.Symbols)
	set(&base.Rate, c.Rate)
	set(&base.Zipf, c.Zipf)
	set(&p.Seed, c.Seed)
	set(&p.Warmup, c.Warmup)
	set(&p.Window, c.Duration)
	set(&p.Orders.Window, c.OrderDuration)
	if c.Arrivals != "" {
		base.Arrivals = c.Arrivals
	}
	if p.Cells, err = plan.Default(c.Transports, base); err != nil {
		return nil, err
	}
	p.Base = p.Cells[0]
	o := p.Orders
	o.Paths, o.Encoding, o.Workers, o.Rate, o.PayloadBytes, o.Beside = c.Paths, c.Encoding, c.OrderWorkers, c.OrderRate, c.PayloadBytes, c.Beside
	if delete(given, "calibrate"); len(given) > 0 {
		p.Name, p.About = "custom", "The default plan with flags of its own."
	}
	return p, nil
}

func set[T any](to, flag *T) {
	if flag != nil {
		*to = *flag
	}
}

// defaultRate is the synthetic ticks/s of a comparison: with 10,000 streams on
// 100 symbols 20,000 deliveries/s.
const defaultRate = 200

// check bounds what a plan does not.
func (c *compareCmd) check() error {
	bounds := map[string]bounded{
		"--streams": {value: float64(c.Streams), most: mostStreams}, "--order-workers": {value: float64(c.OrderWorkers), most: mostWorkers}, "--order-rate": {value: c.OrderRate, most: 1e7},
	}
	if c.Rate != nil {
		bounds["--rate"] = bounded{value: *c.Rate, most: 1e7}
	}
	if c.Symbols != nil {
		bounds["--symbols"] = bounded{value: float64(*c.Symbols), most: mostPlaces}
	}
	if err := positive(bounds); err != nil {
		return err
	}
	if c.Connections < 0 {
		return errors.New("--connections must not be negative")
	}
	if c.PayloadBytes < 0 || c.PayloadBytes > mostPayload {
		return fmt.Errorf("--payload-bytes %d: want 0 to %d", c.PayloadBytes, mostPayload)
	}
	return nil
}

// fillCaptures opens each source once, so that a fault shows before the first run,
// and notes how many symbols the captures have. The symbol that orders trade must
// not be among them.
func fillCaptures(p *plan.Plan) error {
	opened := make(map[string]int)
	for i := range p.Cells {
		c := &p.Cells[i]
		key := fmt.Sprintf("%s %d %g", c.Source, c.Symbols, c.Rate)
		if _, done := opened[key]; !done {
			symbols, err := symbolsOfSource(c, p.Orders != nil || c.OrdersBeside > 0)
			if err != nil {
				return err
			}
			opened[key] = len(symbols)
		}
		if c.Source != synthSource {
			c.Symbols = opened[key]
		}
	}
	return nil
}

func symbolsOfSource(c *plan.Cell, orders bool) ([]feed.Symbol, error) {
	source := sourceFlags{Source: c.Source, Loop: c.Source != synthSource}
	if c.Rate > 0 {
		source.Rate = &c.Rate
	}
	if c.Source == synthSource {
		source.Symbols, source.Arrivals = strconv.Itoa(c.Symbols), c.Arrivals
	}
	opened, closeSource, err := source.open(quiet())
	if err != nil {
		return nil, err
	}
	defer closeSource()
	symbols := opened.Symbols()
	for _, s := range symbols {
		if orders && s.Name == reservedSymbol {
			return nil, usageError{fmt.Errorf("the source has a symbol %s, which a comparison keeps for orders; --skip-orders leaves them out", reservedSymbol)}
		}
	}
	return symbols, nil
}
