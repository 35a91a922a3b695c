package metrics

import "time"

// The results of a reload.
const (
	ReloadSuccess   = "success"
	ReloadFailure   = "failure"
	ReloadUnchanged = "unchanged"
)

// ConfigLoaded shows the config that is now in service, by its hash and the time of its load: at start and after each
// reload that changed something.
func (m *Metrics) ConfigLoaded(hash string, at time.Time) {
	m.series.configInfo.Reset()
	m.series.configInfo.WithLabelValues(valid(hash)).Set(1)
	m.series.configLoaded.Set(float64(at.UnixNano()) / 1e9)
	m.series.configOK.Set(1)
}

// Retiring changes the number of configs that aren't in service any more and are still used, by 1 when another takes a
// config's place and by -1 when its last request has ended.
func (m *Metrics) Retiring(delta int64) { m.retiring.Add(delta) }

// ConfigReload counts a reload. Only ReloadFailure makes the last reload unsuccessful: a file that is again what is
// running has nothing wrong with it.
func (m *Metrics) ConfigReload(result string) {
	switch result {
	case ReloadSuccess, ReloadUnchanged:
		m.series.configOK.Set(1)
	default:
		result = ReloadFailure
		m.series.configOK.Set(0)
	}
	m.series.configReloads.WithLabelValues(result).Inc()
}
