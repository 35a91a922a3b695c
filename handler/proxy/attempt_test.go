package proxy

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"gatehouse/helper/retry"
)

// Only what can't have reached the backend is a failed connection.
func TestKindsOfFailure(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Err: err} }
	for _, row := range []struct {
		name      string
		err       error
		kind      retry.Kind
		retryable bool
		reason    string
	}{
		{"refused", dial(syscall.ECONNREFUSED), retry.Connect, true, "connect"},
		{"no such name", dial(&net.DNSError{IsNotFound: true}), retry.Connect, true, "connect"},
		{"a dial that takes too long", dial(os.ErrDeadlineExceeded), retry.Connect, true, "connect"},
		{"a certificate of nobody", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, retry.Connect, true, "connect"},
		{"a TLS alert, maybe behind the request", &net.OpError{Op: "remote error", Err: tls.AlertError(42)}, retry.Reset, true, "reset"},
		{"a reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, retry.Reset, true, "reset"},
		{"the end before an answer", io.EOF, retry.Reset, true, "reset"},
		{"no header in time", os.ErrDeadlineExceeded, retry.Timeout, true, "timeout"},
		{"garbage", errors.New("malformed HTTP response"), 0, false, ""},
		{"the client's fault", &clientError{io.ErrUnexpectedEOF}, 0, false, ""},
	} {
		v := classify(nil, nil, row.err)
		if v.retryable != row.retryable || v.kind != row.kind {
			t.Errorf("%s: kind %d, to be tried again: %v", row.name, v.kind, v.retryable)
		}
		if got := reason(retry.Failure{Kind: v.kind}); v.retryable && got != row.reason {
			t.Errorf("%s: the reason is %q, want %q", row.name, got, row.reason)
		}
	}
	if got := reason(retry.Failure{Kind: retry.Status, Status: 503}); got != "503" {
		t.Errorf("a status: the reason is %q", got)
	}
	if v := classify(errRequestTimeout, nil, context.Canceled); v.retryable {
		t.Error("a request whose time is over is tried again")
	}
}
