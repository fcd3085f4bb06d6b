package wire

// WebSocketPath is where the exchange serves its stream over WebSocket, and the
// subprotocols are what a client names one of: there is no default.
const (
	WebSocketPath    = "/v2/stream"
	SubprotocolJSON  = "tickgauge.v1.json"  // text frames
	SubprotocolProto = "tickgauge.v1.proto" // binary frames
)
