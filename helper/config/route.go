package config

// Route says which requests go to which upstream, and what is done with them on the way.
type Route struct {
	// Value of the label uri in metrics and of route in the log. Default: the path.
	Name string `yaml:"name"`
	// Name of the upstream. Required unless split is there. Default: "".
	Upstream string `yaml:"upstream"`
	// Shares the requests among several upstreams by weight, instead of `upstream`; a caller keeps its own. Defaults come from the first. Default: [].
	Split []Split `yaml:"split"`
	// A prefix at a segment boundary (/order: /order and /order/…, never /orders), or "= /exact" for one path only; *, {id} and :id are just characters, and /order/ leaves /order out. Default: none, required.
	Path string `yaml:"path"`
	// Host names, exact or *.example.com; empty: any. Default: [].
	Hosts []string `yaml:"hosts"`
	// Methods, in upper case; empty: any. Default: [].
	Methods []string `yaml:"methods"`
	// Request headers that must be there: a value (exact), or ~ and a regular expression. Default: {}.
	Headers map[string]string `yaml:"headers"`
	// Take the matched prefix away: /order/42 reaches the upstream as /42. Default: false.
	StripPrefix bool `yaml:"strip_prefix"`
	// A path put in front, after stripping. Default: "".
	Rewrite string `yaml:"rewrite"`
	// Forward encoded slashes, dot segments and // as they came. Default: false.
	AllowUnusualPath bool `yaml:"allow_unusual_path"`
	// none, jwt, api_key, or any (either of the two). Default: jwt where providers exist, else none.
	Auth string `yaml:"auth"`
	// One of auth.providers. Default: "", the token's iss chooses.
	Provider string `yaml:"provider"`
	// All of these are needed; "a|b" is one of two; []: any valid token will do. Default: the upstream's name.
	Scopes []string `yaml:"scopes"`
	// Claims that must match: a value, or a list for one of them. A value is a string, an int, a float64 or a bool. Default: {}.
	Claims map[string]any `yaml:"claims"`
	// Before authentication. Default: off.
	Limit RouteLimit `yaml:"limit"`
	// After authentication, besides the limit of the caller's plan. Default: off.
	Quota Quota `yaml:"quota"`
	// Cross-origin requests from browsers. Default: off, no origin is named.
	CORS CORS `yaml:"cors"`
	// For the whole request; 0s: none. Default: the upstream's timeouts.request.
	Timeout Duration `yaml:"timeout"`
	// Largest request body; 0: no limit. Default: the server's.
	MaxBodySize Size `yaml:"max_body_size"`
	// auto: server-sent events and unknown lengths at once; always: everything at once. Default: auto.
	Flush string `yaml:"flush"`
	// A copy of some requests for another upstream. Default: off, no upstream is named.
	Mirror Mirror `yaml:"mirror"`
	// After authentication, in this order; each a name, or name:argument. Default: [].
	Filters []string `yaml:"filters"`
}

// Split is one item of a route's `split`.
type Split struct {
	// Name of the upstream. Default: none, required.
	Upstream string `yaml:"upstream"`
	// Share against the other weights; 0: none. Default: 1.
	Weight int `yaml:"weight"`
}

// RouteLimit is the section `limit` of a route.
type RouteLimit struct {
	// Sustained rate; 0: no limit. Default: 0.
	Rate Rate `yaml:"rate"`
	// Requests that may come at once. Default: one second's worth, at least 1.
	Burst int `yaml:"burst"`
	// What has a bucket: route or client_ip (IPv6 by /64). Default: route.
	Per string `yaml:"per"`
	// enforce, or shadow: counted and logged, not refused. Default: enforce.
	Mode string `yaml:"mode"`
}

// Quota is the section `quota` of a route.
type Quota struct {
	// Sustained rate; 0: no limit. Default: 0.
	Rate Rate `yaml:"rate"`
	// Requests that may come at once. Default: one second's worth, at least 1.
	Burst int `yaml:"burst"`
	// What has a bucket: subject (user or API key) or header:NAME; where there is none, the client's address. Default: subject.
	Per string `yaml:"per"`
	// enforce, or shadow: counted and logged, not refused. Default: enforce.
	Mode string `yaml:"mode"`
}

// CORS is the section `cors` of a route.
type CORS struct {
	// Exact origins, https://*.example.com, or "*"; empty: CORS is off. Default: [].
	AllowedOrigins []string `yaml:"allowed_origins"`
	// Methods that a preflight is told, in upper case. Default: [], the route's methods, or GET, HEAD and POST where it takes any.
	AllowedMethods []string `yaml:"allowed_methods"`
	// Request headers that a preflight is told. Default: [].
	AllowedHeaders []string `yaml:"allowed_headers"`
	// Response headers that a script may read. Default: [].
	ExposedHeaders []string `yaml:"exposed_headers"`
	// Cookies and Authorization may come along; not with the origin "*". Default: false.
	AllowCredentials bool `yaml:"allow_credentials"`
	// How long a preflight may be remembered. Default: 0s, the browser decides.
	MaxAge Duration `yaml:"max_age"`
}

// Mirror is the section `mirror` of a route.
type Mirror struct {
	// Name of the upstream. Default: "".
	Upstream string `yaml:"upstream"`
	// Share of the requests, in percent. Default: 0.
	Percent float64 `yaml:"percent"`
	// Compare the answers and count the differences. Default: false.
	Compare bool `yaml:"compare"`
}
