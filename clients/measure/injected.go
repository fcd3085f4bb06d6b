package measure

import "fmt"

// Injected is what an exchange was told to do wrong, and what it did to the deliveries
// of ticks due in the window, over all its streams.
type Injected struct {
	Faults []string `json:"faults"` // as exchange --inject has them
	Seed   uint64   `json:"seed"`

	Lost       int64      `json:"lost"`       // not written, and nothing said of it
	Duplicated int64      `json:"duplicated"` // written twice
	Reordered  int64      `json:"reordered"`  // written after the next tick of their symbol
	Delayed    int64      `json:"delayed"`
	Delay      *Quantiles `json:"delay_ns"` // from when each would have been written to when it was
	Stalls     []Stall    `json:"stalls"`   // that reach into the window
}

// InjectedSymbol has the faults of one symbol's deliveries.
type InjectedSymbol struct {
	Symbol     string `json:"symbol"`
	Lost       int64  `json:"lost"`
	Duplicated int64  `json:"duplicated"`
	Reordered  int64  `json:"reordered"`
	Delayed    int64  `json:"delayed"`
}

// Stall is a time in which no tick left the exchange, CLOCK_MONOTONIC.
type Stall struct {
	StartNS  int64 `json:"start_ns"`
	LengthNS int64 `json:"length_ns"`
}

// found says of n faults that an account found how many were injected, and what is
// wrong where the two differ.
func found(n, injected int64) string {
	switch {
	case injected == 0:
		return ""
	case n == injected:
		return fmt.Sprintf(" (%d injected)", injected)
	case n > injected:
		return fmt.Sprintf(" (%d injected, so %d are real)", injected, n-injected)
	}
	return fmt.Sprintf(" (%d injected, so %d were not found)", injected, injected-n)
}
