package streams

import (
	"crypto/x509"
	"testing"
	"time"
)

func TestSelfSigned(t *testing.T) {
	now := time.Now()
	cert, ca, err := SelfSigned([]string{"127.0.0.1", "::1", "localhost"}, now)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		t.Fatalf("no PEM:\n%s", ca)
	}
	for _, c := range []struct {
		host string
		at   time.Time
		ok   bool
	}{
		{"127.0.0.1", now, true}, {"::1", now, true}, {"localhost", now, true},
		{"127.0.0.2", now, false}, {"example.com", now, false},
		{"localhost", now.Add(-30 * time.Minute), true}, // of a clock that is behind
		{"localhost", now.Add(-2 * time.Hour), false}, {"localhost", now.AddDate(2, 0, 0), false},
	} {
		_, err := leaf.Verify(x509.VerifyOptions{DNSName: c.host, Roots: roots, CurrentTime: c.at})
		if (err == nil) != c.ok {
			t.Errorf("%s at %s: %v", c.host, c.at, err)
		}
	}
	if leaf.IsCA {
		t.Error("the certificate of the exchange may sign others")
	}
	other, otherCA, err := SelfSigned([]string{"localhost"}, now)
	if err != nil || string(otherCA) == string(ca) || string(other.Certificate[0]) == string(cert.Certificate[0]) {
		t.Errorf("a second one is the same, or %v", err)
	}
	if _, _, err := SelfSigned([]string{"bad host\xff"}, now); err == nil {
		t.Error("a name that is none was taken")
	}
}
