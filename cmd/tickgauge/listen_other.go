//go:build !linux

package main

import (
	"syscall"
	"time"
)

// vanishAfter needs TCP_USER_TIMEOUT, which other systems lack.
func vanishAfter(time.Duration) func(network, address string, c syscall.RawConn) error { return nil }
