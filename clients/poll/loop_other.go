//go:build !linux

package poll

import (
	"context"
	"net"
)

// Loop needs epoll, and is never there elsewhere than on Linux.
type Loop struct{}

// New returns ErrUnsupported.
func New(Options) (*Loop, error) { return nil, ErrUnsupported }

// Run returns ErrUnsupported.
func (*Loop) Run(context.Context) error { return ErrUnsupported }

// Close does nothing.
func (*Loop) Close() error { return nil }

// Do is false: f is not called.
func (*Loop) Do(func()) bool { return false }

// Add closes conn and returns ErrUnsupported.
func (*Loop) Add(conn net.Conn, _ Handler) (*Socket, error) {
	_ = conn.Close()
	return nil, ErrUnsupported
}

// Socket is one connection of a Loop.
type Socket struct{}

// Write returns ErrUnsupported.
func (*Socket) Write([]byte) error { return ErrUnsupported }

// Pending is 0.
func (*Socket) Pending() int { return 0 }

// Close does nothing.
func (*Socket) Close() {}
