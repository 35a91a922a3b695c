package config

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"gatehouse/helper/route"
)

// warnOfShadows finds routes that never get a request: of two with the same path and as many conditions the earlier one wins,
// so a later one whose requests all meet the earlier's conditions gets none.
func warnOfShadows(routes []Route, at section, keys []string) {
	samePath := map[string][]int{}
	for i := range routes {
		r := &routes[i]
		var takers []string
		reached := false
		for _, host := range orAny(r.Hosts) {
			for _, method := range orAny(r.Methods) {
				taker := slices.IndexFunc(samePath[r.Path], func(earlier int) bool { return routes[earlier].takes(r, host, method) })
				if reached = reached || taker < 0; !reached {
					takers = append(takers, keys[samePath[r.Path][taker]])
				}
			}
		}
		if !reached {
			slices.Sort(takers)
			section{at.report, keys[i]}.warn("never gets a request, since what it asks for is taken by %s, which comes before it: move it up, or change one of them",
				strings.Join(slices.Compact(takers), ", "))
		}
		samePath[r.Path] = append(samePath[r.Path], i)
	}
}

func orAny(list []string) []string {
	if len(list) == 0 {
		return []string{""}
	}
	return list
}

// takes tells whether r, which is the earlier one, gets every request with one host and one method ("": any) of other.
func (r *Route) takes(other *Route, host, method string) bool {
	sameHost := func(own string) bool { return strings.EqualFold(own, host) }
	if len(r.Headers) != len(other.Headers) || !slices.ContainsFunc(orAny(r.Hosts), sameHost) || !slices.Contains(orAny(r.Methods), method) {
		return false
	}
	for name, condition := range r.Headers {
		if value, ok := header(other.Headers, name); !ok || !implies(value, condition) {
			return false
		}
	}
	return true
}

func header(headers map[string]string, name string) (value string, ok bool) {
	for other, value := range headers {
		if strings.EqualFold(other, name) {
			return value, true
		}
	}
	return "", false
}

// implies tells whether a header that meets the one condition meets the other. Two regular expressions aren't compared.
func implies(one, other string) bool {
	pattern, isPattern := strings.CutPrefix(other, "~")
	if one == other || !isPattern || strings.HasPrefix(one, "~") {
		return one == other
	}
	form, err := regexp.Compile(pattern)
	return err == nil && form.MatchString(one)
}

// warnOfOpenRest finds what routes with authentication seem to guard, but leave to an open route. With "/" open and /order for
// GET alone, POST /order needs no token; and with /admin/ neither does /admin, which many services answer as they do /admin/.
// The table itself is asked, so it can't be seen differently here.
func warnOfOpenRest(routes []Route, at section, keys []string) {
	table, err := route.New(rulesOf(routes))
	if err != nil {
		return // it is refused
	}
	openHosts := []string{""}
	for _, r := range routes {
		if r.Auth == "none" {
			openHosts = append(openHosts, r.Hosts...)
		}
	}
	for i, r := range routes {
		if r.Auth == "none" {
			continue
		}
		hosts := r.Hosts
		if len(hosts) == 0 {
			hosts = openHosts
		}
		here, path := section{at.report, keys[i]}, strings.TrimPrefix(r.Path, "= ")
		takes := func(method string) bool { return len(r.Methods) == 0 || slices.Contains(r.Methods, method) }
		leaves := func(method string) bool { return !takes(method) }
		if method, open := firstOpen(table, routes, path, hosts, leaves); open >= 0 {
			here.at("methods").warn("%s of this path is left to %s, which is open: add a route with the other methods, or list them here", method, keys[open])
		}
		bare := strings.TrimSuffix(path, "/")
		if bare == "" || bare == path || path != r.Path { // it takes its path alone, and says so
			continue
		}
		if _, open := firstOpen(table, routes, bare, hosts, takes); open >= 0 && strings.TrimPrefix(routes[open].Path, "= ") != bare {
			here.at("path").warn("%q, without the slash, is left to %s, which is open: write it without the slash, or add a route for it", bare, keys[open])
		}
	}
}

// firstOpen is the first of some methods with which a path belongs to an open route on one of the hosts, and that route; -1 is none.
func firstOpen(table *route.Table, routes []Route, path string, hosts []string, some func(method string) bool) (method string, open int) {
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodGet, http.MethodHead} {
		if !some(method) {
			continue
		}
		for _, host := range hosts {
			host = strings.ToLower(strings.Replace(host, "*", "any", 1))
			result := table.Match(host, path, method, http.Header{})
			if result.Status == route.Found && routes[result.Index].Auth == "none" {
				return method, result.Index
			}
		}
	}
	return "", -1
}
