package restclient

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/tickgauge/tickgauge/proto/wire"
)

// BenchmarkExecute is what an order of 1 KB and its answer cost one entry, the
// handler of the same process included, which reads the order and says the same
// each time.
func BenchmarkExecute(b *testing.B) {
	for _, version := range versions {
		for _, enc := range wire.Encodings() {
			b.Run("HTTP"+version+"/"+enc.String(), func(b *testing.B) {
				answer, err := wire.AppendExecution(nil, enc, filled(limit("bench", "AAA")))
				if err != nil {
					b.Fatal(err)
				}
				target := serve(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = w.Write(answer)
				}))
				e := openOrders(b, dialOrders(b, target, OrderOptions{HTTPVersion: version, Encoding: enc, PayloadBytes: 1024}))
				req := limit("bench", "AAA")
				i := 0
				b.ReportAllocs()
				for b.Loop() {
					i++
					req.ClOrdID = fmt.Sprintf("bench-%010d", i)
					if _, err := e.Execute(b.Context(), req); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
