package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"gatehouse/handler/gateway"
	"gatehouse/helper/explain"
)

func loopback() netip.Addr { return netip.AddrFrom4([4]byte{127, 0, 0, 1}) }

// arrival is a request as a backend got it.
type arrival struct {
	backend, method, host, uri string
	header                     http.Header
}

// recorders are two backends that tell what reaches them.
func recorders(t *testing.T) (urls [2]string, arrived chan arrival) {
	arrived = make(chan arrival, 100)
	for i := range urls {
		var url string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			arrived <- arrival{url, r.Method, r.Host, r.RequestURI, r.Header.Clone()}
			w.Header().Set("X-Backend", url)
			_, _ = io.WriteString(w, "fine")
		}))
		t.Cleanup(server.Close)
		url, urls[i] = server.URL, server.URL
	}
	return urls, arrived
}

// Whatever explain says of a request is what becomes of it when it is sent, and to ask changes nothing.
func TestExplainAgreesWithWhatHappens(t *testing.T) {
	configs, requests := 60, 30
	if testing.Short() {
		configs = 10
	}
	var outcomes = map[string]int{}
	for seed := range configs {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := chance{rand.New(rand.NewPCG(uint64(seed), 6))}
			urls, arrived := recorders(t)
			text := c.config(urls)
			s := start(t, "", text)
			var reports []*explain.Report
			for range requests {
				c.disturb(s, urls)
				q := c.query(t)
				counted := s.counts.String()
				report, again := asked(t, s, q), asked(t, s, q)
				if first, second := comparable(t, report), comparable(t, again); first != second {
					t.Errorf("asked twice, explain says\n%s\nand then\n%s", first, second)
				}
				if now := s.counts.String(); now != counted {
					t.Errorf("to ask was counted: before\n%s\nafter\n%s", counted, now)
				}
				if wrong := differences(t, report, s.raw(send(q)), arrived); len(wrong) > 0 {
					t.Fatalf("%s\n%s%s\nconfig: %s", strings.Join(wrong, "\n"), send(q), report, text)
				}
				reports = append(reports, report)
				outcomes[fmt.Sprint(report.Answer.Forwarded, report.Answer.Status, report.Answer.Code)]++
			}
			compareLog(t, reports, s.lines())
		})
	}
	t.Log(outcomes)
	if !testing.Short() && len(outcomes) < 14 {
		t.Errorf("only these answers came up: %v", outcomes)
	}
}

func asked(t *testing.T, s *stand, q gateway.Query) *explain.Report {
	t.Helper()
	report, err := s.gw.Explain(q)
	if err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return report
}

// comparable is a report without what the passing of time changes.
func comparable(t *testing.T, r *explain.Report) string {
	t.Helper()
	same := *r
	same.Limits = nil
	for _, l := range r.Limits {
		l.Reset, l.RetryAfter = "", ""
		same.Limits = append(same.Limits, l)
	}
	same.Answer.Headers = nil
	for _, h := range r.Answer.Headers {
		if !varies(h.Name) {
			same.Answer.Headers = append(same.Answer.Headers, h)
		}
	}
	text, err := json.MarshalIndent(same, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// differences compares a report with the answer on the wire and what a backend got.
func differences(t *testing.T, r *explain.Report, answer string, arrived chan arrival) (wrong []string) {
	t.Helper()
	differ := func(what string, explained, real any) {
		if fmt.Sprint(explained) != fmt.Sprint(real) {
			wrong = append(wrong, fmt.Sprintf("%s: explained %v, really %v", what, explained, real))
		}
	}
	res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), &http.Request{Method: r.Request.Method})
	if err != nil {
		t.Fatalf("the answer is %q: %v", answer, err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	var problem struct{ Code, Detail string }
	_ = json.Unmarshal(body, &problem)
	explained := make(http.Header)
	for _, h := range r.Answer.Headers {
		explained.Add(h.Name, h.Value)
	}
	differ("headers of the answer", steady(explained), steady(res.Header))
	if r.Request.Method != http.MethodHead {
		differ("code", r.Answer.Code, problem.Code)
		differ("detail", r.Answer.Detail, problem.Detail)
	}
	var got *arrival
	select {
	case a := <-arrived:
		got = &a
	default:
	}
	differ("forwarded", r.Answer.Forwarded, got != nil)
	if got == nil || r.Forward == nil {
		differ("status", r.Answer.Status, res.StatusCode)
		return wrong
	}
	uri := r.Forward.Path
	if r.Forward.RawQuery != "" {
		uri += "?" + r.Forward.RawQuery
	}
	differ("request", r.Forward.Method+" "+r.Forward.Host+" "+uri, got.method+" "+got.host+" "+got.uri)
	differ("headers at the backend", atBackend(r.Forward.Header), atBackend(got.header))
	for _, b := range r.Backends {
		if b.Picked {
			differ("backend", strings.TrimSuffix(b.URL, "/base"), got.backend)
		}
	}
	return wrong
}

// atBackend is a header without the values that each request gets anew.
func atBackend(h http.Header) string {
	h = h.Clone()
	delete(h, "Content-Length")
	for _, name := range []string{"Traceparent", "X-Gateway-Assertion"} {
		if h[name] != nil {
			h[name] = []string{explain.Fresh}
		}
	}
	if ids := h["X-Request-Id"]; len(ids) == 1 && len(ids[0]) == 32 {
		h["X-Request-Id"] = []string{explain.Fresh}
	}
	return fmt.Sprint(h)
}

// compareLog compares what only the log says.
func compareLog(t *testing.T, reports []*explain.Report, lines []map[string]any) {
	t.Helper()
	if len(lines) != len(reports) {
		t.Fatalf("%d requests made %d lines", len(reports), len(lines))
	}
	for i, r := range reports {
		route, upstream := "_none", "_none"
		if r.Route != "" {
			route, upstream = r.Route, r.Upstream
		}
		if lines[i]["route"] != route || lines[i]["upstream"] != upstream || lines[i]["path"] != r.Request.Path {
			t.Errorf("the line is %v, explained\n%s", lines[i], r)
		}
	}
}
