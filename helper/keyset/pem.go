package keyset

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// LoadPEM reads the public keys of a PEM file; see [ParsePEM]. Errors name the file.
func LoadPEM(path string) ([]Key, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading keys: %w", err)
	}
	keys, err := ParsePEM(data)
	if err != nil {
		return nil, fmt.Errorf("reading keys of %s: %w", path, err)
	}
	return keys, nil
}

// ParsePEM reads one or more PUBLIC KEY, RSA PUBLIC KEY and CERTIFICATE blocks; text around them is a comment. The keys
// have no ID, so a token's kid doesn't choose among them. No block, one of another type, a broken or weak key and,
// above all, a private key are errors that name the block by its number, counted from 1.
func ParsePEM(data []byte) ([]Key, error) {
	// pem.Decode passes over a broken block, which would make a key disappear, so each is decoded by itself.
	begin := []byte("-----BEGIN ")
	blocks := bytes.Split(data, begin)[1:]
	if len(blocks) == 0 {
		return nil, errors.New("it has no PEM block")
	}
	keys := make([]Key, 0, len(blocks))
	for i, text := range blocks {
		block, _ := pem.Decode(slices.Concat(begin, text))
		if block == nil {
			return nil, fmt.Errorf("PEM block %d can't be decoded", i+1)
		}
		key, err := publicFromBlock(block)
		if err != nil {
			return nil, fmt.Errorf("PEM block %d (%s): %w", i+1, block.Type, err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

func publicFromBlock(block *pem.Block) (Key, error) {
	var public crypto.PublicKey
	var err error
	switch {
	case strings.Contains(block.Type, "PRIVATE KEY"):
		return Key{}, errors.New("a private key doesn't belong here: give the gateway the public key only")
	case block.Type == "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		var certificate *x509.Certificate
		if certificate, err = x509.ParseCertificate(block.Bytes); err == nil {
			public = certificate.PublicKey
		}
	default:
		return Key{}, errors.New("only PUBLIC KEY, RSA PUBLIC KEY and CERTIFICATE are read")
	}
	if err != nil {
		return Key{}, fmt.Errorf("parsing: %w", err)
	}
	return NewPublic("", "", public)
}

// MarshalPublicPEM encodes a public key as a PUBLIC KEY block (PKIX).
func MarshalPublicPEM(public crypto.PublicKey) ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("encoding public key: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}
