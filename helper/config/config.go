package config

import "slices"

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

// validate checks what decoding can't: ranges, syntax, and references between sections. routeKeys is where each route stands.
func (c *Config) validate(at section, routeKeys []string) {
	c.Server.validate(at.at("server"))
	c.Log.validate(at.at("log"))
	c.Metrics.validate(at.at("metrics"))
	c.Tracing.validate(at.at("tracing"))
	if c.Redis != nil {
		c.Redis.validate(at.at("redis"))
	}
	c.Auth.validate(at.at("auth"), c.Plans)
	for _, name := range sortedKeys(c.Plans) {
		c.Plans[name].validate(at.at("plans").at(name), name)
	}
	if len(c.Upstreams) == 0 {
		at.at("upstreams").refuse("is empty: write at least one upstream")
	}
	for _, name := range sortedKeys(c.Upstreams) {
		at.at("upstreams").at(name).name(name)
		upstream := c.Upstreams[name]
		upstream.validate(at.at("upstreams").at(name))
	}
	if len(c.Routes) == 0 && !c.hidesRoutes(at.at("upstreams")) {
		at.at("routes").refuse("is empty: write at least one route, here or as the route of an upstream")
	}
	for i := range c.Routes {
		c.validateRoute(&c.Routes[i], section{at.report, routeKeys[i]})
	}
	refuseDuplicates(c.Routes, at, routeKeys)
	refuseConflicts(c.Routes, at, routeKeys)
}

// hidesRoutes tells whether a route may stand in an upstream that couldn't be read.
func (c *Config) hidesRoutes(upstreams section) bool {
	return upstreams.hidden(upstreams.key) || slices.ContainsFunc(sortedKeys(c.Upstreams), func(name string) bool {
		return upstreams.hidden(upstreams.at(name).at("route").key)
	})
}

func (p Plan) validate(at section, name string) {
	at.name(name)
	if p.Rate.Events == 0 {
		at.at("rate").refuse("is needed: write a rate such as 1000/m")
	}
	at.bucket(p.Rate, p.Burst)
}

// bucket checks a token bucket.
func (s section) bucket(rate Rate, burst int) {
	const longest = 10 * 365 * 24 * 3600 // seconds: far from where nanoseconds in an int64 overflow
	mistyped := s.refused[s.at("rate").key]
	switch {
	case rate.Events == 0 && burst != 0 && !mistyped:
		s.at("burst").refuse("has no effect without a rate: write a rate such as 10/s, or remove it")
	case (rate.Events != 0 || mistyped && s.at("burst").given()) && burst < 1:
		s.at("burst").refuse("%s would allow nothing: write 1 or more, or remove it for one second's worth", s.at("burst").written())
	case rate.Events != 0 && float64(burst)/rate.PerSecond() > longest:
		s.at("burst").refuse("%s would take over ten years to fill again at this rate: write less", s.at("burst").written())
	}
}
