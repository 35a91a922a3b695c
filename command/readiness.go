package command

import (
	"gatehouse/handler/admin"
	"gatehouse/handler/gateway"
)

// readiness says whether requests should be sent here. An upstream that is down, or a provider without keys, is named
// but changes nothing: the other routes are served all the same, and a gateway that is taken away mends neither.
func readiness(draining bool, gate *gateway.Gateway) admin.Readiness {
	known, down := gate.Health()
	now := admin.Readiness{Ready: known && !draining}
	if draining {
		now.Reasons = append(now.Reasons, "draining")
	}
	if !known {
		now.Reasons = append(now.Reasons, "the backends are being checked for the first time")
	}
	for _, name := range down {
		now.Reasons = append(now.Reasons, "upstream "+name+" has no usable backend")
	}
	for _, name := range gate.KeylessProviders() {
		now.Reasons = append(now.Reasons, "provider "+name+" has no keys")
	}
	return now
}
