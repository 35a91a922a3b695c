package config

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gatehouse/helper/route"
	"gatehouse/helper/suggest"
)

func (c *Config) validateRoute(r *Route, at section) {
	c.validateTarget(r, at)
	switch exact, isExact := strings.CutPrefix(r.Path, "= "); {
	case isExact:
		at.at("path").path(exact)
	default:
		if at.at("path").needed(r.Path, "a path such as /order, or / for every path") {
			at.at("path").path(r.Path)
		}
	}
	if at.at("name").given() && (r.Name == "" || strings.HasPrefix(r.Name, "_") || strings.ContainsFunc(r.Name, unicode.IsControl)) {
		at.at("name").refuse("%s is not a name: write a text that doesn't begin with _", at.at("name").written())
	}
	at.at("hosts").hosts(r.Hosts)
	at.at("methods").methods(r.Methods)
	for i, method := range r.Methods {
		if slices.Contains(r.Methods[:i], method) {
			at.at("methods").item(i).refuse("%s is there twice: remove one", at.at("methods").item(i).written())
		}
	}
	if len(r.Headers) > 0 {
		validateConditions(r.Headers, at.at("headers"))
	}
	if r.Rewrite != "" {
		at.at("rewrite").path(r.Rewrite)
	}
	c.validateRouteAuth(r, at)
	if limit := at.at("limit"); limit.given() { // a key that isn't there needs no look: there may be ten thousand routes
		limit.bucket(r.Limit.Rate, r.Limit.Burst)
		limit.at("per").oneOf(r.Limit.Per, "route", "client_ip")
		limit.at("mode").oneOf(r.Limit.Mode, "enforce", "shadow")
	}
	if quota := at.at("quota"); quota.given() {
		quota.bucket(r.Quota.Rate, r.Quota.Burst)
		quota.at("mode").oneOf(r.Quota.Mode, "enforce", "shadow")
	}
	if header, ok := strings.CutPrefix(r.Quota.Per, "header:"); r.Quota.Per != "subject" && (!ok || !tokenForm.MatchString(header)) {
		at.at("quota").at("per").refuse("%s has no bucket: write subject or header:NAME", at.at("quota").at("per").written())
	}
	if cors := at.at("cors"); cors.given() {
		r.CORS.validate(cors)
	}
	at.at("flush").oneOf(r.Flush, "auto", "always")
	c.validateFilters(r, at.at("filters"))
}

func (c *Config) validateFilters(r *Route, at section) {
	at.texts(r.Filters, "a filter")
	for i, item := range r.Filters {
		if slices.Contains(r.Filters[:i], item) {
			at.item(i).refuse("is there twice: remove one")
		}
		for _, check := range at.filterChecks {
			if err := check(r, item); err != nil {
				at.item(i).refuse("%v", err)
			}
		}
	}
}

// validateTarget checks where the requests of a route go.
func (c *Config) validateTarget(r *Route, at section) {
	if at.refused["upstreams"] {
		return // then no reference can be right
	}
	switch {
	case len(r.Split) > 0 && r.Upstream != "":
		at.at("split").refuse("excludes upstream: remove one of them")
	case len(r.Split) == 0 && r.Upstream == "":
		at.at("upstream").refuse("is needed: write the name of one of the upstreams, or split")
	case r.Upstream != "":
		refersTo(at.at("upstream"), r.Upstream, "upstreams", c.Upstreams)
	}
	total := 0
	for i, split := range r.Split {
		refersTo(at.at("split").item(i).at("upstream"), split.Upstream, "upstreams", c.Upstreams)
		total += at.at("split").item(i).at("weight").weight(split.Weight)
	}
	if len(r.Split) > 0 && total == 0 {
		at.at("split").refuse("has no weight but 0, so that no upstream would get a request: write a weight of 1 or more")
	}
	if r.Mirror.Percent != 0 {
		at.at("mirror").at("percent").within(r.Mirror.Percent, 0, 100)
	}
	if r.Mirror.Upstream != "" {
		refersTo(at.at("mirror").at("upstream"), r.Mirror.Upstream, "upstreams", c.Upstreams)
	}
}

