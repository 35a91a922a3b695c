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

	"gatehouse/helper/exchange"
	"gatehouse/helper/problem"
	"gatehouse/helper/retry"
	"gatehouse/helper/server"
)

// The causes with which the gateway itself cancels an upstream call.
var (
	errRequestTimeout = errors.New("the request's time is over")
	errIdle           = errors.New("no byte went either way for the idle time")
	errClientStalled  = errors.New("the client sent or took no byte in time")
	errBodyTooLarge   = errors.New("the request body is larger than allowed")
)

// errSwitchedUnasked is a 101 to a protocol that the client didn't ask for.
var errSwitchedUnasked = errors.New("the upstream switched protocols unasked")

// errNoStatus is an answer whose status isn't one of HTTP (RFC 9110 section 15).
var errNoStatus = errors.New("the upstream answered with a status that isn't one of HTTP")

// errHeldBack is an answer that nobody sees, because another attempt follows.
var errHeldBack = errors.New("the answer is held back for another attempt")

// clientError marks a failure to read the request's body from the client.
type clientError struct{ err error }

func (e *clientError) Error() string { return "reading the request body: " + e.err.Error() }
func (e *clientError) Unwrap() error { return e.err }

// serverClosedIdle is the text of the one error of net/http that has neither a
// type nor an exported value: a kept-alive connection that the backend closed
// just as a request that can't be repeated was written to it. A test provokes
// it, so a change of the text is noticed.
const serverClosedIdle = "http: server closed idle connection"

// verdict is what a failed upstream call means.
type verdict struct {
	problem problem.Problem
	outcome exchange.Outcome
	// kind is how the attempt failed, where that is a reason to try again at all.
	kind      retry.Kind
	retryable bool
}

// classify looks at the client first, then at why the call ended (cause, nil where
// it didn't), and only then at the type of the error.
func classify(cause error, body *requestBody, err error) verdict {
	if v, ok := clientFault(cause, body, err); ok {
		return v
	}
	if timedOut(cause) {
		return failure(problem.UpstreamTimeout, "http_response_timeout", "The upstream didn't answer in time; try again later.") // all its time is over
	}
	return upstreamFault(err)
}

// timedOut says whether a call's context ended because the upstream was slow.
func timedOut(cause error) bool {
	return errors.Is(cause, errRequestTimeout) || errors.Is(cause, errIdle)
}

// clientFault is the verdict on a call that ended for a reason on this side of
// the gateway, which no error of the upstream may hide.
func clientFault(cause error, body *requestBody, err error) (verdict, bool) {
	fault := body.fault()
	var readFailed *clientError
	if errors.As(err, &readFailed) && fault == nil {
		fault = readFailed.err
	}
	switch {
	case errors.Is(fault, errBodyTooLarge):
		return neutral(tooLarge()), true
	case errors.Is(cause, errClientStalled):
		return slowBody(), true
	case errors.Is(cause, server.ErrClosed): // before the body, which breaks off with the client's connection
		return draining(), true
	case fault != nil: // before the context: a body that breaks off ends that too
		return neutral(problem.Problem{Code: problem.BadRequest, Detail: "The request body broke off or isn't well formed.", Close: true}), true
	case errors.Is(cause, context.Canceled):
		return neutral(problem.Problem{Code: problem.ClientClosed}), true
	case cause != nil && !timedOut(cause): // a filter's
		return draining(), true
	}
	return verdict{}, false
}

func draining() verdict {
	return neutral(problem.Problem{Code: problem.Draining, Detail: "The gateway is shutting down; try again.", Close: true})
}

func upstreamFault(err error) verdict {
	var (
		timeout interface{ Timeout() bool }
		op      *net.OpError
		dns     *net.DNSError
		record  tls.RecordHeaderError
		verify  *tls.CertificateVerificationError
		host    x509.HostnameError
	)
	switch {
	case errors.As(err, &dns):
		return unreachable("dns_error")
	case errors.As(err, &op) && op.Op == "dial" && op.Timeout():
		return failure(problem.UpstreamTimeout, "connection_timeout", "The upstream can't be reached in time; try again later.").as(retry.Connect)
	case errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return failure(problem.UpstreamTimeout, "http_response_timeout", "The upstream didn't answer in time; try again later.").as(retry.Timeout)
	case errors.As(err, &verify), errors.As(err, &host):
		return unreachable("tls_certificate_error")
	case errors.As(err, &record):
		return unreachable("tls_protocol_error")
	case errors.As(err, &op) && op.Op == "remote error": // how crypto/tls reports an alert
		return unreachable("tls_alert_received").as(retry.Reset) // it may come after the request went out
	case errors.As(err, &op) && op.Op == "dial":
		return unreachable("connection_refused")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, syscall.ECONNRESET),
		errors.Is(err, syscall.EPIPE), errors.As(err, &op), broken(err), err.Error() == serverClosedIdle:
		return reset()
	}
	return failure(problem.UpstreamBadResponse, "http_protocol_error", "The upstream's answer couldn't be understood.")
}

func unreachable(proxyError string) verdict {
	return failure(problem.UpstreamUnreachable, proxyError, "The upstream can't be reached at the moment; try again later.").as(retry.Connect)
}

func reset() verdict {
	return failure(problem.UpstreamReset, "connection_terminated", "The upstream broke the connection; try again.").as(retry.Reset)
}

func failure(code problem.Code, proxyError, detail string) verdict {
	return verdict{problem: problem.Problem{Code: code, ProxyError: proxyError, Detail: detail}, outcome: exchange.Failure}
}

func (v verdict) as(kind retry.Kind) verdict {
	v.kind, v.retryable = kind, true
	return v
}

func neutral(p problem.Problem) verdict { return verdict{problem: p, outcome: exchange.Cancelled} }
