package problem

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// The codes of gRPC that an answer of the gateway can have.
const (
	grpcDeadlineExceeded  = 4
	grpcPermissionDenied  = 7
	grpcResourceExhausted = 8
	grpcUnimplemented     = 12
	grpcInternal          = 13
	grpcUnavailable       = 14
	grpcUnauthenticated   = 16
)

// IsGRPC says whether a request is a gRPC call, by its Content-Type.
func IsGRPC(h http.Header) bool {
	rest, ok := strings.CutPrefix(h.Get("Content-Type"), "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// WriteGRPC is Write for a gRPC call, whose client takes every status but 200 for
// a fault of the network: the problem is in grpc-status and grpc-message, of an
// answer that consists of its trailers alone ("Trailers-Only" in gRPC over HTTP2).
func (p Problem) WriteGRPC(w http.ResponseWriter, traceID string) {
	h := w.Header()
	p.setHeader(h)
	h.Set("Content-Type", "application/grpc")
	h.Set("Grpc-Status", strconv.Itoa(grpcStatus(p.StatusCode())))
	h.Set("Grpc-Message", grpcMessage(fmt.Sprintf("%s: %s %s (trace %s)", p.Code, p.Code.Title()+".", p.Detail, traceID)))
	w.WriteHeader(http.StatusOK)
}

// grpcStatus is what gRPC calls an HTTP status.
func grpcStatus(status int) int {
	switch status {
	case http.StatusUnauthorized:
		return grpcUnauthenticated
	case http.StatusForbidden:
		return grpcPermissionDenied
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return grpcUnimplemented
	case http.StatusTooManyRequests:
		return grpcResourceExhausted
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return grpcUnavailable
	case http.StatusGatewayTimeout:
		return grpcDeadlineExceeded
	}
	return grpcInternal
}

// grpcMessage is percent-encoded, but for printable ASCII.
func grpcMessage(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c > '~' || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}
