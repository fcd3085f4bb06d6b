package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/order/desk"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

// keyPair is the TLS of a server and of a client that trusts it.
func keyPair(t *testing.T, now time.Time, hosts ...string) (cert tls.Certificate, client *tls.Config) {
	t.Helper()
	cert, ca, err := streams.SelfSigned(hosts, now)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return cert, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
}

func TestTransportsOverTLSAndCompressed(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	for _, secure := range []bool{false, true} {
		for _, compress := range []bool{false, true} {
			name := map[bool]string{false: "plain", true: "tls"}[secure] + map[bool]string{true: ", compressed"}[compress]
			t.Run(name, func(t *testing.T) {
				eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
					opts, dial := streams.Options{Compression: true}, dialOptions{encoding: enc, compress: compress}
					if secure {
						opts.TLS, dial.tls = serverTLS(cert), trusting
					}
					v := newVenue(t, []string{"AAA"}, 0, opts)
					v.publish(0, 1)
					j := newJournal()
					conn, err := openWith(t, v, tr, dial, j, feed.Subscribe{Symbols: []string{"AAA"}})
					if err != nil {
						t.Fatal(err)
					}
					const n = 200
					v.publish(0, n)
					newest, _, _ := v.hub.Newest("AAA")
					j.await(t, "the ticks", func(j *journal) bool {
						got := j.ticks("AAA")
						return len(got) > 0 && got[len(got)-1] == newest
					})
					if err := conn.Close(); err != nil {
						t.Error(err)
					}
					if listed, err := tr.listSymbols(t.Context(), v.target(tr), dial.tls); err != nil || len(listed) != 1 {
						t.Errorf("listed %v: %v", listed, err)
					}
				})
			})
		}
	}
}

// TestCompressionSavesBytes: what a transport says to do it does. The ticks come
// one message each, so that a batch does not do it instead.
func TestCompressionSavesBytes(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		if enc != wire.JSON {
			t.Skip("a tick in protobuf is too short to become shorter")
		}
		var written [2]int64
		for i, compress := range []bool{false, true} {
			v := newVenue(t, []string{"AAA"}, 0, streams.Options{Compression: true})
			j := newJournal()
			if _, err := openWith(t, v, tr, dialOptions{encoding: enc, compress: compress}, j, feed.Subscribe{Symbols: []string{"AAA"}}); err != nil {
				t.Fatal(err)
			}
			for n := range 20 {
				v.publish(0, 1)
				j.await(t, "tick", func(j *journal) bool { return len(j.ticks("AAA")) == n+1 })
			}
			written[i] = v.traffic.Count().WrittenBytes
		}
		if written[1] > written[0]*9/10 {
			t.Errorf("%d bytes, compressed %d", written[0], written[1])
		}
	})
}

func TestExchangeThatDoesNotCompress(t *testing.T) {
	eachTransport(t, func(t *testing.T, tr *transport, enc wire.Encoding) {
		if tr.overGRPC {
			t.Skip("gRPC has gzip for whoever asks")
		}
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{})
		_, err := openWith(t, v, tr, dialOptions{encoding: enc, compress: true}, newJournal(), feed.Subscribe{Symbols: []string{"AAA"}})
		if err == nil || !strings.Contains(err.Error(), "start it with --compression") {
			t.Errorf("%v, want what to do", err)
		}
	})
}

func TestPathsOverTLSAndCompressed(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	eachPath(t, func(t *testing.T, p *orderPath, enc wire.Encoding) {
		v := orderVenue(t, streams.Options{TLS: serverTLS(cert), Compression: true}, desk.Options{})
		for i, compress := range []bool{false, p.compression != ""} {
			e := v.enterWith(t, p, pathOptions{encoding: enc, account: "acct-1", tls: trusting, compress: compress})
			if got := execute(t, e, ioc([]string{"a", "b"}[i], feed.SideBuy, lot, 101e9)); got.OrdStatus != order.Filled {
				t.Errorf("the answer is %+v", got)
			}
		}
		quote, done, err := p.quoter(v.orderTarget(p), trusting, "A")
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if tick, err := quote(t.Context()); err != nil || tick.LastPx != 101e9 {
			t.Errorf("quote %+v: %v", tick, err)
		}
	})
}

