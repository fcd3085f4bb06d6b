package wire

import "github.com/tickgauge/tickgauge/feed"

func unmarshalRequestJSON(data []byte, q *feed.Request) error {
	return readJSON(data, "", true, func(r *reader) error {
		if err := r.object(func(name []byte) error { return r.requestMember(name, q) }); err != nil {
			return err
		}
		if !oneRequest(q) {
			return errNoRequest
		}
		return nil
	})
}

func (r *reader) requestMember(name []byte, q *feed.Request) error {
	switch string(name) {
	case "subscribe":
		s := new(feed.Subscribe)
		q.Subscribe = s
		return r.object(func(name []byte) error {
			switch string(name) {
			case "symbols":
				return r.strings(&s.Symbols)
			case "policy":
				return readEnum(r, &s.Policy, policyNames)
			case "cursor":
				return r.string(&s.Cursor)
			}
			return r.unknown()
		})
	case "unsubscribe":
		u := new(feed.Unsubscribe)
		q.Unsubscribe = u
		return r.object(func(name []byte) error {
			if string(name) == "symbols" {
				return r.strings(&u.Symbols)
			}
			return r.unknown()
		})
	case "ping":
		p := new(feed.Ping)
		q.Ping = p
		return r.object(func(name []byte) error {
			if string(name) == "id" {
				return r.uint64(&p.ID)
			}
			return r.unknown()
		})
	}
	return r.unknown()
}
