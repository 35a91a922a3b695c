package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gatehouse/helper/token"
)

// work is what every program of one comparison has to do.
type work struct {
	name      string
	algorithm string // of the tokens; "": plain proxying
	token     string
	key       string // the secret, or the file with the public key
}

const secret = "a-secret-for-the-comparison-and-for-nothing-else"

// works makes the keys and tokens; keys are written to folder.
func works(folder string) ([]work, error) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	all := []work{{name: "plain"}}
	for _, k := range []struct {
		algorithm string
		key       any
	}{{"HS256", []byte(secret)}, {"RS256", rsaKey}, {"ES256", ecKey}} {
		w := work{name: "full chain, " + k.algorithm, algorithm: k.algorithm, key: secret}
		w.token, err = token.Sign(map[string]any{
			"iss": "https://identity.test", "aud": "gateway", "sub": "user-1", "email": "user-1@example.com", "scope": "order user",
			"exp": time.Now().AddDate(10, 0, 0).Unix(),
		}, k.key, k.algorithm, "")
		if err != nil {
			return nil, err
		}
		if signer, ok := k.key.(crypto.Signer); ok {
			w.key = filepath.Join(folder, k.algorithm+".pem")
			if err := writePublicKey(w.key, signer.Public()); err != nil {
				return nil, err
			}
		}
		all = append(all, w)
	}
	return all, nil
}

func writePublicKey(file string, key crypto.PublicKey) error {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600)
}