// TestHTTPVersionIsTheOneAskedFor: a server that agrees on no protocol would be
// spoken to in HTTP/1.1 where the row says 2.
func TestHTTPVersionIsTheOneAskedFor(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	ln := acceptTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}})
	for i := range transports {
		tr := &transports[i]
		if tr.httpVersion != "2" {
			continue
		}
		dialer, err := tr.dialer(ln, dialOptions{tls: trusting})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dialer.Dial(t.Context(), 0, newJournal()); err == nil || !strings.Contains(err.Error(), `it agreed to "" where "h2" was offered`) {
			t.Errorf("%s: %v, want the protocol", tr.name, err)
		}
	}
}

// acceptTLS shakes hands with whoever comes, until the test ends, and hangs up.
func acceptTLS(t *testing.T, config *tls.Config) string {
	t.Helper()
	ln, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.(*tls.Conn).HandshakeContext(t.Context()) // fails where the client refuses
			_, _ = c.Read(make([]byte, 1))                  // what it has to say to that
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = ln.Close(); <-done })
	return ln.Addr().String()
}

func TestTLSMistakesSayWhatToDo(t *testing.T) {
	good, trusting := keyPair(t, time.Now(), "127.0.0.1")
	old, trustingOld := keyPair(t, time.Now().AddDate(-3, 0, 0), "127.0.0.1")
	elsewhere, trustingElsewhere := keyPair(t, time.Now(), "exchange.example")
	_, stranger := keyPair(t, time.Now(), "127.0.0.1")
	older := serverTLS(good)
	older.MinVersion, older.MaxVersion = 0, tls.VersionTLS12
	for _, c := range []struct {
		name           string
		server, client *tls.Config
		say            string
	}{
		{"wrong CA", serverTLS(good), stranger, "give that CA's with --ca FILE"},
		{"expired", serverTLS(old), trustingOld, "renew it"},
		{"other name", serverTLS(elsewhere), trustingElsewhere, "exchange.example"},
		{"no TLS there", nil, trusting, "does not speak TLS"},
		{"no TLS here", serverTLS(good), nil, "speaks TLS: trust its CA with --ca FILE"},
		{"TLS 1.2 there", older, trusting, "TLS 1.3"},
	} {
		v := newVenue(t, []string{"AAA"}, 0, streams.Options{TLS: c.server})
		for i := range transports {
			tr := &transports[i]
			_, err := symbolsOf(t.Context(), v.target(tr), sideOf(tr.overGRPC), c.client, tr.listSymbols)
			if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s, list over %s: %v, want one line with %q", c.name, tr.name, err, c.say)
			}
			dialer, err := tr.dialer(v.target(tr), dialOptions{tls: c.client})
			if err != nil {
				t.Fatal(err)
			}
			var conn clients.Conn
			if conn, err = dialer.Dial(t.Context(), 0, newJournal()); err == nil {
				err = conn.Open(t.Context(), 0, feed.Subscribe{Symbols: []string{"AAA"}})
				_ = conn.Close()
			}
			if err == nil {
				t.Errorf("%s: %s opened", c.name, tr.name)
			} else if wrong := explainTLS(t.Context(), v.target(tr), c.client, err); wrong == nil || !strings.Contains(wrong.Error(), c.say) {
				t.Errorf("%s, dial %s: %v of %v, want %q", c.name, tr.name, wrong, err, c.say)
			}
		}
		v.stop()
	}
}

func TestCertificateFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, block ...*pem.Block) string {
		var b bytes.Buffer
		for _, p := range block {
			if err := pem.Encode(&b, p); err != nil {
				t.Fatal(err)
			}
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pair := func(name string, now time.Time) (cert, key string) {
		c, _ := keyPair(t, now, "127.0.0.1")
		der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
		if err != nil {
			t.Fatal(err)
		}
		return file(name+".pem", &pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]}), file(name+".key", &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	}
	cert, key := pair("good", time.Now())
	_, otherKey := pair("other", time.Now())
	oldCert, oldKey := pair("old", time.Now().AddDate(-3, 0, 0))
	none := filepath.Join(dir, "none")
	for _, c := range []struct {
		flags certificateFlags
		say   string // empty: it works
	}{
		{certificateFlags{}, ""},
		{certificateFlags{TLS: "self", TLSCA: filepath.Join(dir, "ca.pem")}, ""},
		{certificateFlags{TLSCert: cert, TLSKey: key}, ""},
		{certificateFlags{TLSCert: cert, TLSKey: otherKey}, "the key that belongs to it"},
		{certificateFlags{TLSCert: none, TLSKey: key}, "no such file"},
		{certificateFlags{TLSCert: cert, TLSKey: cert}, "in PEM"},
		{certificateFlags{TLSCert: oldCert, TLSKey: oldKey}, "renew it"},
		{certificateFlags{TLSCert: cert}, "go together"},
		{certificateFlags{TLSKey: key}, "go together"},
		{certificateFlags{TLS: "self", TLSCert: cert, TLSKey: key}, "give one of them"},
		{certificateFlags{TLSCA: none}, "give that too"},
		{certificateFlags{TLS: "self", TLSCA: filepath.Join(none, "ca.pem")}, "can be written"},
	} {
		config, ca, err := c.flags.secure("127.0.0.1:0")
		if c.say != "" {
			if err == nil || !strings.Contains(err.Error(), c.say) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%+v: %v, want one line with %q", c.flags, err, c.say)
			}
			continue
		}
		if err != nil || (config != nil) != (c.flags.TLS+c.flags.TLSCert != "") || (ca != nil) != (c.flags.TLS != "") {
			t.Errorf("%+v: %v, CA %q, %v", c.flags, config, ca, err)
		}
	}
	for _, c := range []struct {
		flags trustFlags
		say   string
	}{
		{trustFlags{}, ""}, {trustFlags{TLS: true}, ""}, {trustFlags{CA: cert}, ""},
		{trustFlags{CA: none}, "--tls-ca-out"}, {trustFlags{CA: key}, "no certificate in it"}, {trustFlags{CA: cert, TLS: true}, "give one"},
	} {
		config, err := c.flags.trust()
		if c.say == "" && (err != nil || (config != nil) != (c.flags != trustFlags{})) || c.say != "" && (err == nil || !strings.Contains(err.Error(), c.say)) {
			t.Errorf("%+v: %v, %v; want %q", c.flags, config, err, c.say)
		}
	}
}

func TestCertificateHosts(t *testing.T) {
	got := strings.Join(certificateHosts([]string{"127.0.0.1:1", "venue.example:2"}), " ")
	if got != "127.0.0.1 ::1 localhost 127.0.0.1 venue.example" {
		t.Errorf("hosts %s", got)
	}
	for _, all := range []string{":1", "0.0.0.0:1", "[::]:1"} {
		for _, host := range certificateHosts([]string{all}) {
			if ip := net.ParseIP(host); host != "localhost" && (ip == nil || ip.IsUnspecified()) {
				t.Errorf("%s: host %q", all, host)
			}
		}
	}
}

// tally is a socket that counts what passes it.
type tally struct {
	net.Conn
	read, written *atomic.Int64
}

func (c tally) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

func (c tally) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.written.Add(int64(n))
	return n, err
}

// TestTrafficIsWhatPassesTheSocket: records and handshake of TLS too.
func TestTrafficIsWhatPassesTheSocket(t *testing.T) {
	cert, trusting := keyPair(t, time.Now(), "127.0.0.1")
	v := newVenue(t, []string{"AAA"}, 0, streams.Options{TLS: serverTLS(cert)})
	var read, written atomic.Int64
	socket, err := net.Dial("tcp", v.http)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = socket.Close() }()
	conn := tls.Client(tally{socket, &read, &written}, clients.TLSFor(trusting, v.http, clients.ALPNHTTP1))
	if _, err := io.WriteString(conn, "GET /v2/symbols HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil || len(body) == 0 {
		t.Fatalf("%q, %v", body, err)
	}
	// A write is counted once it has returned, which may be after what it sent came.
	waitFor(t, "the counters to agree", func() bool {
		c := v.traffic.Count()
		return c.ReadBytes == written.Load() && c.WrittenBytes == read.Load()
	})
}
