package token

import (
	"crypto"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"gatehouse/helper/keyset"
)

// BadKinds returns the kinds of token that [Bad] makes, sorted.
func BadKinds() []string {
	return []string{
		"alg-none", "crit", "exp-text", "expired", "from-future", "hs-confusion", "malformed", "no-exp", "no-scope", "not-yet",
		"tampered", "unknown-kid", "wrong-aud", "wrong-iss", "wrong-key",
	}
}

// Bad makes a token that has to be refused, for trying out a gateway: like [Sign] with the same arguments, but for the
// one thing that kind names. claims should be those of a good token; they aren't changed. no-scope takes away the
// claim scope, from-future has an iat that is to come, and unknown-kid is signed with a key that nobody published.
func Bad(kind string, claims map[string]any, key any, algorithm, kid string) (string, error) {
	if !slices.Contains(BadKinds(), kind) {
		return "", fmt.Errorf("unknown kind %q of bad token, there are %s", kind, strings.Join(BadKinds(), ", "))
	}
	if err := checkSigner(key, algorithm); err != nil {
		return "", fmt.Errorf("signing token: %w", err)
	}
	claims = maps.Clone(claims)
	now := time.Now()
	var err error
	switch kind {
	case "alg-none":
		return jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims(claims)).SignedString(jwt.UnsafeAllowNoneSignatureType)
	case "hs-confusion":
		if key, err = publicAsSecret(key); err != nil {
			return "", err
		}
		return sign(claims, key, "HS256", kid)
	case "crit":
		return withHeader(claims, key, algorithm, map[string]any{"kid": kid, "crit": []string{"unheard-of"}, "unheard-of": true})
	case "malformed":
		raw, err := sign(claims, key, algorithm, kid)
		return raw[:strings.LastIndexByte(raw, '.')+1], err
	case "tampered":
		return tampered(claims, key, algorithm, kid)
	case "unknown-kid":
		kid = rand.Text()
		key, err = otherKey(key, algorithm)
	case "wrong-key":
		key, err = otherKey(key, algorithm)
	case "exp-text":
		claims["exp"] = strconv.FormatInt(now.Add(time.Hour).Unix(), 10)
	case "from-future":
		claims["iat"], claims["exp"] = now.Add(time.Hour).Unix(), now.Add(2*time.Hour).Unix()
	case "expired":
		claims["iat"], claims["exp"] = now.Add(-2*time.Hour).Unix(), now.Add(-time.Hour).Unix()
		delete(claims, "nbf")
	case "not-yet":
		claims["nbf"], claims["exp"] = now.Add(time.Hour).Unix(), now.Add(2*time.Hour).Unix()
	case "no-exp":
		delete(claims, "exp")
	case "no-scope":
		delete(claims, "scope")
	case "wrong-aud":
		claims["aud"] = "somebody-else"
	case "wrong-iss":
		claims["iss"] = "https://somebody-else.invalid"
	}
	if err != nil {
		return "", err
	}
	return sign(claims, key, algorithm, kid)
}

// publicAsSecret returns the PEM text of the public key, which a confused verifier would take for an HMAC secret.
func publicAsSecret(key any) ([]byte, error) {
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("hs-confusion needs a key pair, not a secret")
	}
	return keyset.MarshalPublicPEM(signer.Public())
}

// otherKey makes a key of the same kind.
func otherKey(key any, algorithm string) (any, error) {
	if secret, ok := key.([]byte); ok {
		other := make([]byte, len(secret))
		_, err := rand.Read(other)
		return other, err
	}
	return keyset.Generate(algorithm)
}

// tampered changes the subject after signing.
func tampered(claims map[string]any, key any, algorithm, kid string) (string, error) {
	signed, err := sign(claims, key, algorithm, kid)
	if err != nil {
		return "", err
	}
	claims["sub"] = fmt.Sprint(claims["sub"], "-and-more")
	changed, err := sign(claims, key, algorithm, kid)
	if err != nil {
		return "", err
	}
	head, signature := changed[:strings.LastIndexByte(changed, '.')], signed[strings.LastIndexByte(signed, '.'):]
	return head + signature, nil
}