// refersTo checks that a name is one of a section's, where it is known which there are.
func refersTo[V any](s section, name, section string, known map[string]V) {
	if _, there := known[name]; !there && !s.hidden(section) {
		s.refuse("%s is not one of %s%s", s.written(), section, suggest.Suffix(name, sortedKeys(known)))
	}
}

func validateConditions(headers map[string]string, at section) {
	for _, name := range sortedKeys(headers) {
		if !tokenForm.MatchString(name) {
			at.at(name).refuse("%q is not a header's name: write one such as X-Canary", name)
		}
		if strings.EqualFold(name, "Host") {
			at.at(name).refuse("is not among the headers that are looked at here: write hosts instead")
		}
		if pattern, ok := strings.CutPrefix(headers[name], "~"); ok {
			if _, err := regexp.Compile(pattern); err != nil {
				at.at(name).refuse("%s is not a regular expression after ~: see https://pkg.go.dev/regexp/syntax", at.at(name).written())
			}
		} else if strings.ContainsFunc(headers[name], unicode.IsControl) {
			at.at(name).refuse("has a control character, which no header has: remove it")
		}
	}
	distinctHeaders(at, headers)
}

// validateRouteAuth refuses conditions that nobody would check: a scope that stands on an open route looks like protection.
func (c *Config) validateRouteAuth(r *Route, at section) {
	at.at("auth").oneOf(r.Auth, "none", "jwt", "api_key", "any")
	tokens := r.Auth == "jwt" || r.Auth == "any"
	if tokens && len(c.Auth.Providers) == 0 && !at.hidden("auth.providers") {
		at.at("auth").refuse("%q needs a provider: write one under auth.providers", r.Auth)
	}
	if keys := c.Auth.APIKeys; (r.Auth == "api_key" || r.Auth == "any") && len(keys.Keys) == 0 && keys.File == "" &&
		!at.hidden("auth.api_keys.keys") && !at.hidden("auth.api_keys.file") {
		at.at("auth").refuse("%q needs keys: write them under auth.api_keys", r.Auth)
	}
	if r.Provider != "" {
		refersTo(at.at("provider"), r.Provider, "auth.providers", c.Auth.Providers)
	}
	if r.Provider != "" && !tokens {
		at.at("provider").refuse("has no effect with auth: %s: remove it, or write auth: jwt", r.Auth)
	}
	if len(r.Claims) > 0 && !tokens {
		at.at("claims").refuse("has no effect with auth: %s: remove it, or write auth: jwt", r.Auth)
	}
	if len(r.Scopes) > 0 && r.Auth == "none" {
		at.at("scopes").refuse("has no effect with auth: none: remove it, or write auth: jwt")
	}
	for i, scope := range r.Scopes {
		for alternative := range strings.SplitSeq(scope, "|") {
			if alternative == "" || strings.ContainsAny(alternative, " ,\"\\") || strings.ContainsFunc(alternative, unicode.IsControl) {
				item := at.at("scopes").item(i)
				item.refuse("%s is not a scope: write one without spaces, commas and quotes, a|b for one of two, or scopes: [] for any valid token", item.written())
			}
		}
	}
	for _, claim := range sortedKeys(r.Claims) {
		if list, ok := r.Claims[claim].([]any); claim == "" || ok && len(list) == 0 {
			at.at("claims").at(claim).refuse("matches nothing: write the claim's value, or a list of values")
		}
	}
}

