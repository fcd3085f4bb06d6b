package wire

import (
	"encoding/base64"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/tickgauge/tickgauge/feed"
)

// MaxTickBytes is the most that PaddedHubEncoders pads to.
const MaxTickBytes = 1 << 16

// What a tick's padding takes beside its bytes.
const (
	paddingNumber = protowire.Number(16)
	paddingMember = `,"padding":""`
)

// PaddedHubEncoders is HubEncoders with ticks that are padded to about size bytes,
// a few more or less; at most MaxTickBytes count. The padding is a field that
// readers pass over. One that is as long already has none. It is counted before
// what a transport puts around a tick: an SSE event with protobuf in base64 is a
// third longer.
//
// Every tick has the same padding. Its bytes are random, so that compression finds
// nothing in them; in JSON they are base64, of which it wins back a quarter.
func PaddedHubEncoders(size int) []feed.Encoder {
	size = max(0, min(size, MaxTickBytes))
	padding := make([]byte, size)
	_, _ = rand.NewChaCha8([32]byte{}).Read(padding) // never fails
	text := base64.StdEncoding.EncodeToString(padding)
	field := func(dst []byte, t *feed.Tick) []byte { return appendPaddedField(dst, t, size, padding) }
	object := func(dst []byte, t *feed.Tick) []byte { return appendPaddedJSON(dst, t, size, text) }
	return append(hubEncoders(field, object), frameEncoders(field, object)...)
}

// appendPaddedField encodes the tick twice, for its size comes before it.
func appendPaddedField(dst []byte, t *feed.Tick, size int, padding []byte) []byte {
	bare := appendTickField(dst, t)
	room := size - (len(bare) - len(dst)) - protowire.SizeTag(paddingNumber)
	if room -= protowire.SizeVarint(uint64(max(room, 0))); room <= 0 {
		return bare
	}
	return appendTickWith(dst, t, padding[:room])
}

// appendPaddedJSON takes padding that is cut to whole groups of base64.
func appendPaddedJSON(dst []byte, t *feed.Tick, size int, padding string) []byte {
	bare := appendTickJSON(dst, t)
	room := (size - (len(bare) - len(dst)) - len(paddingMember)) &^ 3
	if room <= 0 {
		return bare
	}
	member := paddingMember[:len(paddingMember)-1]
	return append(append(append(bare[:len(bare)-1], member...), padding[:room]...), `"}`...)
}
