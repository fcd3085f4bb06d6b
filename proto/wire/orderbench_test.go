package wire

import (
	"strings"
	"testing"

	"google.golang.org/grpc/mem"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
)

func benchOrder() order.Request {
	return order.Request{Action: order.ActionExecute, Account: "acct-1", ClOrdID: "w0042-00123456", Symbol: "SYM0042", Side: feed.SideBuy,
		Type: order.Limit, TimeInForce: order.IOC, OrderQty: 1_00000000, Price: 61_837_640_000_000}
}

func benchExecution() order.Execution {
	return order.Execution{Account: "acct-1", ClOrdID: "w0042-00123456", Symbol: "SYM0042", Side: feed.SideBuy, Type: order.Limit,
		TimeInForce: order.IOC, OrderQty: 1_00000000, Price: 61_837_640_000_000, OrderID: 123_456, ExecID: 246_912, ReportSeq: 246_912,
		ExecType: order.ExecTrade, OrdStatus: order.Filled, LastQty: 1_00000000, LastPx: 61_837_640_000_000, CumQty: 1_00000000,
		AvgPx: 61_837_640_000_000, TransactTimeNS: 1_767_225_600_123_456_789, ServiceNS: 100_000}
}

// each runs the benchmark in both encodings, f once a loop.
func each(b *testing.B, f func(enc Encoding) func() error) {
	for _, enc := range Encodings() {
		b.Run(enc.String(), func(b *testing.B) {
			run := f(enc)
			b.ReportAllocs()
			for b.Loop() {
				if err := run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAppendExecution(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		e, dst := benchExecution(), make([]byte, 0, 1024)
		return func() (err error) {
			dst, err = AppendExecution(dst[:0], enc, &e)
			return err
		}
	})
}

func BenchmarkAppendExecutionMessage(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		e, dst := benchExecution(), make([]byte, 0, 1024)
		return func() (err error) {
			dst, err = AppendExecutionMessage(dst[:0], enc, &e)
			return err
		}
	})
}

func BenchmarkUnmarshalExecution(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		e := benchExecution()
		data, err := AppendExecution(nil, enc, &e)
		data = must(b, data, err)
		return func() error { return UnmarshalExecution(enc, data, &e) }
	})
}

func BenchmarkUnmarshalStreamMessage(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		e := benchExecution()
		data, err := AppendExecutionMessage(nil, enc, &e)
		data = must(b, data, err)
		var m StreamMessage
		return func() error { return UnmarshalStreamMessage(enc, data, &m) }
	})
}

func BenchmarkAppendOrder(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		q, dst := benchOrder(), make([]byte, 0, 1024)
		return func() (err error) {
			dst, err = AppendOrder(dst[:0], enc, &q, "")
			return err
		}
	})
}

func BenchmarkUnmarshalOrder(b *testing.B) {
	for name, padding := range map[string]string{"bare": "", "1KB": strings.Repeat("x", 900)} {
		b.Run(name, func(b *testing.B) {
			each(b, func(enc Encoding) func() error {
				q := benchOrder()
				data, err := AppendOrder(nil, enc, &q, padding)
				data = must(b, data, err)
				return func() error { return UnmarshalOrder(enc, data, order.ActionExecute, &q) }
			})
		})
	}
}

func BenchmarkUnmarshalStreamRequest(b *testing.B) {
	each(b, func(enc Encoding) func() error {
		q := StreamRequest{Order: benchOrder()}
		data, err := AppendStreamRequest(nil, enc, &q)
		data = must(b, data, err)
		return func() error { return UnmarshalStreamRequest(enc, data, &q) }
	})
}

func BenchmarkCodecOrder(b *testing.B) {
	b.Run("marshal-execution", func(b *testing.B) {
		each(b, func(enc Encoding) func() error {
			e := benchExecution()
			return func() error {
				_, err := Codec(enc).Marshal(&e)
				return err
			}
		})
	})
	b.Run("unmarshal-order", func(b *testing.B) {
		each(b, func(enc Encoding) func() error {
			q := benchOrder()
			data, err := AppendOrder(nil, enc, &q, "")
			in := mem.BufferSlice{mem.SliceBuffer(must(b, data, err))}
			asked := AskedOrder{Unary: order.ActionExecute}
			return func() error {
				if err := Codec(enc).Unmarshal(in, &asked); err != nil {
					return err
				}
				return asked.Err
			}
		})
	})
}

func TestAppendOrdersDoesNotAllocate(t *testing.T) {
	e, q, dst := benchExecution(), StreamRequest{Order: benchOrder()}, make([]byte, 0, 1024)
	for _, enc := range Encodings() {
		for name, call := range map[string]func() ([]byte, error){
			"execution":         func() ([]byte, error) { return AppendExecution(dst[:0], enc, &e) },
			"execution message": func() ([]byte, error) { return AppendExecutionMessage(dst[:0], enc, &e) },
			"order":             func() ([]byte, error) { return AppendOrder(dst[:0], enc, &q.Order, "") },
			"order request":     func() ([]byte, error) { return AppendOrderRequest(dst[:0], enc, &q.Order, "") },
			"stream request":    func() ([]byte, error) { return AppendStreamRequest(dst[:0], enc, &q) },
		} {
			if n := testing.AllocsPerRun(100, func() {
				if _, err := call(); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s %s: %v allocations", enc, name, n)
			}
		}
	}
}
