//go:build !linux

package runner

import "syscall"

// childAttributes give a child a group of its own. It outlives a parent that is
// killed until its own deadline.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
