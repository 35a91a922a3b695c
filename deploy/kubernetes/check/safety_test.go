package check

import (
	"slices"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// What is reachable is the public port; the admin listener is Prometheus' alone.
func TestAdminListenerIsNotPublic(t *testing.T) {
	o := build(t)
	for _, rule := range o.network.Spec.Ingress {
		if rule.Ports[0].Port.StrVal == "admin" && len(rule.From) == 0 {
			t.Error("everybody reaches the admin listener")
		}
	}
	for _, service := range o.services {
		if service.Spec.Ports[0].TargetPort.StrVal == "admin" && service.Spec.ClusterIP != "None" || len(service.Spec.Ports) != 1 {
			t.Errorf("%s leads to the admin listener", service.Name)
		}
	}
	if env := o.deployment.Spec.Template.Spec.Containers[0].Env[0]; env.ValueFrom == nil || env.ValueFrom.SecretKeyRef == nil || env.ValueFrom.SecretKeyRef.Optional != nil {
		t.Error("the admin token may be missing")
	}
}

// The restricted Pod Security Standard, and a root file system that nothing writes.
func TestPodsAreRestricted(t *testing.T) {
	pod := build(t).deployment.Spec.Template.Spec
	container := pod.Containers[0].SecurityContext
	switch {
	case !*pod.SecurityContext.RunAsNonRoot || *pod.SecurityContext.RunAsUser == 0 || pod.SecurityContext.SeccompProfile.Type != "RuntimeDefault":
		t.Errorf("the pod may be root: %+v", pod.SecurityContext)
	case *container.AllowPrivilegeEscalation || !*container.ReadOnlyRootFilesystem || len(container.Capabilities.Add) > 0 || !slices.Contains(container.Capabilities.Drop, "ALL"):
		t.Errorf("the container may do too much: %+v", container)
	case *pod.AutomountServiceAccountToken:
		t.Error("the pod has a token for Kubernetes")
	}
}

// A pod that ends serves until nobody is sent to it, and is given the time to.
func TestPodsDrain(t *testing.T) {
	o := build(t)
	pod := o.deployment.Spec.Template.Spec
	container := pod.Containers[0]
	var config struct {
		Server struct {
			Drain struct{ Delay, Timeout string }
		}
	}
	if err := yaml.Unmarshal([]byte(o.config.Data["config.yaml"]), &config); err != nil {
		t.Fatal(err)
	}
	timeout, err := time.ParseDuration(config.Server.Drain.Timeout)
	if err != nil {
		t.Fatal(err)
	}
	sleep := time.Duration(container.Lifecycle.PreStop.Sleep.Seconds) * time.Second
	if grace := time.Duration(*pod.TerminationGracePeriodSeconds) * time.Second; sleep < 5*time.Second || grace < sleep+timeout+5*time.Second {
		t.Errorf("it sleeps %v and drains for %v, and is killed after %v", sleep, timeout, grace)
	}
	if container.LivenessProbe.HTTPGet.Path != "/healthz" || container.ReadinessProbe.HTTPGet.Path != "/readyz" {
		t.Error("a probe asks the wrong question")
	}
	if *o.autoscaler.Spec.MinReplicas < 2 || o.disruption.Spec.MaxUnavailable.IntVal != 1 {
		t.Error("one pod's end may be an outage")
	}
}

// A mounted folder follows the config map; a single file in it wouldn't.
func TestConfigIsMountedAsAFolder(t *testing.T) {
	pod := build(t).deployment.Spec.Template.Spec
	mount := pod.Containers[0].VolumeMounts[0]
	if mount.MountPath != "/etc/gatehouse" || mount.SubPath != "" || pod.Volumes[0].ConfigMap.Name != "gatehouse" || !mount.ReadOnly {
		t.Errorf("the config is mounted as %+v", mount)
	}
}
