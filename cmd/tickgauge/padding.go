package main

import (
	"fmt"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// paddingFlag makes the ticks of an exchange larger.
type paddingFlag struct {
	PadTicks int `placeholder:"BYTES" help:"Pad each live tick, as it is encoded, to about so many bytes with a field that clients pass over; not padded unless given."`
}

func (f *paddingFlag) checkPadding() error {
	if f.PadTicks < 0 || f.PadTicks > wire.MaxTickBytes {
		return fmt.Errorf("--pad-ticks %d: want 0 to %d bytes", f.PadTicks, wire.MaxTickBytes)
	}
	return nil
}

// batchBytes is the most that ticks which leave in one message should have
// together; clients bound their messages.
const batchBytes = 1 << 20

// batchTicks is how many ticks leave in one message at most; 0, the default of the
// options, where they are small.
func (f *paddingFlag) batchTicks() int {
	if f.PadTicks*streams.DefaultBatchTicks <= batchBytes {
		return 0
	}
	return batchBytes / f.PadTicks
}

// published says what is published, for the ledger.
func (c *exchangeCmd) published() measure.Schedule {
	s := c.schedule()
	s.PayloadBytes = c.PadTicks
	return s
}
