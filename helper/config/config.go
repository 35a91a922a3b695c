package config

// Config is a whole config.yaml. Package documentation says what Load and Parse guarantee about one.
type Config struct {
	// The two listeners and what every connection and request is held to. Default: each key's own.
	Server Server `yaml:"server"`
	// The log and its access lines. Default: each key's own.
	Log Log `yaml:"log"`
	// What the Prometheus endpoint shows. Default: each key's own.
	Metrics Metrics `yaml:"metrics"`
	// Distributed tracing. Default: each key's own.
	Tracing Tracing `yaml:"tracing"`
	// The Redis that processes share their limits through. Default: absent, limits live in this process only.
	Redis *Redis `yaml:"redis"`
	// Who may call: token providers, API keys, revocations. Default: each key's own.
	Auth Auth `yaml:"auth"`
	// Client quotas by name; `default` is for callers that name none. Default: {}.
	Plans map[string]Plan `yaml:"plans"`
	// The services behind the gateway, by name. Default: none, at least one is required.
	Upstreams map[string]Upstream `yaml:"upstreams"`
	// Which requests go where. The `route` of an upstream is appended to these. Default: none, at least one is required.
	Routes []Route `yaml:"routes"`
}

// Plan is one token bucket for each subject over all routes.
type Plan struct {
	// Sustained rate of a subject. Default: none, required.
	Rate Rate `yaml:"rate"`
	// Requests that may come at once. Default: one second's worth, at least 1.
	Burst int `yaml:"burst"`
}
