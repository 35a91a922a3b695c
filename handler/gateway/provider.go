package gateway

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"gatehouse/helper/config"
	"gatehouse/helper/keyset"
	"gatehouse/helper/token"
)

// tokens makes what verifies the tokens of all providers. It outlives reloads
// that change no provider, and so does what it remembers.
func (b *builder) tokens() (*token.Cache, error) {
	var providers []token.Provider
	var unread error
	for _, name := range slices.Sorted(maps.Keys(b.cfg.Auth.Providers)) {
		p := b.cfg.Auth.Providers[name]
		keys, err := b.keySource(name, p)
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		keep(b, b.deps.Observer.Provider(name))
		providers = append(providers, token.Provider{
			Name: name, Issuer: p.Issuer, AllowAnyIssuer: p.AllowAnyIssuer, Audiences: p.Audiences, Algorithms: p.Algorithms,
			Leeway: time.Duration(p.Leeway), MaxLifetime: time.Duration(p.MaxLifetime), ScopeClaim: p.ScopeClaim, PlanClaim: p.PlanClaim,
			Headers: p.Headers, ForwardToken: p.ForwardToken, Source: keys,
		})
	}
	if unread != nil {
		return nil, unread
	}
	verifier, err := token.NewVerifier(providers)
	if err != nil {
		return nil, fmt.Errorf("auth.providers: %w", err)
	}
	same := config.Hash(&config.Config{Auth: config.Auth{Providers: b.cfg.Auth.Providers}})
	return shared(b, "tokens "+same, func() (*token.Cache, func(), error) {
		return token.NewCache(verifier, token.CacheSize), nil, nil
	})
}

// keySource makes the source of a provider's keys, or finds the one that an
// earlier configuration or another provider uses already.
func (b *builder) keySource(name string, p config.Provider) (token.KeySource, error) {
	at := "auth.providers." + name
	switch {
	case p.Secret != "":
		key, err := keyset.NewSecret("", "", []byte(p.Secret))
		if err != nil {
			return nil, &KeyError{Key: at + ".secret", Err: err}
		}
		return keyset.NewSet(key), nil
	case p.PublicKeyFile != "":
		return b.fileSource(name, at+".public_key_file", p.PublicKeyFile, p.Algorithms, keyset.NewPEMFile)
	case p.JWKSFile != "":
		return b.fileSource(name, at+".jwks_file", p.JWKSFile, p.Algorithms, keyset.NewJWKSFile)
	}
	return b.remoteSource(name, p), nil
}

// fileSource refuses a file none of whose keys the provider could use: it would
// refuse every token. One that becomes so later is taken as it is.
func (b *builder) fileSource(name, key, path string, algorithms []string, read func(string, func(keyset.Refresh)) (*keyset.File, error)) (token.KeySource, error) {
	keep(b, b.deps.Observer.Keys(name, nil))
	file, err := shared(b, "keys "+key+" "+path, func() (*keyset.File, func(), error) {
		file, err := read(path, b.refreshed([]string{name}))
		if err != nil {
			return nil, nil, err
		}
		return file, running(file.Run), nil
	})
	if err == nil {
		err = file.Fit(algorithms)
	}
	if err != nil {
		return nil, &KeyError{key, err, "write a file of public keys that the algorithms are for: PEM for public_key_file, a JSON Web Key Set for jwks_file"}
	}
	return file, nil
}

// remote is the source of the keys of one provider.
type remote struct {
	provider, url string
	*keyset.Remote
}

// remoteSource is one source for all providers of the same URL, so that
// the issuer is asked once. Where they want different times, the set is fetched
// as often as one of them wants, and unknown keys cause no more fetches than any
// of them allows. A source that takes the place of another begins with its keys:
// the issuer may be away just now.
func (b *builder) remoteSource(name string, p config.Provider) *keyset.Remote {
	url := sourceURL(p)
	names := []string{}
	for other, q := range b.cfg.Auth.Providers {
		if sourceURL(q) == url {
			names = append(names, other)
			p.Refresh, p.UnknownKidCooldown = min(p.Refresh, q.Refresh), max(p.UnknownKidCooldown, q.UnknownKidCooldown)
		}
	}
	slices.Sort(names)
	key := fmt.Sprintf("keys %s %s %s %q", url, p.Refresh, p.UnknownKidCooldown, names)
	source, _ := shared(b, key, func() (*keyset.Remote, func(), error) { // it has no error
		o := keyset.RemoteOptions{
			URL: p.JWKSURL, Refresh: time.Duration(p.Refresh), Cooldown: time.Duration(p.UnknownKidCooldown),
			Known: b.known(url), Refreshed: b.refreshed(names),
		}
		if p.Discovery {
			o.Issuer = p.Issuer
		}
		source := keyset.NewRemote(o)
		if b.deps.Offline && !b.deps.FetchKeys {
			return source, nil, nil
		}
		return source, running(source.Run), nil
	})
	b.snapshot.remotes = append(b.snapshot.remotes, remote{name, url, source})
	keep(b, b.deps.Observer.Keys(name, source.Age))
	return source
}

// sourceURL tells remote sources apart; "" is none.
func sourceURL(p config.Provider) string {
	if p.Discovery {
		return "discovery of " + p.Issuer
	}
	return p.JWKSURL
}

// known is the set that the current configuration has from the same URL.
func (b *builder) known(url string) *keyset.Set {
	if b.previous != nil {
		for _, r := range b.previous.remotes {
			if r.url == url {
				return r.Set()
			}
		}
	}
	return nil
}

// refreshed counts, traces and logs what becomes of the keys of some providers.
func (b *builder) refreshed(providers []string) func(keyset.Refresh) {
	log, observer, tracing := b.deps.Log, b.deps.Observer, b.deps.Tracing
	return func(r keyset.Refresh) {
		tracing.fetched(providers, r.Fetch)
		for _, name := range providers {
			observer.KeysRefreshed(name, string(r.Result))
		}
		named := zap.Strings("providers", providers)
		switch r.Result {
		case keyset.Failure:
			message := "keys couldn't be refreshed; those there are stay"
			if r.Keys == 0 {
				message = "keys couldn't be refreshed; there are none yet: tokens of these providers get 503 until there are"
			}
			log.Warn(message, named, zap.Int("keys", r.Keys), zap.Error(r.Err))
		case keyset.Success:
			log.Info("keys changed", named, zap.Int("keys", r.Keys))
			for _, why := range r.Skipped {
				log.Warn("a key is passed over", named, zap.Error(why))
			}
		}
	}
}

// KeylessProviders names the providers that have no keys yet, so that their
// tokens can't be judged.
func (g *Gateway) KeylessProviders() (names []string) {
	for _, r := range g.current.Load().remotes {
		if !r.Ready() {
			names = append(names, r.provider)
		}
	}
	return names
}

// WaitForKeys waits until each provider has keys, or has tried to fetch them once.
func (g *Gateway) WaitForKeys(ctx context.Context) {
	for _, r := range g.current.Load().remotes {
		r.Wait(ctx)
	}
}
