package proxy

import (
	"math/rand/v2"
	"net/http"
	"reflect"
	"testing"

	"gatehouse/helper/exchange"
	"gatehouse/helper/transport"
)

// A plain answer's lines reach the client as its header would have, which httputil has
// gone through before the proxy and goes through after it.
func TestFieldsAreHandedOverLikeAHeader(t *testing.T) {
	names := []string{"Content-Type", "Content-Length", "Set-Cookie", "Keep-Alive", "Upgrade", "Proxy-Authenticate", "Connection",
		"Access-Control-Allow-Origin", "Vary", "X-Request-Id", "X-Added", "X-Removed", "X-Own", "Date"}
	values := []string{"", "1", "text/html", "text/event-stream", "Text/Events"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		c := &call{exchange: &exchange.Exchange{DropCORS: random.IntN(2) == 0}}
		c.exchange.Clientward.Set("X-Request-Id", "own")
		c.exchange.Clientward.Add("X-Added", "own")
		c.exchange.Clientward.Remove("X-Removed")
		client := http.Header{"Vary": {"Origin"}, "X-Own": {"own"}, "Date": nil}
		if random.IntN(4) == 0 {
			client["Content-Type"] = []string{"own/type"}
		}
		var fields []transport.Field
		header := http.Header{}
		for range random.IntN(8) {
			name, value := names[random.IntN(len(names))], values[random.IntN(len(values))]
			if name == "Connection" {
				value = "keep-alive" // of a plain answer
			}
			fields = append(fields, transport.NewField(name, value))
			header.Add(name, value)
		}

		want := client.Clone()
		exchange.RemoveHopByHop(header)
		c.exchange.Scrub(header)
		wantLeft := handOver(want, header)

		got := client.Clone()
		gotLeft := c.handOverFields(got, fields)

		// What is left decides whether the answer is flushed as it comes.
		if got, want := gotLeft.Get("Content-Type"), wantLeft.Get("Content-Type"); client["Content-Type"] == nil && got != want {
			t.Fatalf("%v: %q is left, want %q", fields, got, want)
		}
		copyAs(got, gotLeft)
		copyAs(want, wantLeft)
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%v:\ngot  %v\nwant %v", fields, got, want)
		}
	}
}

// copyAs is how httputil copies a header.
func copyAs(to, from http.Header) {
	for name, values := range from {
		for _, value := range values {
			to.Add(name, value)
		}
	}
}
