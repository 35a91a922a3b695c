package otlptest

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector keeps what it is sent.
type Collector struct {
	Endpoint string // its base URL

	mu  sync.Mutex
	got []*spans.Span
}

// New is a collector that lives as long as the test.
func New(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := read(r)
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s got what isn't OTLP: %v", r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.keep(request)
	}))
	t.Cleanup(server.Close)
	c.Endpoint = server.URL
	return c
}

func read(r *http.Request) (*collector.ExportTraceServiceRequest, error) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body = unpacked
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	request := &collector.ExportTraceServiceRequest{}
	return request, proto.Unmarshal(raw, request)
}

func (c *Collector) keep(request *collector.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range request.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			c.got = append(c.got, scope.Spans...)
		}
	}
}

// Spans are those that came until now, in the order in which they were recorded.
func (c *Collector) Spans() []*spans.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*spans.Span(nil), c.got...)
}

// Attribute is the value of a span's attribute as text, "" where it has none.
func Attribute(s *spans.Span, key string) string {
	for _, a := range s.Attributes {
		if a.Key != key {
			continue
		}
		if number, ok := a.Value.Value.(*common.AnyValue_IntValue); ok {
			return strconv.FormatInt(number.IntValue, 10)
		}
		return a.Value.GetStringValue()
	}
	return ""
}
