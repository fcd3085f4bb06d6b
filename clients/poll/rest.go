package poll

// keepBytes is the most that an empty Rest keeps of what it has needed.
const keepBytes = 4 << 10

// Rest keeps the beginning of what is not whole yet, from one read to the next. The
// zero value is empty. One goroutine may use it.
type Rest struct{ kept []byte }

// Join returns what is kept with b after it: b itself where nothing is kept. The
// result is valid until Keep, which must follow.
func (r *Rest) Join(b []byte) []byte {
	if len(r.kept) == 0 {
		return b
	}
	r.kept = append(r.kept, b...)
	return r.kept
}

// Keep keeps the end of what Join returned, copied where it must be.
func (r *Rest) Keep(end []byte) {
	switch {
	case len(end) == 0 && cap(r.kept) > keepBytes:
		r.kept = nil
	case len(end) == len(r.kept) && len(end) > 0 && &end[0] == &r.kept[0]:
	default:
		r.kept = append(r.kept[:0], end...)
	}
}

// Len is how many bytes are kept.
func (r *Rest) Len() int { return len(r.kept) }
