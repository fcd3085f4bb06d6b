package streams

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// selfSignedFor is how long a certificate of SelfSigned is valid; its clock may be
// an hour behind that of the exchange.
const (
	selfSignedFor   = 365 * 24 * time.Hour
	selfSignedSince = -time.Hour
)

// SelfSigned makes a certificate for hosts (names and IP addresses) that is valid
// from now for a year, and the certificate of the authority that signed it, in
// PEM, which a client has to trust. Both keys are ECDSA P-256. That of the
// authority is forgotten, so it signs nothing else.
func SelfSigned(hosts []string, now time.Time) (tls.Certificate, []byte, error) {
	cert, ca, err := selfSigned(hosts, now)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a certificate: %w", err)
	}
	return cert, ca, nil
}

func selfSigned(hosts []string, now time.Time) (cert tls.Certificate, caPEM []byte, err error) {
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return cert, nil, err
	}
	// An authority of its own: many clients take no certificate that is both.
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "tickgauge exchange CA"},
		NotBefore: now.Add(selfSignedSince), NotAfter: now.Add(selfSignedFor),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "tickgauge exchange"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, host)
		}
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, &caKey.PublicKey, caKey)
	if err != nil {
		return cert, nil, err
	}
	if ca, err = x509.ParseCertificate(caDER); err != nil { // it has a key id now, which the leaf names
		return cert, nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, &key.PublicKey, caKey)
	if err != nil {
		return cert, nil, err
	}
	cert = tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	return cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}), nil
}
