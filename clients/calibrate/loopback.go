package calibrate

import (
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
)

const (
	loopbackTrips = 2000
	loopbackWarm  = 200 // trips before those that count
	loopbackLimit = 10 * time.Second
)

// loopback sends a byte there and back over one TCP connection: what any transport
// takes before it does anything.
func (c *Calibration) loopback(ctx context.Context, _ *Options) error {
	ctx, cancel := context.WithTimeout(ctx, loopbackLimit)
	defer cancel()
	ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer func() { _ = ln.Close() }()
	echoed := make(chan error, 1)
	go func() { echoed <- echo(ctx, ln) }()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", ln.Addr().String())
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	h := measure.NewHistogram()
	b := make([]byte, 1)
	for i := range loopbackWarm + loopbackTrips {
		began := feed.Now()
		if _, err := conn.Write(b); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		if _, err := io.ReadFull(conn, b); err != nil {
			return fmt.Errorf("read: %w", err)
		}
		if i >= loopbackWarm {
			h.Record(feed.Now() - began)
		}
	}
	_ = conn.Close() // ends the echo
	c.Loopback = h.Quantiles()
	return <-echoed
}

// echo sends back what the first connection brings, until that is closed.
func echo(ctx context.Context, ln net.Listener) error {
	conn, err := ln.Accept()
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	b := make([]byte, 1)
	for {
		if _, err := io.ReadFull(conn, b); err != nil {
			return ignoreEOF(err)
		}
		if _, err := conn.Write(b); err != nil {
			return err
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
