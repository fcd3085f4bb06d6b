package restserver

import (
	"net/http"

	"github.com/tickgauge/tickgauge/feed"
)

// healthy says that the process answers, also while it shuts down.
func (s *Server) healthy(*http.Request) ([]byte, error) {
	return []byte(`{"status":"ok"}`), nil
}

// ready says whether new streams are taken.
func (s *Server) ready(*http.Request) ([]byte, error) {
	select {
	case <-s.exchange.Closing():
		return nil, &feed.Problem{Code: feed.CodeShuttingDown, Message: "the exchange is shutting down; it takes no new streams"}
	default:
		return []byte(`{"status":"ready"}`), nil
	}
}
