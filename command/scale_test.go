package command

import (
	"os"
	"path/filepath"
	"testing"

	"gatehouse/helper/config"
)

// The configs of deploy/compose/scale.yaml are valid, and the gateways' one uses what it is there to show.
func TestTheConfigsOfSeveralGatewaysAreValid(t *testing.T) {
	parsed := map[string]*config.Config{}
	for _, name := range []string{"gateway.yaml", "edge.yaml"} {
		file := filepath.Join("../deploy/compose/scale", name)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if parsed[name], err = config.Parse(file, text, func(string) (string, bool) { return "", false }); err != nil {
			t.Fatal(err)
		}
	}
	gateway, edge := parsed["gateway.yaml"], parsed["edge.yaml"]
	if n := len(edge.Upstreams["gateways"].Backends); gateway.Redis == nil || gateway.Redis.Instances != n {
		t.Errorf("%d gateways stand behind the edge, and they know of %+v", n, gateway.Redis)
	}
}
