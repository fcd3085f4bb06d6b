// Command tickgauge simulates an exchange, runs fleets of subscribers against
// it, and compares transports.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// version is set by the linker.
var version = "dev"

type commands struct {
	Exchange  exchangeCmd  `cmd:"" help:"Run a simulated exchange."`
	Fleet     fleetCmd     `cmd:"" help:"Run a fleet of subscribers against an exchange and measure every delivery."`
	Orders    ordersCmd    `cmd:"" help:"Execute orders on an exchange over one path and measure every answer."`
	Compare   compareCmd   `cmd:"" help:"Compare transports: an exchange and a fleet, in processes of their own, for each."`
	Calibrate calibrateCmd `cmd:"" help:"Measure what this machine can tell apart, and how much it carries."`
	Plan      planCmd      `cmd:"" help:"Show and check the plans of comparisons."`
	Report    reportCmd    `cmd:"" help:"Show results again, or write them in another form."`
	Version   versionCmd   `cmd:"" help:"Print the version."`

	Show kong.VersionFlag `name:"version" help:"Print the version."`
}

// Exit statuses: what was asked was done, it failed, the command line was wrong.
const (
	exitFailed = 1
	exitUsage  = 2
	exitBeyond = 3 // a threshold does not hold
)

// errThreshold ends a command with exitBeyond after it has printed which.
var errThreshold = errors.New("a threshold does not hold")

// errShown ends a command with exitFailed after it has printed why.
var errShown = errors.New("failed")

func main() { os.Exit(run(os.Args[1:])) }

func run(args []string) int {
	var c commands
	parser, err := kong.New(&c,
		kong.Name("tickgauge"),
		kong.Description("A market-data exchange that is simulated, fleets of subscribers that measure it, and comparisons of transports."),
		kong.UsageOnError(),
		kong.Vars(flagDefaults()),
		kong.Vars{"version": "tickgauge " + version},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, "tickgauge:", err)
		return exitFailed
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "tickgauge: %v\nTry 'tickgauge %s--help'.\n", err, commandOf(args))
		return exitUsage
	}
	if err := ctx.Run(); err != nil {
		if errors.Is(err, errThreshold) {
			return exitBeyond
		}
		if !errors.Is(err, errShown) {
			fmt.Fprintln(os.Stderr, "tickgauge:", err)
		}
		var usage usageError
		if errors.As(err, &usage) {
			return exitUsage
		}
		return exitFailed
	}
	return 0
}

// usageError is a wrong flag that only running the command could find.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func commandOf(args []string) string {
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		switch args[0] {
		case "exchange", "fleet", "orders", "compare", "calibrate", "plan", "report", "version":
			return args[0] + " "
		}
	}
	return ""
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run() error {
	fmt.Println("tickgauge", version)
	return nil
}

// signals returns a channel that is closed by the first SIGINT, SIGTERM or SIGHUP,
// and a second one that is closed by the next; stop lets go of both.
func signals() (first, second <-chan struct{}, stop func()) {
	in := make(chan os.Signal, 2)
	signal.Notify(in, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	a, b, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		for _, c := range []chan struct{}{a, b} {
			select {
			case <-in:
				close(c)
			case <-done:
				return
			}
		}
	}()
	return a, b, func() { signal.Stop(in); close(done) }
}

// interruptible returns a context that a second signal ends, the channel that the
// first one closes, and what lets go of both.
func interruptible() (ctx context.Context, interrupt <-chan struct{}, stop func()) {
	interrupt, kill, release := signals()
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		select {
		case <-kill:
			cancel(errors.New("interrupted twice"))
		case <-ctx.Done():
		}
	}()
	return ctx, interrupt, func() { cancel(nil); release() }
}
