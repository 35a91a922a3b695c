package metrics

import (
	"slices"
	"time"
)

// Keys is the handle for the keys of one provider.
type Keys struct {
	metrics  *Metrics
	provider string
	age      func() time.Duration
}

// keyResults are what can become of a refresh.
func keyResults() []string { return []string{"success", "unchanged", "failure"} }

// Keys makes the series of the keys of a provider that are brought up to date. age is how long ago they last were,
// read at each scrape; nil: they have none. The caller removes the handle when the provider goes.
func (m *Metrics) Keys(provider string, age func() time.Duration) *Keys {
	k := &Keys{m, valid(provider), age}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[k.provider] = append(m.keys[k.provider], k)
	for _, result := range keyResults() {
		m.series.keyRefreshes.WithLabelValues(k.provider, result)
	}
	return k
}

// Remove takes the series away, unless another handle of the same provider is still registered. It is called once.
func (k *Keys) Remove() {
	m := k.metrics
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keys[k.provider] = slices.DeleteFunc(m.keys[k.provider], func(other *Keys) bool { return other == k })
	if len(m.keys[k.provider]) > 0 {
		return
	}
	delete(m.keys, k.provider)
	for _, result := range keyResults() {
		m.series.keyRefreshes.DeleteLabelValues(k.provider, result)
	}
}

// KeysRefreshed counts a refresh of a provider's keys: result is success, unchanged or failure. One of a provider
// without a handle isn't counted: its configuration is gone.
func (m *Metrics) KeysRefreshed(provider, result string) {
	provider = valid(provider)
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.keys[provider]) > 0 && slices.Contains(keyResults(), result) {
		m.series.keyRefreshes.WithLabelValues(provider, result).Inc()
	}
}

// keyAges are the handles whose age a scrape reads: the last registered of each provider.
func (m *Metrics) keyAges() (handles []*Keys) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, all := range m.keys {
		if last := all[len(all)-1]; last.age != nil {
			handles = append(handles, last)
		}
	}
	return handles
}
