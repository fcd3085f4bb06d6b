// Command peers serves the exchange's ticks as other products would, and as
// hand-written floors that do no more than they must; reads them in one lean
// loop; and compares the exchange with each of them.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"github.com/tickgauge/tickgauge/cmd/peers/serve"
)

type commands struct {
	Serve serveCmd `cmd:"" help:"Serve ticks as one peer; nothing is published before POST /debug/run."`
	List  listCmd  `cmd:"" help:"List the peers."`
}

func main() {
	var c commands
	parsed := kong.Parse(&c, kong.Name("peers"), kong.UsageOnError(),
		kong.Description("What the exchange is measured against: other products, and floors written by hand."))
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	parsed.BindTo(ctx, (*context.Context)(nil))
	parsed.FatalIfErrorf(parsed.Run())
}

type serveCmd struct {
	As          string        `required:"" placeholder:"NAME" help:"Which peer; peers list names them."`
	Addr        string        `default:"127.0.0.1:0" help:"Where ticks are served; port 0 takes a free one."`
	DebugAddr   string        `default:"127.0.0.1:0" help:"Where the source is started, with a ledger and pprof."`
	Symbols     int           `default:"100" help:"Synthetic symbols, as the exchange has them."`
	Rate        float64       `default:"200" help:"Mean ticks per second over all symbols."`
	MaxDuration time.Duration `default:"10m" help:"End after this time, whatever happens."`
}

// Run serves until a signal or --max-duration.
func (c *serveCmd) Run(ctx context.Context) error {
	return serve.Run(ctx, serve.Options{Name: c.As, Addr: c.Addr, Debug: c.DebugAddr, Symbols: c.Symbols, Rate: c.Rate,
		MaxDuration: c.MaxDuration}, os.Stdout)
}

type listCmd struct{}

// Run prints a line a peer.
func (listCmd) Run() error {
	for _, r := range serve.Rows() {
		if _, err := fmt.Printf("%-14s %s\n", r.Name, r.About); err != nil {
			return err
		}
	}
	return nil
}
