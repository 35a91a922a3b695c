package grafana_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/heatmap"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/statetimeline"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"gopkg.in/yaml.v3"
)

func dashboards(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("dashboards/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	return files
}

//nolint:staticcheck // the newer form of a dashboard isn't what Grafana's provisioning reads from a file in every supported version
func decode(raw []byte) (dashboard.Dashboard, error) {
	runtime := cog.NewRuntime() // with the panels and queries that we use: all of Grafana's take a minute to build
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	for _, panel := range []variants.PanelcfgConfig{heatmap.VariantConfig(), stat.VariantConfig(), statetimeline.VariantConfig(), timeseries.VariantConfig()} {
		runtime.RegisterPanelcfgVariant(panel)
	}
	var d dashboard.Dashboard
	err := d.UnmarshalJSONStrict(raw)
	var problems cog.BuildErrors // a typed nil where there is none, so err itself is never nil
	if errors.As(err, &problems) && len(problems) == 0 {
		err = nil
	}
	return d, err
}

func TestDashboardsAreWhatGrafanasOwnSchemaAllows(t *testing.T) {
	for _, file := range dashboards(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := decode(raw)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		ids := map[uint32]bool{}
		for _, p := range d.Panels {
			if p.Panel == nil {
				continue
			}
			if p.Panel.Description == nil || *p.Panel.Description == "" {
				t.Errorf("%s: panel %q has no description", file, *p.Panel.Title)
			}
			if ids[*p.Panel.Id] {
				t.Errorf("%s: two panels have the id %d", file, *p.Panel.Id)
			}
			ids[*p.Panel.Id] = true
		}
	}
}

func TestUnknownFieldInADashboardIsFound(t *testing.T) {
	if _, err := decode([]byte(`{"schemaVersion":39,"templating":{},"annotations":{},"pannels":[]}`)); err == nil {
		t.Error("a misspelt field passes")
	}
}

func TestDashboardsStartWithTheProvisionedDataSource(t *testing.T) {
	raw, err := os.ReadFile("provisioning/datasources/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var provisioned struct{ Datasources []struct{ UID string } }
	if err := yaml.Unmarshal(raw, &provisioned); err != nil {
		t.Fatal(err)
	}
	for _, file := range dashboards(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Templating struct {
				List []struct {
					Type    string
					Current struct{ Value any }
				}
			}
		}
		if err := json.Unmarshal(raw, &d); err != nil {
			t.Fatal(err)
		}
		if v := d.Templating.List[0]; v.Type != "datasource" || v.Current.Value != provisioned.Datasources[0].UID {
			t.Errorf("%s: the first variable is a %s with %v, want the data source %s", file, v.Type, v.Current.Value, provisioned.Datasources[0].UID)
		}
	}
}

func TestPromtoolAcceptsTheRulesAndTheirTests(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on PATH: the alert rules are not evaluated")
	}
	for _, row := range []struct {
		name string
		args []string
	}{
		{"the rules are well formed", []string{"check", "rules", "alerts/gatehouse.rules.yml"}},
		{"the rules alert when they should", []string{"test", "rules", "alerts/gatehouse_test.yml"}},
		{"the scrape config is well formed", []string{"check", "config", "--syntax-only", "../deploy/prometheus/prometheus.yml"}},
		{"and that of several gateways", []string{"check", "config", "--syntax-only", "../deploy/compose/scale/prometheus.yml"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if out, err := exec.Command(promtool, row.args...).CombinedOutput(); err != nil {
				t.Errorf("promtool %v: %v\n%s", row.args, err, out)
			}
		})
	}
}
