package metrics_test

import (
	"strings"
	"testing"
	"time"
)

func TestKeysOfAProvider(t *testing.T) {
	m := newMetrics()
	old := m.Keys("identity", func() time.Duration { return time.Hour })
	m.KeysRefreshed("identity", "failure")
	m.KeysRefreshed("identity", "another result")
	m.KeysRefreshed("nobody", "success")
	next := m.Keys("identity", func() time.Duration { return 90 * time.Second }) // a reload
	old.Remove()
	m.Keys("file", nil)
	got := series(t, m)
	for _, want := range []string{
		`gateway_keys_age_seconds{provider="identity"} 90`,
		`gateway_key_refreshes_total{provider="identity",result="failure"} 1`,
		`gateway_key_refreshes_total{provider="identity",result="success"} 0`,
		`gateway_key_refreshes_total{provider="file",result="unchanged"} 0`,
	} {
		if !strings.Contains(got, want+"\n") {
			t.Errorf("there is no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "nobody") || strings.Contains(got, "another result") || strings.Contains(got, `age_seconds{provider="file"}`) {
		t.Errorf("there is something that nobody registered in\n%s", got)
	}
	next.Remove()
	if got := series(t, m); strings.Contains(got, `provider="identity"`) {
		t.Errorf("the provider is gone, and its series are there:\n%s", got)
	}
}
