package feed

// ring keeps the newest frames of a symbol. It grows to its limit.
type ring struct {
	limit   int
	frames  []*Frame
	start   int
	evicted uint64 // hub_seq of the newest frame that is no longer kept
}

func (r *ring) push(f *Frame) {
	if len(r.frames) < r.limit {
		r.frames = append(r.frames, f)
		return
	}
	r.evicted = r.frames[r.start].Tick.HubSeq
	r.frames[r.start] = f
	r.start = (r.start + 1) % len(r.frames)
}

// after appends the kept frames with a larger hub_seq, oldest first.
func (r *ring) after(dst []*Frame, hubSeq uint64) []*Frame {
	for i := range r.frames {
		if f := r.frames[(r.start+i)%len(r.frames)]; f.Tick.HubSeq > hubSeq {
			dst = append(dst, f)
		}
	}
	return dst
}
