package config

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
)

// Cases is a file of requests and what must become of them, for `gatehouse test` and server.tests.
type Cases struct {
	// The cases, in their order. Default: none, at least one is required.
	Cases []CaseKeys `yaml:"cases"`
}

// CaseKeys is one request and what must become of it, as the file has it.
type CaseKeys struct {
	// What the case shows, as a sentence. Default: none, required.
	Name string `yaml:"name"`
	// The request. Default: none, required.
	Request CaseRequest `yaml:"request"`
	// What must become of it; a key that isn't there isn't compared. Default: none, one at least is required.
	Expect CaseExpect `yaml:"expect"`
}

// CaseRequest is a request, and who makes it.
type CaseRequest struct {
	// Its method. Default: GET.
	Method string `yaml:"method"`
	// A path with or without a query, or a whole URL. Default: none, required.
	URL string `yaml:"url"`
	// Its headers. Default: {}.
	Headers map[string]string `yaml:"headers"`
	// Claims of its token, in place of a token; iss, aud, iat and exp are those of a good one unless they are given. Default: no token.
	Claims map[string]any `yaml:"claims"`
	// Id of its API key, in place of the key. Default: "".
	APIKey string `yaml:"api_key"`
	// Its token, as it is. Default: "".
	Token Secret `yaml:"token"`
	// Other end of its connection. Default: 192.0.2.1.
	ClientIP string `yaml:"client_ip"`
}

// CaseExpect is what must become of a request.
type CaseExpect struct {
	// Whether the upstream answers it. Default: not compared.
	Forwarded *bool `yaml:"forwarded"`
	// Status of the gateway's own answer. Default: not compared.
	Status int `yaml:"status"`
	// Code of the gateway's own answer. Default: not compared.
	Code string `yaml:"code"`
	// Route that it belongs to. Default: not compared.
	Route string `yaml:"route"`
	// Upstream that it goes to, also where it is refused on the way. Default: not compared.
	Upstream string `yaml:"upstream"`
	// URLs of the upstream's backends, all of them. Default: not compared.
	Backends []string `yaml:"backends"`
	// Path that the upstream gets. Default: not compared.
	UpstreamPath string `yaml:"upstream_path"`
	// Query that the upstream gets. Default: not compared.
	UpstreamQuery *string `yaml:"upstream_query"`
	// Headers that the upstream gets, with these values. Default: not compared.
	RequestHeaders map[string]string `yaml:"request_headers"`
	// Headers that the upstream doesn't get. Default: not compared.
	NoRequestHeaders []string `yaml:"no_request_headers"`
	// Headers that the gateway sets on the answer, with these values. Default: not compared.
	ResponseHeaders map[string]string `yaml:"response_headers"`
	// Headers that the gateway doesn't set on the answer. Default: not compared.
	NoResponseHeaders []string `yaml:"no_response_headers"`
	// Names of the limits that it counts for, all of them; []: of none. Default: not compared.
	Limits []string `yaml:"limits"`
}

func (c *CaseRequest) setDefaults() { c.Method = "GET" }

// Case is one case of a file.
type Case struct {
	CaseKeys
	Line int // where it begins
}

// LoadCases reads and parses the file of cases at path; see ParseCases.
func LoadCases(path string, env func(string) (string, bool)) ([]Case, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	return ParseCases(path, text, env)
}

// ParseCases decodes and validates a file of cases, as strictly as Parse does a config. Its error is a *Problems.
func ParseCases(name string, text []byte, env func(string) (string, bool)) ([]Case, error) {
	r := newReport(name)
	r.remedy = "write cases: with one case at least"
	root := r.parseYAML(text)
	if root == nil {
		return nil, r.err()
	}
	var file Cases
	newDecoder(r, env).decode(root, nil, reflect.ValueOf(&file).Elem(), place{})
	top := section{r, "cases"}
	if len(file.Cases) == 0 && !r.refused[""] {
		top.refuse("is empty: write at least one case")
	}
	names := map[string]bool{}
	cases := make([]Case, len(file.Cases))
	for i := range file.Cases {
		file.Cases[i].validate(top.item(i), names)
		cases[i] = Case{file.Cases[i], top.marks[top.item(i).key].line}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return cases, nil
}

func (c *CaseKeys) validate(at section, names map[string]bool) {
	if at.at("name").needed(c.Name, "what the case shows") && names[c.Name] {
		at.at("name").refuse("%q is the name of another case: write another", c.Name)
	}
	names[c.Name] = true
	c.Request.validate(at.at("request"))
	expect := at.at("expect")
	if reflect.ValueOf(c.Expect).IsZero() {
		expect.refuse("is empty: write what must become of the request, such as {forwarded: true}")
	}
	if c.Expect.Forwarded != nil && *c.Expect.Forwarded && (c.Expect.Status != 0 || c.Expect.Code != "") {
		expect.at("forwarded").refuse("can't go with status or code: the upstream decides what it answers")
	}
}

func (c *CaseRequest) validate(at section) {
	at.at("url").needed(c.URL, "a path such as /order/42, or a whole URL")
	given := []string{}
	for key, there := range map[string]bool{"claims": c.Claims != nil, "api_key": c.APIKey != "", "token": c.Token != ""} {
		if there {
			given = append(given, key)
		}
	}
	if len(given) > 1 {
		at.refuse("has several of claims, api_key and token: write one")
	}
	if c.ClientIP != "" {
		if _, err := netip.ParseAddr(c.ClientIP); err != nil {
			at.at("client_ip").refuse("%s is not an address: write one such as 203.0.113.7", at.at("client_ip").written())
		}
	}
	for _, name := range sortedKeys(c.Headers) {
		if !tokenForm.MatchString(name) {
			at.at("headers").at(name).refuse("%q is not a header's name", name)
		}
	}
}

// Problem places a message at a case.
func (c *Case) Problem(file, message string) Problem {
	return Problem{File: file, Line: c.Line, Column: 1, Message: fmt.Sprintf("case %q: %s", c.Name, strings.TrimSpace(message))}
}
