package wire

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

// The names of the protobuf values without the prefix of their type, by number;
// the domain and the protobuf number them alike.
var (
	sideNames   = []string{"UNSPECIFIED", "BUY", "SELL"}
	originNames = []string{"UNSPECIFIED", "SCHEDULE", "CAPTURE", "ORDER"}
	policyNames = []string{"UNSPECIFIED", "CONFLATE", "DROP_OLDEST", "DISCONNECT"}
	reasonNames = []string{"UNSPECIFIED", "CONFLATED", "DROPPED", "GAP", "EPOCH"}

	ordTypeNames  = []string{"UNSPECIFIED", "LIMIT", "MARKET"}
	tifNames      = []string{"UNSPECIFIED", "DAY", "IOC", "FOK"}
	execTypeNames = []string{"UNSPECIFIED", "NEW", "TRADE", "CANCELED", "REPLACED", "REJECTED"}
	statusNames   = []string{"UNSPECIFIED", "NEW", "PARTIALLY_FILLED", "FILLED", "CANCELED", "REJECTED"}
)

// actionNames are the members that hold an order request, by action.
var actionNames = []string{order.ActionExecute: "execute", order.ActionCancel: "cancel", order.ActionReplace: "replace"}

// actionNamed returns ActionNone for a name that is no action's.
func actionNamed(name []byte) order.Action {
	for i, known := range actionNames {
		if i > 0 && string(name) == known {
			return order.Action(i)
		}
	}
	return order.ActionNone
}

// ParsePolicy reads conflate, drop-oldest or disconnect, in any case and with
// '-' or '_', as flags and query strings give them. Empty text is PolicyNone;
// anything else is an error that lists the choices.
func ParsePolicy(text string) (feed.Policy, error) {
	if text == "" {
		return feed.PolicyNone, nil
	}
	for i, name := range policyNames[1:] {
		if sameWord(name, text) {
			return feed.Policy(i + 1), nil
		}
	}
	return 0, fmt.Errorf("unknown policy %s, want conflate, drop-oldest or disconnect", quoteShort(text))
}

// PolicyName returns what ParsePolicy reads, in the lower-case form of flags; it
// is empty for PolicyNone.
func PolicyName(p feed.Policy) string {
	if p == feed.PolicyNone {
		return ""
	}
	if int(p) >= len(policyNames) {
		return "policy(" + strconv.Itoa(int(p)) + ")"
	}
	return strings.ReplaceAll(strings.ToLower(policyNames[p]), "_", "-")
}

// enumName writes a number without a name as UNSPECIFIED; checkMessage has
// refused it where an error can be returned.
func enumName[E ~uint8](v E, names []string) string {
	if int(v) < len(names) {
		return names[v]
	}
	return names[0]
}

func parseEnum[E ~uint8](text []byte, names []string) (E, error) {
	for i, name := range names {
		if sameWord(name, text) {
			return E(i), nil
		}
	}
	return 0, fmt.Errorf("unknown value %s, want one of %s", quoteShort(text), strings.Join(names, ", "))
}

// sameWord compares text with a name of capitals and underscores.
func sameWord[T ~string | ~[]byte](name string, text T) bool {
	if len(name) != len(text) {
		return false
	}
	for i := range len(name) {
		c := text[i]
		switch {
		case 'a' <= c && c <= 'z':
			c -= 'a' - 'A'
		case c == '-':
			c = '_'
		}
		if c != name[i] {
			return false
		}
	}
	return true
}

func checkEnum[E ~uint8](name string, v E, names []string) error {
	if int(v) >= len(names) {
		return unknownNumber(name, int64(v), names)
	}
	return nil
}

// enumFromProto takes a number of the wire, which proto3 leaves open.
func enumFromProto[E ~uint8, P ~int32](name string, v P, names []string) (E, error) {
	if v < 0 || int(v) >= len(names) {
		return 0, unknownNumber(name, int64(v), names)
	}
	return E(v), nil
}

func unknownNumber(name string, v int64, names []string) error {
	choices := make([]string, len(names))
	for i, n := range names {
		choices[i] = strconv.Itoa(i) + " " + n
	}
	return errors.New(name + ": unknown value " + strconv.FormatInt(v, 10) + ", want one of " + strings.Join(choices, ", "))
}
