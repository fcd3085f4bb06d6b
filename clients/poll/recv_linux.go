package poll

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// receiver reads sockets with recvmsg, which tells when the kernel took a segment in.
// Its memory is used for every read, so that none allocates.
type receiver struct {
	iov     unix.Iovec
	msg     unix.Msghdr
	control [64]byte
}

func (r *receiver) init() {
	r.msg.Iov = &r.iov
	r.msg.SetIovlen(1)
	r.msg.Control = &r.control[0]
}

// from reads fd, which does not block, once. Stamp is of the wall clock, 0 where the
// kernel gave none. RawSyscall leaves the scheduler out: nothing here waits.
func (r *receiver) from(fd int, b []byte) (n int, stamp int64, err error) {
	r.iov.Base = &b[0]
	r.iov.SetLen(len(b))
	r.msg.SetControllen(len(r.control))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.msg)), unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, 0, errno
	}
	return int(got), stampOf(r.control[:r.msg.Controllen]), nil
}

// stampOf returns the kernel's stamp in ns since 1970, 0 where there is none.
func stampOf(control []byte) int64 {
	for len(control) >= unix.CmsgLen(0) {
		head := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
		size := int(head.Len)
		if size < unix.CmsgLen(0) || size > len(control) {
			return 0
		}
		if head.Level == unix.SOL_SOCKET && head.Type == unix.SCM_TIMESTAMPNS {
			var ts unix.Timespec
			if size < unix.CmsgLen(int(unsafe.Sizeof(ts))) {
				return 0
			}
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&ts)), unsafe.Sizeof(ts)), control[unix.CmsgLen(0):])
			return ts.Nano()
		}
		control = control[min(len(control), unix.CmsgSpace(size-unix.CmsgLen(0))):]
	}
	return 0
}
