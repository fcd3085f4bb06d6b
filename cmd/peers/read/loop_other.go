//go:build !linux

package read

import (
	"context"
	"errors"
	"net"
)

var errLinux = errors.New("the reader needs Linux")

type loop struct{ in, out int64 }

func newLoop() (*loop, error) { return nil, errLinux }

func (*loop) do(func()) {}

func (*loop) add(net.Conn, handler, func(socket)) error { return errLinux }

func (*loop) run(context.Context) error { return errLinux }
