package token

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"gatehouse/helper/identity"
	"gatehouse/helper/keyset"
)

// Verifier verifies tokens of a fixed set of providers.
type Verifier struct {
	byName    map[string]*provider
	byIssuer  map[string]*provider
	anyIssuer *provider // nil: a token's iss must be known
}

// NewVerifier makes a Verifier. Providers must differ in name and in issuer, since the issuer chooses; one of them may
// allow any issuer, and gets the tokens whose iss no other provider has.
func NewVerifier(providers []Provider) (*Verifier, error) {
	v := &Verifier{byName: make(map[string]*provider), byIssuer: make(map[string]*provider)}
	for _, options := range providers {
		p, err := newProvider(options)
		if err != nil {
			return nil, err
		}
		if v.byName[p.Name] != nil {
			return nil, fmt.Errorf("provider %s: the name is taken", p.Name)
		}
		v.byName[p.Name] = p
		switch {
		case p.AllowAnyIssuer && v.anyIssuer != nil:
			return nil, fmt.Errorf("provider %s: provider %s allows any issuer already", p.Name, v.anyIssuer.Name)
		case p.AllowAnyIssuer:
			v.anyIssuer = p
		case v.byIssuer[p.Issuer] != nil:
			return nil, fmt.Errorf("provider %s: its issuer is provider %s's already", p.Name, v.byIssuer[p.Issuer].Name)
		default:
			v.byIssuer[p.Issuer] = p
		}
	}
	return v, nil
}

// Verify verifies a token in compact form (RFC 7515, section 7.1) and returns who it is from. providerName pins the
// provider; "" lets the token's iss choose. Its error is always an *[Error]; one with the reason KeysUnavailable wraps
// ctx's error if that is why.
func (v *Verifier) Verify(ctx context.Context, raw, providerName string) (*identity.Principal, error) {
	verified, err := v.verify(raw, providerName, asking(ctx))
	if err != nil {
		return nil, err
	}
	return verified.principal, nil
}

// lookup finds the keys that may have signed a token of a provider.
type lookup func(p *provider, kid, algorithm string) ([]keyset.Key, error)

// asking is the lookup of requests, which may have keys fetched.
func asking(ctx context.Context) lookup {
	return func(p *provider, kid, algorithm string) ([]keyset.Key, error) {
		return p.Source.Keys(ctx, kid, algorithm)
	}
}

// verification is a token that was found right, and how long that holds.
type verification struct {
	principal  *identity.Principal
	until      time.Time // exp and the leeway
	provider   *provider
	generation uint64 // of the provider's keys, before they were asked for
}

func (v *Verifier) verify(raw, providerName string, keys lookup) (*verification, error) {
	token, err := parse(raw)
	if err != nil {
		return nil, err
	}
	// Nothing of the token is believed yet: its iss only says whose keys have to prove it.
	p, err := v.choose(token.claims, providerName)
	if err != nil {
		return nil, err
	}
	method := p.methods[token.algorithm]
	if method == nil {
		return nil, p.refuse(Invalid, "algorithm %q isn't accepted", cut(token.algorithm))
	}
	generation := p.generation()
	keyID, err := p.checkSignature(keys, method, token)
	if err != nil {
		return nil, err
	}
	expires, err := p.checkClaims(token.claims, time.Now())
	if err != nil {
		return nil, err
	}
	principal := p.principal(token.claims, expires)
	principal.KeyID = keyID
	return &verification{principal, expires.Add(p.Leeway), p, generation}, nil
}

func (v *Verifier) choose(claims map[string]any, providerName string) (*provider, error) {
	issuer, _ := claims["iss"].(string) // "" is nobody's issuer
	if providerName == "" {
		if p := v.byIssuer[issuer]; p != nil {
			return p, nil
		}
		if v.anyIssuer != nil {
			return v.anyIssuer, nil
		}
		return nil, refuse(Invalid, "no provider has its iss")
	}
	p := v.byName[providerName]
	switch {
	case p == nil:
		return nil, refuse(Invalid, "there is no provider %s", providerName)
	case !p.AllowAnyIssuer && issuer != p.Issuer:
		return nil, p.refuse(Invalid, "its iss is another one")
	}
	return p, nil
}

// checkSignature tries the keys that the token's kid and algorithm leave, and returns the ID of the one that signed it.
func (p *provider) checkSignature(look lookup, method jwt.SigningMethod, token *unverified) (keyID string, err error) {
	keys, err := look(p, token.kid, token.algorithm)
	if err != nil {
		return "", &Error{Reason: KeysUnavailable, Provider: p.Name, Detail: "looking up keys", Err: err}
	}
	for _, key := range keys {
		if verifiesWith(key, method, token) {
			return cmp.Or(key.ID, token.kid), nil
		}
	}
	if len(keys) == 0 {
		return "", p.refuse(Invalid, "no key for kid %q and algorithm %s", cut(token.kid), token.algorithm)
	}
	return "", p.refuse(Invalid, "its signature is wrong (kid %q, algorithm %s)", cut(token.kid), token.algorithm)
}

// verifiesWith asks Fits again, whatever the source promised: it is what makes a mix-up of key kinds impossible.
func verifiesWith(key keyset.Key, method jwt.SigningMethod, token *unverified) bool {
	return key.Fits(method.Alg()) && method.Verify(token.signed, token.signature, key.Material()) == nil
}

// principal makes the caller of claims that were verified.
func (p *provider) principal(claims map[string]any, expires time.Time) *identity.Principal {
	principal := &identity.Principal{Provider: p.Name, Claims: claims, Expires: expires, ForwardToken: p.ForwardToken}
	principal.Issuer, _ = claims["iss"].(string)
	principal.Subject, _ = claims["sub"].(string)
	principal.TokenID, _ = claims["jti"].(string)
	scopes, _ := identity.Claim(claims, p.ScopeClaim)
	principal.Scopes = identity.ParseScopes(scopes)
	if p.PlanClaim != "" {
		plan, _ := identity.Claim(claims, p.PlanClaim)
		principal.Plan, _ = plan.(string)
	}
	for _, header := range p.headers {
		claim, _ := identity.Claim(claims, header.claim)
		if value, ok := identity.HeaderValue(claim); ok {
			principal.Headers = append(principal.Headers, identity.Header{Name: header.name, Value: value})
		}
	}
	return principal
}

func refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

func (p *provider) refuse(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Provider: p.Name, Detail: fmt.Sprintf(format, args...)}
}
