package wire

import "encoding/binary"

// WebSocketPath is where the exchange serves its stream over WebSocket, and the
// subprotocols are what a client names one of: there is no default.
const (
	WebSocketPath    = "/v2/stream"
	SubprotocolJSON  = "tickgauge.v1.json"  // text frames
	SubprotocolProto = "tickgauge.v1.proto" // binary frames
)

// The opcodes of data frames (RFC 6455, section 5.2).
const (
	OpText   = 1
	OpBinary = 2
)

// AppendFrame appends payload as one whole unmasked frame, as a server sends
// (RFC 6455, section 5.2).
func AppendFrame(dst []byte, opcode byte, payload []byte) []byte {
	return append(AppendFrameHeader(dst, opcode, len(payload)), payload...)
}

// AppendFrameHeader appends what stands before a payload of so many bytes.
func AppendFrameHeader(dst []byte, opcode byte, size int) []byte {
	const final = 0x80
	dst = append(dst, final|opcode)
	switch {
	case size < 126:
		return append(dst, byte(size))
	case size < 1<<16:
		return binary.BigEndian.AppendUint16(append(dst, 126), uint16(size))
	default:
		return binary.BigEndian.AppendUint64(append(dst, 127), uint64(size))
	}
}

// mostHeader is the longest header of a frame without a mask.
const mostHeader = 10

// openFrame leaves room for a header, and closeFrame puts it before what was appended
// since, in a dst that was start bytes long.
func openFrame(dst []byte) []byte { return append(dst, make([]byte, mostHeader)...) }

func closeFrame(dst []byte, start int, opcode byte) []byte {
	payload := dst[start+mostHeader:]
	headed := AppendFrameHeader(dst[:start], opcode, len(payload))
	return append(headed, payload...)
}

// frameHeader returns how long the header of an unmasked frame is.
func frameHeader(frame []byte) int {
	switch frame[1] {
	case 126:
		return 4
	case 127:
		return 10
	}
	return 2
}
