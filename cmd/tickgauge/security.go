package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/tickgauge/tickgauge/clients"
	"github.com/tickgauge/tickgauge/streams"
)

// certificateFlags say whether an exchange speaks TLS, and with what certificate.
type certificateFlags struct {
	TLS     string `name:"tls" enum:",self" default:"" placeholder:"self" help:"Serve gRPC and HTTP with TLS, under a certificate that is made at the start for this machine's names and addresses."`
	TLSCA   string `name:"tls-ca-out" placeholder:"FILE" help:"With --tls self: write the CA that clients have to trust there, in PEM."`
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"Serve with TLS under this certificate, in PEM, with those between it and its CA after it."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"The key of --tls-cert."`
}

// secure returns the TLS of the exchange, nil for none, and the CA of a
// certificate that it made, in PEM. addrs are those it will listen on.
func (f *certificateFlags) secure(addrs ...string) (config *tls.Config, ca []byte, err error) {
	switch {
	case (f.TLSCert == "") != (f.TLSKey == ""):
		return nil, nil, usageError{errors.New("--tls-cert and --tls-key go together; give both or none")}
	case f.TLS != "" && f.TLSCert != "":
		return nil, nil, usageError{errors.New("--tls self makes a certificate, and --tls-cert names one; give one of them")}
	case f.TLSCA != "" && f.TLS == "":
		return nil, nil, usageError{errors.New("--tls-ca-out writes the CA of --tls self; give that too, or leave it out")}
	case f.TLSCert != "":
		config, err = loadCertificate(f.TLSCert, f.TLSKey)
		return config, nil, err
	case f.TLS == "":
		return nil, nil, nil
	}
	cert, ca, err := streams.SelfSigned(certificateHosts(addrs), time.Now())
	if err != nil {
		return nil, nil, err
	}
	if f.TLSCA != "" {
		if err := os.WriteFile(f.TLSCA, ca, 0o644); err != nil {
			return nil, nil, usageError{fmt.Errorf("--tls-ca-out: %w; name a file that can be written", err)}
		}
	}
	return serverTLS(cert), ca, nil
}

func serverTLS(cert tls.Certificate) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}
}

func loadCertificate(certFile, keyFile string) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return nil, usageError{fmt.Errorf("--tls-cert %s, --tls-key %s: %w; want a certificate and the key that belongs to it, both in PEM", certFile, keyFile, err)}
	}
	if now := time.Now(); now.After(cert.Leaf.NotAfter) || now.Before(cert.Leaf.NotBefore) {
		return nil, usageError{fmt.Errorf("--tls-cert %s: valid from %s to %s and not now, so clients would refuse it; renew it", certFile,
			cert.Leaf.NotBefore.Format(time.DateTime), cert.Leaf.NotAfter.Format(time.DateTime))}
	}
	return serverTLS(cert), nil
}

// certificateHosts are loopback and the hosts of addrs, in place of one that means
// every address those that this machine has.
func certificateHosts(addrs []string) []string {
	hosts := []string{"127.0.0.1", "::1", "localhost"}
	for _, addr := range addrs {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			continue // check has refused it
		}
		if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
			hosts = append(hosts, host)
			continue
		}
		own, err := net.InterfaceAddrs()
		if err != nil {
			continue // loopback is listed
		}
		for _, a := range own {
			if n, ok := a.(*net.IPNet); ok {
				hosts = append(hosts, n.IP.String())
			}
		}
	}
	return hosts
}

// trustFlags say whether a client speaks TLS, and whom it trusts.
type trustFlags struct {
	CA  string `name:"ca" placeholder:"FILE" help:"Speak TLS, and trust the CA in this PEM file alone; exchange --tls-ca-out writes one."`
	TLS bool   `name:"tls" help:"Speak TLS, and trust what this system trusts."`
}

// trust returns the TLS of the client, nil for none.
func (f *trustFlags) trust() (*tls.Config, error) {
	switch {
	case f.CA != "" && f.TLS:
		return nil, usageError{errors.New("--tls trusts what this system does, and --ca a file alone; give one of them")}
	case f.TLS:
		return &tls.Config{MinVersion: tls.VersionTLS13}, nil
	case f.CA == "":
		return nil, nil
	}
	pem, err := os.ReadFile(f.CA)
	if err != nil {
		return nil, usageError{fmt.Errorf("--ca: %w; an exchange with --tls self writes its CA to --tls-ca-out FILE", err)}
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, usageError{fmt.Errorf("--ca %s: no certificate in it; want one in PEM, between BEGIN CERTIFICATE and END CERTIFICATE", f.CA)}
	}
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}, nil
}

// explainTLS returns what is wrong with the TLS of a connection to target that
// failed with err, on either side; nil where it is something else.
func explainTLS(ctx context.Context, target string, security *tls.Config, err error) error {
	if security != nil {
		if explained := clients.ExplainTLS(target, err); explained != err { //nolint:errorlint // the very one comes back
			return explained
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	if !clients.SpeaksTLS(ctx, target) {
		return nil
	}
	return fmt.Errorf("%s speaks TLS: trust its CA with --ca FILE, or what this system trusts with --tls", target)
}
