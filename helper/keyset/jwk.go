package keyset

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
)

// JWK is a public JSON Web Key (RFC 7517; RFC 8037 for OKP). Byte strings are base64url without padding.
type JWK struct {
	KeyType    string   `json:"kty"`
	ID         string   `json:"kid,omitempty"`
	Use        string   `json:"use,omitempty"`
	Operations []string `json:"key_ops,omitempty"`
	Algorithm  string   `json:"alg,omitempty"`
	Curve      string   `json:"crv,omitempty"`
	X          string   `json:"x,omitempty"`
	Y          string   `json:"y,omitempty"`
	N          string   `json:"n,omitempty"`
	E          string   `json:"e,omitempty"`
}

// JWKS is a JSON Web Key Set (RFC 7517, section 5).
type JWKS struct {
	Keys []JWK `json:"keys"`
}

// NewJWK describes a public key for publishing, its kid being the RFC 7638 thumbprint. A non-empty algorithm is stated.
func NewJWK(public crypto.PublicKey, algorithm string) (JWK, error) {
	key, err := NewPublic("", algorithm, public)
	if err != nil {
		return JWK{}, err
	}
	jwk := JWK{Use: "sig", Algorithm: algorithm}
	switch public := key.material.(type) {
	case *rsa.PublicKey:
		jwk.KeyType = "RSA"
		jwk.N = encode(public.N.Bytes())
		jwk.E = encode(big.NewInt(int64(public.E)).Bytes())
	case *ecdsa.PublicKey:
		point, err := public.Bytes() // 4, X, Y: both padded to the curve's size
		if err != nil {
			return JWK{}, fmt.Errorf("encoding EC key: %w", err)
		}
		size := len(point) / 2
		jwk.KeyType, jwk.Curve = "EC", public.Params().Name
		jwk.X, jwk.Y = encode(point[1:1+size]), encode(point[1+size:])
	case ed25519.PublicKey:
		jwk.KeyType, jwk.Curve, jwk.X = "OKP", "Ed25519", encode(public)
	}
	jwk.ID = jwk.thumbprint()
	return jwk, nil
}

// Thumbprint returns the SHA-256 thumbprint of a public key (RFC 7638), which is its kid wherever gatehouse chooses.
func Thumbprint(public crypto.PublicKey) (string, error) {
	jwk, err := NewJWK(public, "")
	return jwk.ID, err
}

// thumbprint hashes the required members in alphabetical order. Their values need no escaping: they are base64url and
// fixed names.
func (j JWK) thumbprint() string {
	var members string
	switch j.KeyType {
	case "RSA":
		members = fmt.Sprintf(`{"e":%q,"kty":"RSA","n":%q}`, j.E, j.N)
	case "EC":
		members = fmt.Sprintf(`{"crv":%q,"kty":"EC","x":%q,"y":%q}`, j.Curve, j.X, j.Y)
	case "OKP":
		members = fmt.Sprintf(`{"crv":%q,"kty":"OKP","x":%q}`, j.Curve, j.X)
	}
	sum := sha256.Sum256([]byte(members))
	return encode(sum[:])
}

// ParseJWKS reads a key set as an issuer publishes it. A key that can't verify signatures here (another kind, use or
// key_ops for something else, broken or weak) is passed over and said in skipped: one of them must not take the rest
// away. A key without kid gets its thumbprint. An error means that the text as a whole is no key set.
func ParseJWKS(data []byte) (keys []Key, skipped []error, err error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(data, &set); err != nil {
		return nil, nil, fmt.Errorf("decoding key set: %w", err)
	}
	if set.Keys == nil {
		return nil, nil, errors.New(`decoding key set: it has no "keys"`)
	}
	for i, text := range set.Keys {
		key, err := parseJWK(text)
		if err != nil {
			skipped = append(skipped, fmt.Errorf("key %d of the set: %w", i+1, err))
			continue
		}
		keys = append(keys, key)
	}
	return keys, skipped, nil
}

func parseJWK(text []byte) (Key, error) {
	var jwk JWK
	if err := json.Unmarshal(text, &jwk); err != nil {
		return Key{}, fmt.Errorf("decoding: %w", err)
	}
	if jwk.Use != "" && jwk.Use != "sig" {
		return Key{}, fmt.Errorf("its use is %q, not sig", jwk.Use)
	}
	if jwk.Operations != nil && !slices.Contains(jwk.Operations, "verify") {
		return Key{}, fmt.Errorf("its key_ops are %q, without verify", jwk.Operations)
	}
	public, err := jwk.public()
	if err != nil {
		return Key{}, err
	}
	if jwk.ID == "" {
		if jwk.ID, err = Thumbprint(public); err != nil {
			return Key{}, err
		}
	}
	return NewPublic(jwk.ID, jwk.Algorithm, public)
}

func (j JWK) public() (crypto.PublicKey, error) {
	switch {
	case j.KeyType == "RSA":
		n, errN := decode(j.N)
		e, errE := decode(j.E)
		if err := errors.Join(errN, errE); err != nil {
			return nil, fmt.Errorf("decoding n and e: %w", err)
		}
		exponent := new(big.Int).SetBytes(e)
		if exponent.BitLen() > 31 {
			return nil, errors.New("its RSA exponent has more than 31 bits")
		}
		return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
	case j.KeyType == "EC":
		return j.publicEC()
	case j.KeyType == "OKP" && j.Curve == "Ed25519":
		x, err := decode(j.X)
		if err != nil {
			return nil, fmt.Errorf("decoding x: %w", err)
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, fmt.Errorf("its kind %q (curve %q) isn't supported", j.KeyType, j.Curve)
}

func (j JWK) publicEC() (crypto.PublicKey, error) {
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		if curve.Params().Name != j.Curve {
			continue
		}
		x, errX := decode(j.X)
		y, errY := decode(j.Y)
		if err := errors.Join(errX, errY); err != nil {
			return nil, fmt.Errorf("decoding x and y: %w", err)
		}
		// Both coordinates have the curve's full size (RFC 7518, section 6.2.1.2).
		if size := (curve.Params().BitSize + 7) / 8; len(x) != size || len(y) != size {
			return nil, fmt.Errorf("its coordinates aren't %d bytes long", size)
		}
		return ecdsa.ParseUncompressedPublicKey(curve, slices.Concat([]byte{4}, x, y))
	}
	return nil, fmt.Errorf("curve %q isn't supported", j.Curve)
}

func encode(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func decode(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }
