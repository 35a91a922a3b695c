package config

import (
	"net"
	"path/filepath"
)

// Log is the section `log`.
type Log struct {
	// Least severe line that is written: debug, info, warn or error; changeable at run time over the admin API. Default: info.
	Level string `yaml:"level"`
	// json, or console for a person. Default: json.
	Format string `yaml:"format"`
	// stdout, stderr or a file's path. Default: stdout.
	Output string `yaml:"output"`
	// Rotation, when output is a file. Default: each key's own.
	Rotate Rotate `yaml:"rotate"`
	// The access log. Default: each key's own.
	Access AccessLog `yaml:"access"`
}

// Rotate is the section `log.rotate`.
type Rotate struct {
	// Size at which a new file is begun. Default: 100MiB.
	MaxSize Size `yaml:"max_size"`
	// Old files that are kept; 0: all. Default: 7.
	MaxBackups int `yaml:"max_backups"`
	// Days that an old file is kept; 0: for ever. Default: 28.
	MaxAgeDays int `yaml:"max_age_days"`
	// Compress old files with gzip. Default: true.
	Compress bool `yaml:"compress"`
}

// AccessLog is the section `log.access`.
type AccessLog struct {
	// One line for each request. Default: true.
	Enabled bool `yaml:"enabled"`
	// Share of the 2xx and 3xx answers that is logged, 0 to 1; an error is always logged. Default: 1.
	Sample float64 `yaml:"sample"`
	// Request headers that the line carries too. Default: [].
	Headers []string `yaml:"headers"`
	// Query parameters whose values are never logged. Default: [access_token, token, api_key, code].
	RedactQuery []string `yaml:"redact_query"`
}

// Metrics is the section `metrics`.
type Metrics struct {
	// Upper bounds of the duration histograms in seconds, ascending. Default: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10].
	Buckets []float64 `yaml:"buckets"`
	// Expose native histograms besides the classic buckets to a scraper that asks for them. Default: true.
	NativeHistograms bool `yaml:"native_histograms"`
}

// Tracing is the section `tracing`. W3C traceparent is continued and forwarded either way.
type Tracing struct {
	// Where spans go by OTLP over HTTP, such as http://otel-collector:4318. Default: "", nowhere.
	OTLPEndpoint string `yaml:"otlp_endpoint"`
	// Share of new traces that is sampled, 0 to 1. Default: 0.1.
	SampleRatio float64 `yaml:"sample_ratio"`
}

// Redis is the section `redis`.
type Redis struct {
	// HOST:PORT of one node; several: a cluster; with sentinel_master: the sentinels; []: as without the section. Default: none, required.
	Addresses []string `yaml:"addresses"`
	// Name of the master that the sentinels watch. Default: "".
	SentinelMaster string `yaml:"sentinel_master"`
	// ACL user. Default: "".
	Username string `yaml:"username"`
	// Its password. Default: "".
	Password Secret `yaml:"password"`
	// Number of the database. Default: 0.
	DB int `yaml:"db"`
	// Speak TLS. Default: false.
	TLS bool `yaml:"tls"`
	// For one call; past it the request is decided locally. Default: 20ms.
	Timeout Duration `yaml:"timeout"`
	// While Redis is away, each process allows limit / instances. Default: 1.
	Instances int `yaml:"instances"`
	// Tokens that an instance takes at a time for a busy key; 0: one by one. Default: 0.
	Lease int `yaml:"lease"`
}

func (l *Log) validate(at section) {
	at.at("level").oneOf(l.Level, "debug", "info", "warn", "error")
	at.at("format").oneOf(l.Format, "json", "console")
	if output := at.at("output"); output.needed(l.Output, "stdout, stderr or a file's path") && l.Output != "stdout" && l.Output != "stderr" {
		output.folder(filepath.Dir(l.Output))
	}
	rotate := at.at("rotate")
	if l.Rotate.MaxSize < 1<<20 {
		rotate.at("max_size").refuse("%s is too small: write 1MiB or more", rotate.at("max_size").written())
	}
	rotate.at("max_backups").atLeast(l.Rotate.MaxBackups, 0)
	rotate.at("max_age_days").atLeast(l.Rotate.MaxAgeDays, 0)
	access := at.at("access")
	access.at("sample").within(l.Access.Sample, 0, 1)
	access.at("headers").tokens(l.Access.Headers, "header's name")
	access.at("redact_query").texts(l.Access.RedactQuery, "a query parameter")
}

func (m *Metrics) validate(at section) {
	buckets := at.at("buckets")
	if len(m.Buckets) == 0 {
		buckets.refuse("is empty: write upper bounds in seconds, such as [0.01, 0.1, 1], or remove the key")
	}
	for i, bound := range m.Buckets {
		switch {
		case bound <= 0:
			buckets.item(i).refuse("%s is not more than 0: write an upper bound in seconds", buckets.item(i).written())
		case i > 0 && bound <= m.Buckets[i-1]:
			buckets.item(i).refuse("%s is not more than the bound before it: write them in ascending order", buckets.item(i).written())
		}
	}
}

func (t *Tracing) validate(at section) {
	if t.OTLPEndpoint != "" {
		at.at("otlp_endpoint").webURL(t.OTLPEndpoint)
	}
	at.at("sample_ratio").within(t.SampleRatio, 0, 1)
}

func (r *Redis) validate(at section) {
	if !at.at("addresses").given() {
		at.at("addresses").refuse("is needed: write the address of Redis, such as [redis:6379]")
	}
	for i, address := range r.Addresses {
		host, port, err := net.SplitHostPort(address)
		if item := at.at("addresses").item(i); err != nil || !validHost(host) || port == "" || !validPort(port) {
			item.refuse("%s is not an address: write redis:6379", item.written())
		}
	}
	at.at("db").atLeast(r.DB, 0)
	if r.DB > 0 && len(r.Addresses) > 1 && r.SentinelMaster == "" {
		at.at("db").refuse("is not there in a cluster, which several addresses are: remove it, or name sentinel_master")
	}
	at.at("timeout").positive(r.Timeout)
	at.at("instances").atLeast(r.Instances, 1)
	at.at("lease").atLeast(r.Lease, 0)
}
