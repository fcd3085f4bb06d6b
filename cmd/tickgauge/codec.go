package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/tickgauge/tickgauge/clients/measure"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/feed/synth"
	"github.com/tickgauge/tickgauge/proto/wire"
)

const (
	codecTicks = 1000                   // of the synthetic source, all symbols
	codecTime  = 100 * time.Millisecond // of encoding, and again of decoding
)

// measureCodec times encoding and decoding of one tick a message with the codec that
// exchange and fleet have, in a loop of one goroutine. Each pass over the ticks is a
// sample, and the median of the samples counts, so that what else the machine did in
// some of them does not.
func measureCodec() ([]measure.Codec, error) {
	ticks, epoch, err := codecSample()
	if err != nil {
		return nil, fmt.Errorf("measure the codec: %w", err)
	}
	var out []measure.Codec
	for _, enc := range wire.Encodings() {
		encode := wire.HubEncoders()[int(enc)] // TickProtobuf and TickJSON are numbered as the encodings
		messages, bytes := make([][]byte, len(ticks)), 0
		for i := range ticks {
			one := encode(nil, epoch, &ticks[i])
			bytes += len(one)
			messages[i] = wire.AppendTicks(nil, enc, [][]byte{one})
		}
		dst := make([]byte, 0, 1<<10)
		encodeNS, _ := perTick(len(ticks), func(i int) error {
			dst = encode(dst[:0], epoch, &ticks[i])
			return nil
		})
		var m feed.Message
		decodeNS, err := perTick(len(ticks), func(i int) error { return wire.UnmarshalMessage(enc, messages[i], &m) })
		if err != nil {
			return nil, fmt.Errorf("measure the codec: %w", err)
		}
		out = append(out, measure.Codec{Encoding: enc.String(), EncodeNS: encodeNS, DecodeNS: decodeNS, Bytes: float64(bytes) / float64(len(ticks))})
	}
	return out, nil
}

// codecSample are ticks as a hub publishes them.
func codecSample() (ticks []feed.Tick, epoch string, err error) {
	source, err := synth.New(synth.Options{Seed: defaultSeed})
	if err != nil {
		return nil, "", err
	}
	symbols := source.Symbols()
	hub, err := feed.NewHub(symbols, feed.HubOptions{Ring: 1})
	if err != nil {
		return nil, "", err
	}
	opening := source.Opening()
	for i := range opening {
		hub.Publish(&opening[i], feed.Now())
	}
	var u feed.Update
	for range codecTicks {
		if err := source.Next(&u); err != nil {
			return nil, "", err
		}
		hub.Publish(&u, feed.Now())
		t, _, err := hub.Newest(symbols[u.Symbol].Name)
		if err != nil {
			return nil, "", err
		}
		ticks = append(ticks, t)
	}
	return ticks, hub.Epoch(), nil
}

// perTick returns the median time in ns that do takes for one of n, by passes over
// all of them. The first error of do ends it.
func perTick(n int, do func(i int) error) (int64, error) {
	var passes []int64
	for began := feed.Now(); feed.Now()-began < int64(codecTime); {
		at := feed.Now()
		for i := range n {
			if err := do(i); err != nil {
				return 0, err
			}
		}
		passes = append(passes, (feed.Now()-at)/int64(n))
	}
	slices.Sort(passes)
	return passes[len(passes)/2], nil
}
