package wire

import (
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func unmarshalRequestJSON(data []byte, q *feed.Request, o *order.Request) error {
	return readJSON(data, "", true, func(r *reader) error {
		err := r.object(func(name []byte) error {
			if action := actionNamed(name); action != order.ActionNone && o != nil {
				return r.union(action, o, errNoStreamRequest)
			}
			return r.requestMember(name, q)
		})
		switch {
		case err != nil:
			return err
		case o == nil:
			if !oneRequest(q) {
				return errNoRequest
			}
		case o.Action == order.ActionNone && !oneRequest(q), o.Action != order.ActionNone && *q != (feed.Request{}):
			return errNoStreamRequest
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
			case "account":
				return r.string(&s.Account)
			case "afterReportSeq":
				s.Resume = true
				return r.uint64(&s.AfterReportSeq)
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
