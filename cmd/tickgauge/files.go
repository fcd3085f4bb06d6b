package main

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// spareFiles is what a process needs beside its sockets.
const spareFiles = 64

// enoughFiles raises the soft limit of open files to the hard one and returns an
// error where that does not suffice for so many connections of one process.
func enoughFiles(connections int, who, advice string) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit of open files: %w", err)
	}
	need := uint64(connections) + spareFiles
	if limit.Cur < need && limit.Cur < limit.Max {
		limit.Cur = limit.Max
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			return fmt.Errorf("raise the limit of open files to %d: %w", limit.Max, err)
		}
	}
	if limit.Cur < need {
		return usageError{fmt.Errorf("%s needs about %d open files for %d connections, and the hard limit is %d: %s", who, need, connections, limit.Max, advice)}
	}
	return nil
}
