package measure

// Codec is what one tick takes in an encoding, on the machine of the results, in a
// loop that does nothing else: caches are warm, and a stream pays more.
type Codec struct {
	Encoding string  `json:"encoding"`
	EncodeNS int64   `json:"encode_ns"`
	DecodeNS int64   `json:"decode_ns"` // of a message of one tick
	Bytes    float64 `json:"bytes"`     // mean, without envelope
}
