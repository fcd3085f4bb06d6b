package feed

// ProblemCode is the machine-readable kind of a Problem, the same word on every
// transport.
type ProblemCode string

// The codes of market data. docs/wire.md maps them to gRPC and HTTP statuses.
const (
	CodeBadRequest        ProblemCode = "BAD_REQUEST"        // malformed, or nonsense for this stream
	CodeBadCursor         ProblemCode = "BAD_CURSOR"         // a cursor that is no cursor
	CodeUnknownSymbol     ProblemCode = "UNKNOWN_SYMBOL"     // the exchange does not list it
	CodeAlreadySubscribed ProblemCode = "ALREADY_SUBSCRIBED" // a second subscribe to a symbol
	CodeNotSubscribed     ProblemCode = "NOT_SUBSCRIBED"     // an unsubscribe from what was not subscribed
	CodeUnsupported       ProblemCode = "UNSUPPORTED"        // an encoding, subprotocol or policy not served
	CodeTooLarge          ProblemCode = "MESSAGE_TOO_LARGE"  // beyond the message limit
	CodeTooManySymbols    ProblemCode = "TOO_MANY_SYMBOLS"   // beyond the symbols a stream may have
	CodeRateLimited       ProblemCode = "RATE_LIMITED"       // too many subscribe requests a second
	CodeTooManyStreams    ProblemCode = "TOO_MANY_STREAMS"   // the exchange has as many as it may
	CodeSlowConsumer      ProblemCode = "SLOW_CONSUMER"      // policy disconnect, or writes that do not progress
	CodeShuttingDown      ProblemCode = "SHUTTING_DOWN"      // the exchange ends
	CodeNotFound          ProblemCode = "NOT_FOUND"          // no such path
	CodeMethodNotAllowed  ProblemCode = "METHOD_NOT_ALLOWED" // the path exists, the method does not
	CodeNoTick            ProblemCode = "NO_TICK"            // the symbol has had no tick yet
	CodeInternal          ProblemCode = "INTERNAL"           // a fault of the exchange
)

// Problem is an error in the caller's terms. It is an error itself, so that a
// server can return one and its transport can tell it in its own way.
type Problem struct {
	Code      ProblemCode
	Message   string
	Symbol    string // the symbol at fault, where there is one
	RequestID string // set where the transport has request ids
	Fatal     bool   // the stream ends after it
}

// maxProblemText bounds the message of a problem, which may quote its cause.
const maxProblemText = 1024

// Bounded returns the problem with its text cut to what a waiting answer may
// take of memory; itself where it is short.
func (p *Problem) Bounded() *Problem {
	if len(p.Message) <= maxProblemText && len(p.Symbol) <= maxProblemText {
		return p
	}
	short := *p
	short.Message, short.Symbol = shorten(p.Message, maxProblemText), shorten(p.Symbol, maxProblemText)
	return &short
}

// Error returns the message with its code.
func (p *Problem) Error() string { return string(p.Code) + ": " + p.Message }
