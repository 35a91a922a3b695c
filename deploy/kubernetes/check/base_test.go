package check

import (
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects is what the base makes.
type objects struct {
	account    core.ServiceAccount
	config     core.ConfigMap
	deployment apps.Deployment
	services   []core.Service
	autoscaler autoscaling.HorizontalPodAutoscaler
	disruption policy.PodDisruptionBudget
	network    networking.NetworkPolicy
	monitor    monitoring.ServiceMonitor
}

// build runs kustomize and decodes each object into its own type; a key that the type doesn't have is an error.
func build(t *testing.T) objects {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), "..")
	if err != nil {
		t.Fatal(err)
	}
	var all objects
	for _, resource := range made.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if err := all.decode(resource.GetKind(), text); err != nil {
			t.Errorf("%s %s: %v", resource.GetKind(), resource.GetName(), err)
		}
		if label := resource.GetLabels()["app.kubernetes.io/name"]; label != "gatehouse" {
			t.Errorf("%s %s isn't labelled: %q", resource.GetKind(), resource.GetName(), label)
		}
	}
	return all
}

func (o *objects) decode(kind string, text []byte) error {
	into := map[string]any{
		"ServiceAccount": &o.account, "ConfigMap": &o.config, "Deployment": &o.deployment, "HorizontalPodAutoscaler": &o.autoscaler,
		"PodDisruptionBudget": &o.disruption, "NetworkPolicy": &o.network, "ServiceMonitor": &o.monitor,
	}[kind]
	if kind == "Service" {
		o.services = append(o.services, core.Service{})
		into = &o.services[len(o.services)-1]
	}
	if into == nil {
		into = &struct{}{} // an object that nothing here knows fails at its first key
	}
	return yaml.UnmarshalStrict(text, into)
}

func TestObjectsAreThoseOfTheAPI(t *testing.T) {
	o := build(t)
	if len(o.services) != 2 || o.deployment.APIVersion != "apps/v1" || o.account.Name != "gatehouse" || o.config.Data["config.yaml"] == "" {
		t.Errorf("an object is missing: %+v", o)
	}
	if strings.Contains(o.config.Name, "-") {
		t.Errorf("the config map is %s: with a hash in its name, a change would replace the pods", o.config.Name)
	}
}

// selects tells whether labels have all that a selector asks for; an empty one, which selects everything, is a mistake here.
func selects(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func TestSelectorsMeetTheirObjects(t *testing.T) {
	o := build(t)
	pod := o.deployment.Spec.Template.Labels
	for name, selector := range map[string]map[string]string{
		"the deployment": o.deployment.Spec.Selector.MatchLabels, "service 0": o.services[0].Spec.Selector, "service 1": o.services[1].Spec.Selector,
		"the disruption budget": o.disruption.Spec.Selector.MatchLabels, "the network policy": o.network.Spec.PodSelector.MatchLabels,
		"the spread": o.deployment.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
	} {
		if !selects(selector, pod) {
			t.Errorf("%s selects %v, and the pods have %v", name, selector, pod)
		}
	}
	if target := o.autoscaler.Spec.ScaleTargetRef; target.Kind != o.deployment.Kind || target.Name != o.deployment.Name || o.deployment.Spec.Replicas != nil {
		t.Errorf("the autoscaler scales %v, and the deployment wants %v replicas", target, o.deployment.Spec.Replicas)
	}
	if o.deployment.Spec.Template.Spec.ServiceAccountName != o.account.Name {
		t.Errorf("the service account is %s", o.deployment.Spec.Template.Spec.ServiceAccountName)
	}
	monitored := 0
	for _, service := range o.services {
		if selects(o.monitor.Spec.Selector.MatchLabels, service.Labels) {
			monitored++
			if service.Spec.Ports[0].Name != o.monitor.Spec.Endpoints[0].Port {
				t.Errorf("the monitor scrapes the port %s, and the service has %s", o.monitor.Spec.Endpoints[0].Port, service.Spec.Ports[0].Name)
			}
		}
	}
	if monitored != 1 || o.monitor.Labels[o.monitor.Spec.JobLabel] != "gatehouse" {
		t.Errorf("the monitor selects %d services, want the admin listener's alone, as the job gatehouse", monitored)
	}
}

// Ports are named once, at the container.
func TestPortsExist(t *testing.T) {
	o := build(t)
	container := o.deployment.Spec.Template.Spec.Containers[0]
	ports := map[string]int32{}
	for _, port := range container.Ports {
		ports[port.Name] = port.ContainerPort
	}
	used := []string{container.StartupProbe.HTTPGet.Port.StrVal, container.LivenessProbe.HTTPGet.Port.StrVal, container.ReadinessProbe.HTTPGet.Port.StrVal}
	for _, service := range o.services {
		used = append(used, service.Spec.Ports[0].TargetPort.StrVal)
	}
	for _, rule := range o.network.Spec.Ingress {
		used = append(used, rule.Ports[0].Port.StrVal)
	}
	for _, name := range used {
		if ports[name] == 0 {
			t.Errorf("there is no port %q: the container has %v", name, ports)
		}
	}
	var config struct {
		Server struct{ Listen, Admin string }
	}
	if err := yaml.Unmarshal([]byte(o.config.Data["config.yaml"]), &config); err != nil || config.Server.Listen != ":8080" || config.Server.Admin != ":9090" || ports["http"] != 8080 || ports["admin"] != 9090 {
		t.Errorf("the config listens on %+v (%v), and the container's ports are %v", config.Server, err, ports)
	}
}
