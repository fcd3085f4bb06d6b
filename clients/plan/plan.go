package plan

import (
	"fmt"
	"regexp"
	"slices"
	"time"
)

// Plan is a comparison: its cells, how often and how long each is run, and what is
// expected of the figures.
type Plan struct {
	Name   string
	About  string // a sentence for people
	Rounds int    // each runs every cell once
	Warmup time.Duration
	Window time.Duration // the measured part of a run
	Seed   uint64        // of synthetic sources
	Base   Cell          // what cells have unless told; orders go beside streams like these
	Cells  []Cell
	Orders *Orders // nil: no orders are executed
	// Thresholds are checked over the median of each cell's usable runs.
	Thresholds []Threshold

	file  string         // where it was read from
	lines []int          // of each cell in the file
	keys  map[string]int // lines of the file's keys
}

// Orders is what a comparison executes of orders, once, after the rounds.
type Orders struct {
	Paths        []string // names of DefaultOrders; none: all
	Encoding     string
	Workers      int           // of each path
	Rate         float64       // orders/s of the open loop
	Window       time.Duration // of each run
	PayloadBytes int
	Beside       string // the name, of Names, of the cell whose streams they go beside; none: they go alone only
}

// NoStreams is Orders.Beside where orders go alone only.
const NoStreams = "none"

// Edited says that the plan is no longer what the file has, so that faults name no
// lines of it.
func (p *Plan) Edited() { p.file, p.lines, p.keys = "", nil, nil }

// MinRounds is the fewest rounds that can tell a difference at 95%: among six pairs
// the smallest two-sided p of the sign-flip test is 2/64.
const MinRounds = 6

// Bounds of what a plan may ask for.
const (
	MostRounds  = 64 // what the tests over rounds take
	mostCells   = 1000
	longestTime = 24 * time.Hour
)

// Job is one run of a plan: cell number Cell in round number Round, both from 0.
type Job struct{ Round, Cell int }

// Jobs returns the runs in their order: the cells interleaved, every other round
// reversed, so that what drifts on the machine meets all cells alike.
func (p *Plan) Jobs() []Job {
	jobs := make([]Job, 0, p.Rounds*len(p.Cells))
	for round := range p.Rounds {
		of := make([]Job, len(p.Cells))
		for i := range p.Cells {
			of[i] = Job{round, i}
		}
		if round%2 == 1 {
			slices.Reverse(of)
		}
		jobs = append(jobs, of...)
	}
	return jobs
}

// What a run takes beside warm-up and window: processes start and end, and streams
// open, at about so many a second with a connection for each.
const (
	runOverhead    = 900 * time.Millisecond
	connectsPerSec = 6000
	ordersOverhead = 1500 * time.Millisecond
)

// Takes estimates how long a run of the cell takes.
func (p *Plan) Takes(c Cell) time.Duration {
	return p.Warmup + p.Window + runOverhead + time.Duration(c.Connections)*time.Second/connectsPerSec
}

// TakesAll estimates how long all of the plan takes.
func (p *Plan) TakesAll() (total time.Duration) {
	for _, c := range p.Cells {
		total += time.Duration(p.Rounds) * p.Takes(c)
	}
	if o := p.Orders; o != nil {
		paths := len(o.Paths)
		if paths == 0 {
			paths = len(orderChoices)
		}
		phases := 3
		if o.Beside == NoStreams {
			phases = 2
		}
		total += time.Duration(phases*paths) * (o.Window + ordersOverhead)
	}
	return total
}

// Validate returns all that is wrong with the plan, as Faults with the lines of the
// file where it was read from one.
func (p *Plan) Validate() error {
	f := Faults{File: p.file}
	if key, err := p.checkRun(); err != nil {
		f.add(p.keys[key], "%w", err)
	}
	switch {
	case len(p.Cells) == 0 && p.Orders == nil:
		f.add(0, "the plan has no cells and no orders: it measures nothing")
	case len(p.Cells) > mostCells:
		f.add(0, "the plan has %d cells, want at most %d", len(p.Cells), mostCells)
	}
	seen := make(map[Cell]int, len(p.Cells))
	for i, c := range p.Cells {
		if err := c.Validate(); err != nil {
			f.add(p.line(i), "cell %d, %s: %w", i+1, c.Name(), err)
		}
		if first, twice := seen[c]; twice {
			f.add(p.line(i), "cell %d is cell %d again (%s); leave one out, rounds repeat them", i+1, first+1, c.Name())
		} else {
			seen[c] = i
		}
	}
	if p.Orders != nil {
		if err := p.Orders.check(); err != nil {
			f.add(p.keys["orders"], "%w", err)
		}
	}
	return f.err()
}

var nameForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// checkRun returns what is wrong with how often and how long cells are run, and the
// key that says it.
func (p *Plan) checkRun() (key string, err error) {
	switch {
	case !nameForm.MatchString(p.Name):
		return "name", fmt.Errorf("name: %.70q, want 1 to 64 letters, digits, dots, dashes and underscores, the first a letter or a digit: a directory is called so", p.Name)
	case p.Rounds < 1 || p.Rounds > MostRounds:
		return "rounds", fmt.Errorf("rounds: %d, want 1 for a look, or %d to %d for a verdict", p.Rounds, MinRounds, MostRounds)
	case p.Rounds > 1 && p.Rounds < MinRounds:
		return "rounds", fmt.Errorf("rounds: %d are too few for any verdict; want 1 for a look, or at least %d", p.Rounds, MinRounds)
	case p.Warmup < 0 || p.Warmup > longestTime:
		return "warmup", fmt.Errorf("warmup: %s, want 0s to %s", p.Warmup, longestTime)
	case p.Window <= 0 || p.Window > longestTime:
		return "window", fmt.Errorf("window: %s, want more than 0s, to %s", p.Window, longestTime)
	}
	return "", nil
}

func (o *Orders) check() error {
	if _, err := DefaultOrders(o.Paths, OrderCell{}); err != nil {
		return fmt.Errorf("orders: %w", err)
	}
	switch {
	case !slices.Contains(encodings, o.Encoding):
		return fmt.Errorf("orders: encoding %q, want one of %v", o.Encoding, encodings)
	case o.Workers < 1 || o.Workers > 100_000:
		return fmt.Errorf("orders: workers %d, want 1 to 100000", o.Workers)
	case !(o.Rate > 0 && o.Rate <= 1e7):
		return fmt.Errorf("orders: rate %g, want orders per second above 0, to 1e7", o.Rate)
	case o.Window <= 0 || o.Window > longestTime:
		return fmt.Errorf("orders: window %s, want more than 0s, to %s", o.Window, longestTime)
	case o.PayloadBytes < 0 || o.PayloadBytes > 1<<20:
		return fmt.Errorf("orders: payload_bytes %d, want 0 to %d", o.PayloadBytes, 1<<20)
	case o.Beside != NoStreams && !slices.Contains(Names(), o.Beside):
		return fmt.Errorf("orders: beside %q, want one of %v, or none", o.Beside, Names())
	}
	return nil
}

// CheckCells returns what check says of the plan's cells, with their lines.
func (p *Plan) CheckCells(check func(Cell) error) error {
	f := Faults{File: p.file}
	for i, c := range p.Cells {
		if err := check(c); err != nil {
			f.add(p.line(i), "%w", err)
		}
	}
	return f.err()
}

func (p *Plan) line(cell int) int {
	if cell < len(p.lines) {
		return p.lines[cell]
	}
	return 0
}
