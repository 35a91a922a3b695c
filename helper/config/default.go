package config

import "time"

// defaulter is a section with defaults other than zero values. A nested section sets its own.
type defaulter interface{ setDefaults() }

func (s *Server) setDefaults() {
	s.Listen = ":8080"
	s.Admin = "127.0.0.1:9090"
	s.MaxHeaderSize = 32 << 10
	s.MaxBodySize = 10 << 20
}

func (t *ServerTLS) setDefaults() { t.MinVersion = "1.2" }

func (a *ACME) setDefaults() { a.Cache = "acme" }

func (t *ServerTimeouts) setDefaults() {
	*t = ServerTimeouts{ReadHeader: seconds(5), Idle: seconds(75), WriteIdle: seconds(60)}
}

func (d *Drain) setDefaults() { d.Timeout = seconds(30) }

func (l *Log) setDefaults() {
	l.Level = "info"
	l.Format = "json"
	l.Output = "stdout"
}

func (r *Rotate) setDefaults() {
	*r = Rotate{MaxSize: 100 << 20, MaxBackups: 7, MaxAgeDays: 28, Compress: true}
}

func (a *AccessLog) setDefaults() {
	*a = AccessLog{Enabled: true, Sample: 1, RedactQuery: []string{"access_token", "token", "api_key", "code"}}
}

func (m *Metrics) setDefaults() {
	m.Buckets = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}
	m.NativeHistograms = true
}

func (t *Tracing) setDefaults() { t.SampleRatio = 0.1 }

func (r *Redis) setDefaults() {
	r.Timeout = Duration(20 * time.Millisecond)
	r.Instances = 1
}

func (a *Auth) setDefaults() { a.ExpiredStatus = 403 }

func (k *APIKeys) setDefaults() { k.Header = "X-API-Key" }

func (a *Assertion) setDefaults() {
	a.Header = "X-Gateway-Assertion"
	a.TTL = seconds(30)
}

func (p *Provider) setDefaults() {
	p.Refresh = seconds(15 * 60)
	p.UnknownKidCooldown = seconds(30)
	p.Leeway = seconds(30)
	p.ForwardToken = true
	p.ScopeClaim = "scope"
	p.Headers = map[string]string{"X-User-Id": "sub", "X-User-Email": "email", "X-User-Scopes": "scope"}
	p.TokenFrom = []string{"header"}
}

func (u *Upstream) setDefaults() {
	u.Balance = "round_robin"
	u.Host = "backend"
}

func (b *Backend) setDefaults() { b.Weight = 1 }

func (h *Health) setDefaults() {
	h.Interval = seconds(5)
	h.Timeout = seconds(1)
	h.HealthyAfter = 2
	h.UnhealthyAfter = 3
	h.ExpectStatus = Statuses{{200, 399}}
}

func (e *Eject) setDefaults() { *e = Eject{Failures: 5, For: seconds(30), MaxPercent: 50} }

func (b *Breaker) setDefaults() {
	*b = Breaker{Failures: 5, OpenFor: seconds(30), HalfOpenRequests: 1, Statuses: Statuses{{500, 599}}}
}

func (t *UpstreamTimeouts) setDefaults() {
	*t = UpstreamTimeouts{Connect: seconds(2), ResponseHeader: seconds(15), Request: seconds(30), Idle: seconds(60)}
}

func (r *Retry) setDefaults() {
	r.Attempts = 2
	r.On = []string{"connect", "reset", "502", "503", "504"}
	r.Methods = []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
	r.Budget = 0.2
	r.Backoff = Duration(25 * time.Millisecond)
}

func (c *Connections) setDefaults() {
	*c = Connections{MaxIdle: 512, IdleTimeout: seconds(90), Lane: "auto"}
}

func (r *Route) setDefaults() { r.Flush = "auto" }

func (s *Split) setDefaults() { s.Weight = 1 }

func (l *RouteLimit) setDefaults() {
	l.Per = "route"
	l.Mode = "enforce"
}

func (q *Quota) setDefaults() {
	q.Per = "subject"
	q.Mode = "enforce"
}

func seconds(n int) Duration { return Duration(time.Duration(n) * time.Second) }
