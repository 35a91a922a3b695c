package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// serve answers on a free port until the test ends.
func serve(t *testing.T, handler http.Handler) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- Serve(ctx, listener, handler) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return listener.Addr().String()
}

func TestEchoSaysWhatCameOverTheWire(t *testing.T) {
	conn, err := net.Dial("tcp", serve(t, Echo("order")))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	tests := []struct { // on one connection, one after the other
		name, send string
		want       Seen
	}{
		{"header lines as spelled and ordered", "GET /a%2Fb//c?z=1&a=%zz HTTP/1.1\r\nx-b: 1\r\nHost: orders\r\nX_A:  two \r\nX-B: 3\r\n\r\n",
			Seen{Service: "order", Method: "GET", Target: "/a%2Fb//c?z=1&a=%zz", Protocol: "HTTP/1.1", Host: "orders",
				Headers: []string{"x-b: 1", "Host: orders", "X_A:  two ", "X-B: 3"}}},
		{"a body of a known length", "POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello",
			Seen{Service: "order", Method: "POST", Target: "/b", Protocol: "HTTP/1.1", Host: "x",
				Headers: []string{"Host: x", "Content-Length: 5"}, Body: "hello"}},
		{"a chunked body", "PUT /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n",
			Seen{Service: "order", Method: "PUT", Target: "/c", Protocol: "HTTP/1.1", Host: "x",
				Headers: []string{"Host: x", "Transfer-Encoding: chunked"}, Body: "hello!"}},
		{"and nothing of the requests before", "DELETE /d HTTP/1.1\r\nHost: x\r\n\r\n",
			Seen{Service: "order", Method: "DELETE", Target: "/d", Protocol: "HTTP/1.1", Host: "x", Headers: []string{"Host: x"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if _, err := io.WriteString(conn, test.send); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(reader, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got Seen
			if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestEchoBoundsTheBody(t *testing.T) {
	response, err := http.Post("http://"+serve(t, Echo("order")), "text/plain", strings.NewReader(strings.Repeat("x", maxBody+1)))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var got Seen
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil {
		t.Fatal(err)
	}
	if len(got.Body) != maxBody || !got.Truncated || !response.Close {
		t.Errorf("got %d bytes, truncated %t, closing %t; want %d, true, true", len(got.Body), got.Truncated, response.Close, maxBody)
	}
}

func TestEchoMisbehavesOnDemand(t *testing.T) {
	address := "http://" + serve(t, Echo("order"))
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for query, want := range map[string]int{"?status=503": 503, "?status=99": 200, "?status=x": 200, "?delay=1ms&status=404": 404} {
		response, err := client.Get(address + query)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s is answered %d, want %d", query, response.StatusCode, want)
		}
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?delay=1m", nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := client.Do(request); err == nil {
		response.Body.Close()
		t.Error("?delay=1m was answered at once")
	}
}
