package keyset_test

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/helper/keyset"
)

func block(blockType string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: blockType, Bytes: der})
}

func publicPEM(t *testing.T, key crypto.PublicKey) []byte {
	t.Helper()
	data, err := keyset.MarshalPublicPEM(key)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func certificate(t *testing.T, private crypto.Signer) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Unix(0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", der)
}

func TestAPEMFileHoldsOneOrMorePublicKeys(t *testing.T) {
	rsaPrivate, err := keyset.Generate("RS256")
	if err != nil {
		t.Fatal(err)
	}
	edPrivate, err := keyset.Generate("EdDSA")
	if err != nil {
		t.Fatal(err)
	}
	file := strings.Join([]string{
		"# keys of the identity service\n",
		string(publicPEM(t, public(t, "ES384"))),
		string(block("RSA PUBLIC KEY", x509.MarshalPKCS1PublicKey(rsaPrivate.Public().(*rsa.PublicKey)))),
		string(certificate(t, edPrivate)),
	}, "\n")
	path := filepath.Join(t.TempDir(), "keys.pem")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := keyset.LoadPEM(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(keys) != 3 || !keys[0].Fits("ES384") || !keys[1].Fits("PS256") || !keys[2].Fits("EdDSA") {
		t.Errorf("keys = %v", keys)
	}
}

func TestABadPEMFileIsRefusedWithTheNumberOfTheBlock(t *testing.T) {
	good := publicPEM(t, public(t, "ES256"))
	private, err := keyset.Generate("ES256")
	if err != nil {
		t.Fatal(err)
	}
	privatePEM, err := keyset.MarshalPrivatePEM(private)
	if err != nil {
		t.Fatal(err)
	}
	weak := &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), 1023, 1), E: 65537}
	after := func(bad []byte) []byte { return append(good[:len(good):len(good)], bad...) }
	for name, row := range map[string]struct {
		data []byte
		want []string
	}{
		"empty":                     {nil, []string{"no PEM block"}},
		"not PEM":                   {[]byte("hello"), []string{"no PEM block"}},
		"a private key":             {after(privatePEM), []string{"block 2", "a private key doesn't belong here"}},
		"an encrypted one":          {block("ENCRYPTED PRIVATE KEY", nil), []string{"block 1", "a private key doesn't belong here"}},
		"a weak key":                {after(publicPEM(t, weak)), []string{"block 2", "weak key", "1024"}},
		"garbage in a block":        {after(block("PUBLIC KEY", []byte("x"))), []string{"block 2", "parsing"}},
		"garbage in a certificate":  {block("CERTIFICATE", []byte("x")), []string{"block 1", "parsing"}},
		"another block":             {block("DH PARAMETERS", nil), []string{"block 1", "only PUBLIC KEY"}},
		"a block that is cut":       {after(good[:len(good)-30]), []string{"block 2 can't be decoded"}},
		"a spoilt block in between": {append(bytes.Replace(good, []byte("M"), []byte("?"), 1), good...), []string{"block 1 can't be decoded"}},
		"a cut block in between":    {append(good[:len(good)-30:len(good)-30], good...), []string{"can't be decoded"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.pem")
			if err := os.WriteFile(path, row.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := keyset.LoadPEM(path)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range append(row.want, path) {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q doesn't say %q", err, want)
				}
			}
		})
	}
	if _, err := keyset.LoadPEM(filepath.Join(t.TempDir(), "none.pem")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestAPrivateKeyComesBackFromItsPEM(t *testing.T) {
	for _, algorithm := range []string{"RS256", "ES256", "ES384", "ES512", "EdDSA"} {
		private, err := keyset.Generate(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		data, err := keyset.MarshalPrivatePEM(private)
		if err != nil {
			t.Fatal(err)
		}
		back, err := keyset.ParsePrivatePEM(append(block("EC PARAMETERS", nil), data...))
		if err != nil {
			t.Fatal(err)
		}
		if !private.(interface{ Equal(crypto.PrivateKey) bool }).Equal(back) {
			t.Errorf("%s: another key came back", algorithm)
		}
		if got, err := keyset.SigningAlgorithm(back); got != algorithm || err != nil {
			t.Errorf("%s: SigningAlgorithm = %s, %v", algorithm, got, err)
		}
	}
	for name, data := range map[string][]byte{
		"empty":        nil,
		"a public key": publicPEM(t, public(t, "EdDSA")),
		"garbage":      block("PRIVATE KEY", []byte("x")),
	} {
		if _, err := keyset.ParsePrivatePEM(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, algorithm := range []string{"HS256", "none", ""} {
		if _, err := keyset.Generate(algorithm); err == nil {
			t.Errorf("Generate(%q) makes a key", algorithm)
		}
	}
}

func FuzzParsePEM(f *testing.F) {
	f.Add([]byte("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n"))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := keyset.ParsePEM(data)
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("%d keys and error %v", len(keys), err)
		}
	})
}
