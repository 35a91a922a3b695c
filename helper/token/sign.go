package token

import (
	"crypto"
	"errors"
	"fmt"
	"maps"

	"github.com/golang-jwt/jwt/v5"

	"gatehouse/helper/keyset"
)

// Sign makes a token of claims with algorithm. key is a crypto.Signer (*rsa.PrivateKey, *ecdsa.PrivateKey,
// ed25519.PrivateKey) or, for HS*, a []byte; it must be of the algorithm's kind and strong enough to verify with. kid
// "" leaves the kid out.
func Sign(claims map[string]any, key any, algorithm, kid string) (string, error) {
	if err := checkSigner(key, algorithm); err != nil {
		return "", fmt.Errorf("signing token: %w", err)
	}
	return sign(claims, key, algorithm, kid)
}

// checkSigner refuses a key that no verifier here would accept.
func checkSigner(key any, algorithm string) error {
	var err error
	switch key := key.(type) {
	case []byte:
		_, err = keyset.NewSecret("", algorithm, key)
	case crypto.Signer:
		_, err = keyset.NewPublic("", algorithm, key.Public())
	default:
		err = fmt.Errorf("a key of type %T can't sign", key)
	}
	if err == nil && algorithm == "" {
		err = errors.New("no algorithm")
	}
	return err
}

// sign signs with whatever key it is given.
func sign(claims map[string]any, key any, algorithm, kid string) (string, error) {
	header := map[string]any{}
	if kid != "" {
		header["kid"] = kid
	}
	return withHeader(claims, key, algorithm, header)
}

// withHeader signs claims with more in the header than alg and typ.
func withHeader(claims map[string]any, key any, algorithm string, more map[string]any) (string, error) {
	token := jwt.NewWithClaims(signingMethod(algorithm), jwt.MapClaims(claims))
	maps.Copy(token.Header, more)
	signed, err := token.SignedString(key)
	if err != nil {
		return "", fmt.Errorf("signing token: %w", err)
	}
	return signed, nil
}
