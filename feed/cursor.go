package feed

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Cursor is where a stream stood: all ticks up to HubSeq of the exchange run
// Epoch are accounted for. Its text form is <epoch>-<hub_seq>.
type Cursor struct {
	Epoch  string
	HubSeq uint64
}

// String writes the cursor in the form that ParseCursor reads.
func (c Cursor) String() string { return string(c.Append(nil)) }

// Append appends the text form of the cursor.
func (c Cursor) Append(dst []byte) []byte {
	dst = append(dst, c.Epoch...)
	dst = append(dst, '-')
	return strconv.AppendUint(dst, c.HubSeq, 10)
}

// ParseCursor reads <epoch>-<hub_seq>, the epoch in lower-case hexadecimal. Any
// other text is an error; whether the epoch is the exchange's own is not asked.
func ParseCursor(text string) (Cursor, error) {
	epoch, seq, ok := strings.Cut(text, "-")
	if !ok || epoch == "" || len(epoch) > 32 || strings.Trim(epoch, "0123456789abcdef") != "" {
		return Cursor{}, fmt.Errorf("cursor %s: want <epoch>-<hub_seq>, as in the hello's epoch and a tick's hub_seq", quoteShort(text))
	}
	n, err := strconv.ParseUint(seq, 10, 64)
	if err != nil || seq[0] == '+' {
		return Cursor{}, fmt.Errorf("cursor %s: %s is no sequence number", quoteShort(text), quoteShort(seq))
	}
	return Cursor{Epoch: epoch, HubSeq: n}, nil
}

func newEpoch() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails: crypto/rand ends the process instead
	return hex.EncodeToString(b[:])
}