// validate refuses what a browser would never send or never accept (Fetch standard, section 3.3).
func (c *CORS) validate(at section) {
	if len(c.AllowedOrigins) == 0 && (len(c.AllowedMethods) > 0 || len(c.AllowedHeaders) > 0 || len(c.ExposedHeaders) > 0 || c.AllowCredentials || c.MaxAge > 0) {
		at.refuse("has no effect without allowed_origins: write them, or remove it")
	}
	for i, origin := range c.AllowedOrigins {
		item := at.at("allowed_origins").item(i)
		match := originForm.FindStringSubmatch(origin)
		switch {
		case origin == "*" && c.AllowCredentials:
			item.refuse(`"*" with allow_credentials would let every site act as the user: list the origins`)
		case origin != "*" && (match == nil || !validPort(match[2])):
			item.refuse(`%s is not an origin: write https://app.example.com, https://*.example.com or "*", in lower case and without a path`, item.written())
		}
	}
	at.at("allowed_methods").methods(c.AllowedMethods)
	at.at("allowed_headers").tokens(c.AllowedHeaders, "header's name")
	at.at("exposed_headers").tokens(c.ExposedHeaders, "header's name")
}

// refuseDuplicates finds routes that no request and no metric can tell apart.
func refuseDuplicates(routes []Route, at section, keys []string) {
	conditions, names := map[string]string{}, map[string]string{}
	for i, r := range routes {
		here := section{at.report, keys[i]}
		if r.Path == "" {
			continue
		}
		condition := r.condition()
		if other, ok := conditions[condition]; ok {
			here.refuse("takes the same requests as %s: change its path, hosts, methods or headers, or remove it", other)
		} else if other, ok := names[r.Name]; ok {
			here.at("name").refuse("is the same as that of %s: give one of them another name", other)
		}
		conditions[condition] = here.key
		names[r.Name] = here.key
	}
}

// refuseConflicts finds what refuseDuplicates can't see: routes that share some of their requests. The table itself is asked,
// so it can't be seen differently here, but only about paths that several routes have: of ten thousand few are.
func refuseConflicts(routes []Route, at section, keys []string) {
	having := make(map[string]int, len(routes))
	for i := range routes {
		having[routes[i].Path]++
	}
	var alike []Route
	var alikeKeys []string
	for i := range routes {
		if having[routes[i].Path] > 1 {
			alike, alikeKeys = append(alike, routes[i]), append(alikeKeys, keys[i])
		}
	}
	_, err := route.New(rulesOf(alike))
	if err == nil {
		return
	}
	for _, one := range err.(interface{ Unwrap() []error }).Unwrap() { // New has joined them
		wrong := new(route.RuleError)
		if !errors.As(one, &wrong) || at.refusedBelow(alikeKeys[wrong.Index]) {
			continue // what is wrong with one of its keys is reported there
		}
		section{at.report, alikeKeys[wrong.Index]}.refuse("%v: change its path, hosts, methods or headers, or remove it", wrong.Err)
	}
}

// rulesOf is the part of routes that chooses one for a request.
func rulesOf(routes []Route) []route.Rule {
	rules := make([]route.Rule, len(routes))
	for i, r := range routes {
		rules[i] = route.Rule{Name: r.Name, Path: r.Path, Hosts: r.Hosts, Methods: r.Methods, Headers: r.Headers, AllowUnusualPath: r.AllowUnusualPath}
	}
	return rules
}

// condition is the same text for two routes that take the same requests.
func (r *Route) condition() string {
	text := strconv.AppendQuote(nil, r.Path)
	for _, list := range [][]string{lowered(r.Hosts), r.Methods} {
		text = append(text, '[')
		for _, item := range slices.Compact(slices.Sorted(slices.Values(list))) {
			text = strconv.AppendQuote(text, item)
		}
	}
	headers := make(map[string]string, len(r.Headers))
	for name, value := range r.Headers {
		headers[strings.ToLower(name)] = value
	}
	text = append(text, '{')
	for _, name := range sortedKeys(headers) {
		text = strconv.AppendQuote(strconv.AppendQuote(text, name), headers[name])
	}
	return string(text)
}

func lowered(list []string) []string {
	lower := make([]string, len(list))
	for i, text := range list {
		lower[i] = strings.ToLower(text)
	}
	return lower
}
