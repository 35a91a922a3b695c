package metrics

import "maps"

// Provider is the handle for the authentication decisions of one provider.
type Provider struct {
	metrics *Metrics
	name    string
}

type authKey struct{ provider, result, cache string }

// authKeys are all decisions that a provider can come to.
func authKeys(provider string) (keys []authKey) {
	for _, result := range []string{"ok", "missing", "invalid", "expired", "scope", "claim", "revoked", "keys_unavailable", Other} {
		for _, cache := range []string{"hit", "miss", "none"} {
			keys = append(keys, authKey{provider, result, cache})
		}
	}
	return keys
}

// Provider makes the authentication series of a provider of the config, so that Auth counts under its name.
// The caller removes it when the provider goes.
func (m *Metrics) Provider(name string) *Provider {
	name = valid(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.providers.add(name)
	counters := maps.Clone(*m.auth.Load())
	for _, key := range authKeys(name) {
		counters[key] = m.series.auth.WithLabelValues(key.provider, key.result, key.cache)
	}
	m.auth.Store(&counters)
	return &Provider{m, name}
}

// Remove takes the provider's series away, unless another handle of the same name is still registered.
// It is called once.
func (p *Provider) Remove() {
	m := p.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.providers.drop(p.name) {
		return
	}
	counters := maps.Clone(*m.auth.Load())
	for _, key := range authKeys(p.name) {
		delete(counters, key)
		m.series.auth.DeleteLabelValues(key.provider, key.result, key.cache)
	}
	m.auth.Store(&counters)
}

// Auth counts one authentication decision: result is ok, missing, invalid, expired, scope, claim, revoked or
// keys_unavailable, cache is hit, miss or none. A provider that isn't registered counts as None, another result or
// cache as Other.
func (m *Metrics) Auth(provider, result, cache string) {
	counters := *m.auth.Load()
	c := counters[authKey{provider, result, cache}]
	if c == nil {
		c = counters[authKey{None, result, cache}]
	}
	if c == nil {
		c = counters[authKey{None, Other, "none"}]
	}
	c.Inc()
}
