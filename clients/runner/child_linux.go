package runner

import "syscall"

// childAttributes give a child a group of its own, and SIGTERM when its parent dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
