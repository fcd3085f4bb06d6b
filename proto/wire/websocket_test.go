package wire

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// The lengths on both sides of each form of the header (RFC 6455, section 5.2).
func TestAppendFrame(t *testing.T) {
	for size, want := range map[int]int{0: 2, 1: 2, 125: 2, 126: 4, 65535: 4, 65536: 10} {
		frame := AppendFrame([]byte("before"), OpBinary, bytes.Repeat([]byte{7}, size))[len("before"):]
		if len(frame) != want+size || frameHeader(frame) != want || frame[0] != 0x82 {
			t.Errorf("%d bytes: a frame of %d that begins with %x, header %d of %d", size, len(frame), frame[:2], frameHeader(frame), want)
		}
		said := uint64(frame[1])
		switch want {
		case 4:
			said = uint64(binary.BigEndian.Uint16(frame[2:]))
		case 10:
			said = binary.BigEndian.Uint64(frame[2:])
		}
		if said != uint64(size) {
			t.Errorf("%d bytes: the header says %d", size, said)
		}
	}
}
