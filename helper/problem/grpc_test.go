package problem

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestIsGRPC(t *testing.T) {
	for content, want := range map[string]bool{
		"application/grpc": true, "application/grpc+proto": true, "application/grpc; charset=utf-8": true,
		"application/grpc-web": false, "application/json": false, "": false,
	} {
		if got := IsGRPC(http.Header{"Content-Type": {content}}); got != want {
			t.Errorf("%q: got %v", content, got)
		}
	}
}

// A gRPC client reads its status, and would call every other answer unknown.
func TestEveryCodeHasAStatusOfGRPC(t *testing.T) {
	want := map[int]string{400: "13", 401: "16", 403: "7", 404: "12", 405: "12", 413: "13", 429: "8", 499: "13", 500: "13", 502: "14", 503: "14", 504: "4"}
	for _, code := range Codes() {
		w := httptest.NewRecorder()
		Problem{Code: code, Detail: "50 % off.\n", RetryAfter: 1500 * time.Millisecond}.WriteGRPC(w, "0af7")
		res := w.Result()
		if res.StatusCode != 200 || w.Body.Len() != 0 || res.Header.Get("Content-Type") != "application/grpc" {
			t.Errorf("%s: got %d %v %q", code, res.StatusCode, res.Header, w.Body)
		}
		if got := res.Header.Get("Grpc-Status"); got != want[code.Status()] {
			t.Errorf("%s: status %s, want %s", code, got, want[code.Status()])
		}
		message := res.Header.Get("Grpc-Message")
		if !strings.HasPrefix(message, string(code)+": ") || !strings.HasSuffix(message, " 50 %25 off.%0A (trace 0af7)") {
			t.Errorf("%s: message %q", code, message)
		}
		if got := res.Header.Get("Retry-After"); (got == "2") != (code.Status() == 429 || code.Status() == 503) {
			t.Errorf("%s: Retry-After %q", code, got)
		}
	}
}
