package assertion

import (
	"crypto/rand"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/maypok86/otter/v2"

	"gatehouse/helper/identity"
	"gatehouse/helper/token"
)

// Issuer is the iss of every assertion.
const Issuer = "gatehouse"

// maxRemembered bounds how many assertions are kept for further requests: some 10 MB.
const maxRemembered = 10_000

// Options are what the assertions are like.
type Options struct {
	TTL        time.Duration // how long one is valid
	PerRequest bool          // each request gets its own, with its id
}

// Minter makes assertions.
type Minter struct {
	keys    *Keyring
	options Options
	slots   *otter.Cache[slotKey, *slot]
}

// slotKey is who an assertion is about and for what. A principal is one value as long as its token is remembered; the
// pointer is weak, so that an assertion of some hundred bytes doesn't keep all claims of a token that was forgotten.
type slotKey struct {
	principal weak.Pointer[identity.Principal]
	target    *Target
}

// slot has the assertion that is in use.
type slot struct {
	mu     sync.Mutex // held by whoever makes the next one
	latest atomic.Pointer[minted]
}

type minted struct {
	text  string
	until time.Time // when the next one is made
}

// NewMinter makes a Minter that signs with keys.
func NewMinter(keys *Keyring, o Options) *Minter {
	return &Minter{keys, o, otter.Must(&otter.Options[slotKey, *slot]{
		MaximumSize: maxRemembered,
		Executor:    func(task func()) { task() }, // on the caller's goroutine: there is no other to wait for
	})}
}

// Target is what the assertions of one route are for.
type Target struct {
	minter          *Minter
	audience, route string
}

// Target makes the Target of a route.
func (m *Minter) Target(audience, route string) *Target { return &Target{m, audience, route} }

// Assertion returns an assertion about p for a request with the given id. The error is one of signing.
func (t *Target) Assertion(p *identity.Principal, requestID string) (string, error) {
	now := time.Now()
	if t.minter.options.PerRequest {
		return t.mint(p, now, requestID)
	}
	key := slotKey{weak.Make(p), t}
	s, ok := t.minter.slots.GetIfPresent(key)
	if !ok {
		s, _ = t.minter.slots.SetIfAbsent(key, &slot{})
	}
	return s.assertion(now, func() (string, error) { return t.mint(p, now, "") }, t.minter.options.TTL/2)
}

// assertion returns the latest one while it is fresh, else the next. Those who come while it is made wait for it.
func (s *slot) assertion(now time.Time, mint func() (string, error), fresh time.Duration) (string, error) {
	if latest := s.latest.Load(); latest != nil && now.Before(latest.until) {
		return latest.text, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if latest := s.latest.Load(); latest != nil && now.Before(latest.until) {
		return latest.text, nil
	}
	text, err := mint()
	if err == nil {
		s.latest.Store(&minted{text, now.Add(fresh)})
	}
	return text, err
}

// mint signs a new assertion.
func (t *Target) mint(p *identity.Principal, now time.Time, requestID string) (string, error) {
	claims := map[string]any{
		"iss": Issuer, "aud": t.audience, "route": t.route, "scope": strings.Join(p.Scopes, " "), "jti": rand.Text(),
		"iat": now.Unix(), "exp": now.Add(t.minter.options.TTL).Unix(),
	}
	if p.Subject != "" {
		claims["sub"] = p.Subject
	}
	if requestID != "" {
		claims["request_id"] = requestID
	}
	key := t.minter.keys.now.Load()
	return token.Sign(claims, key.private, algorithm, key.jwk.ID)
}
