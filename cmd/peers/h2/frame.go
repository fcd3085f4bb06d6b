// Package h2 has the frames of HTTP/2 (RFC 9113) as bytes, for readers and
// writers that keep no more of a stream than they must.
package h2

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Preface is what a client sends first.
const Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// HeaderBytes is what stands before each payload.
const HeaderBytes = 9

// Type is the type of a frame.
type Type uint8

// The types that matter here.
const (
	Data         Type = 0x0
	Headers      Type = 0x1
	ResetStream  Type = 0x3
	Settings     Type = 0x4
	Ping         Type = 0x6
	GoAway       Type = 0x7
	WindowUpdate Type = 0x8
	Continuation Type = 0x9
)

// The flags, which each type has its own of.
const (
	EndStream  = 0x1
	Ack        = 0x1
	EndHeaders = 0x4
	Padded     = 0x8
	Priority   = 0x20
)

// The settings that matter here.
const (
	SettingMaxConcurrentStreams = 0x3
	SettingInitialWindowSize    = 0x4
	SettingMaxFrameSize         = 0x5
)

// DefaultWindow is that of streams and connections before anything else is said,
// MaxWindow the largest that may be.
const (
	DefaultWindow = 65_535
	MaxWindow     = 1<<31 - 1
)

// Frame is one frame; Payload is only lent.
type Frame struct {
	Type    Type
	Flags   uint8
	Stream  uint32
	Payload []byte
}

// AppendHeader appends the header of a frame with n bytes of payload.
func AppendHeader(dst []byte, t Type, flags uint8, stream uint32, n int) []byte {
	return append(dst, byte(n>>16), byte(n>>8), byte(n), byte(t), flags,
		byte(stream>>24)&0x7f, byte(stream>>16), byte(stream>>8), byte(stream))
}

// AppendFrame appends a whole frame.
func AppendFrame(dst []byte, f Frame) []byte {
	return append(AppendHeader(dst, f.Type, f.Flags, f.Stream, len(f.Payload)), f.Payload...)
}

// AppendSettings appends a SETTINGS frame of pairs of identifier and value.
func AppendSettings(dst []byte, pairs ...uint32) []byte {
	dst = AppendHeader(dst, Settings, 0, 0, len(pairs)/2*6)
	for i := 0; i+1 < len(pairs); i += 2 {
		dst = binary.BigEndian.AppendUint16(dst, uint16(pairs[i]))
		dst = binary.BigEndian.AppendUint32(dst, pairs[i+1])
	}
	return dst
}

// AppendWindowUpdate appends a WINDOW_UPDATE frame; stream 0 is the connection.
func AppendWindowUpdate(dst []byte, stream, n uint32) []byte {
	return binary.BigEndian.AppendUint32(AppendHeader(dst, WindowUpdate, 0, stream, 4), n)
}

// Next returns the first frame of b and what comes after it; ok is false where b
// has no whole one yet.
func Next(b []byte) (f Frame, rest []byte, ok bool) {
	if len(b) < HeaderBytes {
		return f, b, false
	}
	n := HeaderBytes + (int(b[0])<<16 | int(b[1])<<8 | int(b[2]))
	if len(b) < n {
		return f, b, false
	}
	return Frame{Type: Type(b[3]), Flags: b[4], Stream: binary.BigEndian.Uint32(b[5:]) & 0x7fffffff, Payload: b[HeaderBytes:n]}, b[n:], true
}

var errPadding = errors.New("http2: padding beyond the frame")

// Content returns the payload of a DATA or HEADERS frame without padding and
// priority.
func (f Frame) Content() ([]byte, error) {
	p, pad := f.Payload, 0
	if f.Flags&Padded != 0 {
		if len(p) < 1 {
			return nil, errPadding
		}
		pad, p = int(p[0]), p[1:]
	}
	if f.Type == Headers && f.Flags&Priority != 0 {
		if len(p) < 5 {
			return nil, errPadding
		}
		p = p[5:]
	}
	if pad > len(p) {
		return nil, errPadding
	}
	return p[:len(p)-pad], nil
}

// EachSetting calls set for each pair of a SETTINGS frame.
func (f Frame) EachSetting(set func(id uint16, value uint32)) error {
	if len(f.Payload)%6 != 0 {
		return fmt.Errorf("http2: SETTINGS of %d bytes", len(f.Payload))
	}
	for p := f.Payload; len(p) > 0; p = p[6:] {
		set(binary.BigEndian.Uint16(p), binary.BigEndian.Uint32(p[2:]))
	}
	return nil
}

// Increment returns what a WINDOW_UPDATE frame adds.
func (f Frame) Increment() (int64, error) {
	if len(f.Payload) != 4 {
		return 0, fmt.Errorf("http2: WINDOW_UPDATE of %d bytes", len(f.Payload))
	}
	return int64(binary.BigEndian.Uint32(f.Payload) & 0x7fffffff), nil
}
