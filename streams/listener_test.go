package streams

import (
	"errors"
	"io"
	"net"
	"testing"
)

func TestTraffic(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var traffic Traffic
	ln := traffic.Listen(inner)
	pairs := make([][2]net.Conn, 2)
	for i := range pairs {
		c, err := net.Dial("tcp", ln.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		s, err := ln.Accept()
		if err != nil {
			t.Fatal(err)
		}
		pairs[i] = [2]net.Conn{c, s}
	}
	counts := func(want TrafficCount) {
		t.Helper()
		if got := traffic.Count(); got != want {
			t.Errorf("the traffic is %+v, want %+v", got, want)
		}
	}
	counts(TrafficCount{Accepted: 2, Open: 2})
	for i, text := range []string{"hello", "good"} {
		c, s := pairs[i][0], pairs[i][1]
		if _, err := c.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(io.LimitReader(s, int64(len(text)))); string(got) != text || err != nil {
			t.Fatalf("read %q, %v", got, err)
		}
		if _, err := s.Write([]byte(text + text)); err != nil {
			t.Fatal(err)
		}
	}
	counts(TrafficCount{Accepted: 2, Open: 2, ReadBytes: 9, WrittenBytes: 18})
	// Several buffers at once go through the count too.
	if _, err := (&net.Buffers{[]byte("ab"), []byte("c")}).WriteTo(pairs[0][1]); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_ = pairs[0][1].Close()
	}
	if _, err := pairs[0][1].Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write after close: %v", err)
	}
	counts(TrafficCount{Accepted: 2, Open: 1, ReadBytes: 9, WrittenBytes: 21})
	_ = pairs[1][1].Close()
	_ = ln.Close()
	if _, err := ln.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close: %v", err)
	}
	counts(TrafficCount{Accepted: 2, ReadBytes: 9, WrittenBytes: 21})
}
