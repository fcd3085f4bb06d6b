package clients

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"
)

// The ALPN names of what the dialers speak (RFC 7301).
const (
	ALPNHTTP1 = "http/1.1"
	ALPNHTTP2 = "h2"
)

// TLSFor returns base for connections to target, a host:port, that speak the
// protocol of that ALPN name and nothing else: TLS 1.3, the target's host as the
// name that its certificate must have unless base names one, and no session that
// is resumed, so that each connection pays for its own handshake. A nil base, no
// TLS, stays nil.
func TLSFor(base *tls.Config, target, alpn string) *tls.Config {
	if base == nil {
		return nil
	}
	c := base.Clone()
	c.MinVersion = tls.VersionTLS13
	c.NextProtos = []string{alpn}
	c.ClientSessionCache = nil
	if host, _, err := net.SplitHostPort(target); err == nil && c.ServerName == "" {
		c.ServerName = host
	}
	c.VerifyConnection = func(s tls.ConnectionState) error {
		// A server without ALPN is one of HTTP/1.1.
		if s.NegotiatedProtocol == alpn || s.NegotiatedProtocol == "" && alpn == ALPNHTTP1 {
			return nil
		}
		return fmt.Errorf("it agreed to %q where %q was offered (ALPN): choose an HTTP version that it speaks", s.NegotiatedProtocol, alpn)
	}
	return c
}

// ExplainTLS says what to do about an error of a TLS handshake with target. Other
// errors, and nil, it returns as they are.
func ExplainTLS(target string, err error) error {
	var (
		unknown x509.UnknownAuthorityError
		invalid x509.CertificateInvalidError
		name    x509.HostnameError
		plain   tls.RecordHeaderError
		broken  *net.OpError
	)
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%s has a certificate of an authority that is not trusted: give that CA's with --ca FILE (exchange --tls self writes it to --tls-ca-out FILE): %w", target, err)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Errorf("%s has a certificate that is not valid now, but from %s to %s: renew it, or set the clock right: %w", target,
			invalid.Cert.NotBefore.Format(time.DateOnly), invalid.Cert.NotAfter.Format(time.DateOnly), err)
	case errors.As(err, &name):
		names := slices.Clone(name.Certificate.DNSNames)
		for _, ip := range name.Certificate.IPAddresses {
			names = append(names, ip.String())
		}
		return fmt.Errorf("%s has a certificate for %s: dial it by one of these names: %w", target, cmp.Or(strings.Join(names, ", "), "no name at all"), err)
	case errors.As(err, &plain):
		return fmt.Errorf("%s does not speak TLS: leave out --ca and --tls, or start the exchange with --tls self: %w", target, err)
	case errors.As(err, &broken) && broken.Op == "remote error": // an alert
		return fmt.Errorf("%s refused the TLS handshake: it must speak TLS 1.3 and this transport's HTTP version: %w", target, err)
	}
	return err
}

// SpeaksTLS dials a connection of its own to target and reports whether what
// answers there speaks TLS, whatever its certificate. It is for explaining an
// error of a connection without TLS; ctx bounds it.
func SpeaksTLS(ctx context.Context, target string) bool {
	socket, err := TCPDialer(0, target).DialContext(ctx, "tcp", target)
	if err != nil {
		return false
	}
	defer func() { _ = socket.Close() }()
	// Nothing is said on the connection, so nobody's word is taken for anything.
	probe := tls.Client(socket, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{ALPNHTTP2, ALPNHTTP1}})
	return probe.HandshakeContext(ctx) == nil
}
