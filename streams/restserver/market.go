package restserver

import (
	"net/http"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/proto/wire"
)

// quote answers with the newest tick of the symbol that the path names, which
// ServeMux matches as it was sent, so that an encoded slash stays in the name.
// Only a name that is one slash and nothing else it takes for a trailing slash.
func (s *Server) quote(r *http.Request) ([]byte, error) {
	symbol := r.PathValue("symbol")
	t, ok, err := s.exchange.Hub().Newest(symbol)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, &feed.Problem{Code: feed.CodeNoTick, Symbol: symbol, Message: "the symbol has had no tick yet"}
	}
	return wire.AppendTick(nil, &t)
}

func (s *Server) symbols(*http.Request) ([]byte, error) {
	return wire.AppendSymbols(nil, s.exchange.Hub().Symbols())
}
