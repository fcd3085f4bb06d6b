package read

// rest keeps the beginning of what has not come whole.
type rest struct{ kept []byte }

// join returns what was kept with b after it; keep must follow.
func (r *rest) join(b []byte) []byte {
	if len(r.kept) == 0 {
		return b
	}
	r.kept = append(r.kept, b...)
	return r.kept
}

// keep keeps the end of what join returned.
func (r *rest) keep(end []byte) {
	if len(end) == 0 {
		r.kept = nil
		return
	}
	r.kept = append([]byte(nil), end...)
}
