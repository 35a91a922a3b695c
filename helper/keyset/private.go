package keyset

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// Generate makes a private key for an asymmetric algorithm: *rsa.PrivateKey with 2048 bits, *ecdsa.PrivateKey on the
// algorithm's curve, or ed25519.PrivateKey.
func Generate(algorithm string) (crypto.Signer, error) {
	switch algorithm {
	case "RS256", "RS384", "RS512", "PS256", "PS384", "PS512":
		return rsa.GenerateKey(rand.Reader, minRSABits)
	case "ES256":
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case "ES384":
		return ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	case "ES512":
		return ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	case "EdDSA":
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	}
	return nil, fmt.Errorf("algorithm %q has no key pair", algorithm)
}

// MarshalPrivatePEM encodes a private key as a PRIVATE KEY block (PKCS#8, RFC 5208).
func MarshalPrivatePEM(private crypto.Signer) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, fmt.Errorf("encoding private key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), nil
}

// LoadPrivatePEM reads the private key of a PEM file; see [ParsePrivatePEM]. Errors name the file.
func LoadPrivatePEM(path string) (crypto.Signer, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading private key: %w", err)
	}
	private, err := ParsePrivatePEM(data)
	if err != nil {
		return nil, fmt.Errorf("reading private key of %s: %w", path, err)
	}
	return private, nil
}

// ParsePrivatePEM reads the first private key of data: PRIVATE KEY (PKCS#8), RSA PRIVATE KEY or EC PRIVATE KEY.
// Blocks before it (openssl writes EC PARAMETERS there) are passed over. A weak key is an error.
func ParsePrivatePEM(data []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			return nil, errors.New("it has no PEM block with an unencrypted private key")
		}
		parse, ok := privateParser(block.Type)
		if !ok {
			continue
		}
		private, err := parse(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parsing PEM block %s: %w", block.Type, err)
		}
		signer, ok := private.(crypto.Signer)
		if !ok {
			return nil, fmt.Errorf("a private key of type %T can't sign", private)
		}
		if _, err := publicAlgorithms(signer.Public()); err != nil {
			return nil, err
		}
		return signer, nil
	}
}

func privateParser(blockType string) (func([]byte) (any, error), bool) {
	switch blockType {
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey, true
	case "RSA PRIVATE KEY":
		return func(der []byte) (any, error) { return x509.ParsePKCS1PrivateKey(der) }, true
	case "EC PRIVATE KEY":
		return func(der []byte) (any, error) { return x509.ParseECPrivateKey(der) }, true
	}
	return nil, false
}

// SigningAlgorithm returns the algorithm that a private key signs with where nothing else is said: RS256, the ES* of
// its curve, or EdDSA.
func SigningAlgorithm(private crypto.Signer) (string, error) {
	fitting, err := publicAlgorithms(private.Public())
	if err != nil {
		return "", err
	}
	return fitting[0], nil
}
