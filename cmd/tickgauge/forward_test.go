//go:build overload

package main

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// forward passes connections on to a target, and what the target answers through a
// filter. It returns its own address.
func forward(t *testing.T, target string, filter func(to io.Writer, from io.Reader)) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ln.Close() })
	go func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			_ = server.(*net.TCPConn).SetReadBuffer(4 << 10) // so that a slow reader is felt
			go func() {
				_, _ = io.Copy(server, client)
				_ = server.Close()
			}()
			go func() {
				filter(client, server)
				_ = client.Close()
				_ = server.Close()
			}()
		}
	}()
	return ln.Addr().String()
}

// slow passes on so many bytes a second.
func slow(bytesPerSecond int) func(io.Writer, io.Reader) {
	return func(to io.Writer, from io.Reader) {
		const perSecond = 20
		buf := make([]byte, bytesPerSecond/perSecond)
		tick := time.NewTicker(time.Second / perSecond)
		defer tick.Stop()
		for range tick.C {
			n, err := from.Read(buf)
			if _, e := to.Write(buf[:n]); err != nil || e != nil {
				return
			}
		}
	}
}

// replace passes on everything with one text in place of another of the same length.
func replace(old, with string) func(io.Writer, io.Reader) {
	return func(to io.Writer, from io.Reader) {
		buf := make([]byte, 64<<10) // a hello comes in one piece
		for {
			n, err := from.Read(buf)
			if _, e := to.Write(bytes.ReplaceAll(buf[:n], []byte(old), []byte(with))); err != nil || e != nil {
				return
			}
		}
	}
}
