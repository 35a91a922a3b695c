package command

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// The status is in the trailers, with its details, and its message may have any character.
func failWithDetails(t *testing.T, c *caller) {
	for _, text := range []string{"the oven is cold", "100 % ünkalt\n\"❄\""} {
		_, err := c.ask(as(t, "ada"), "/test.Talk/Fail", text)
		got := status.Convert(err)
		if got.Code() != codes.FailedPrecondition || got.Message() != text {
			t.Errorf("got %s %q, want %q", got.Code(), got.Message(), text)
		}
		if details := got.Details(); len(details) != 1 || details[0].(*wrapperspb.Int64Value).Value != 42 {
			t.Errorf("the details are %v", details)
		}
	}
	if _, err := c.ask(as(t, "ada"), "/test.Talk/Missing", ""); status.Code(err) != codes.Unimplemented || !strings.Contains(err.Error(), "unknown method Missing") {
		t.Errorf("of a method that the service hasn't: %v", err)
	}
}

// What the gateway refuses is an error of gRPC with the gateway's code in it, not an HTTP status that the client has to guess at.
func refused(t *testing.T, c *caller) {
	if _, err := c.ask(anonymous(t), "/test.Talk/Rare", ""); status.Code(err) != codes.Unimplemented {
		t.Errorf("the first call is let through to the service, which hasn't the method: %v", err)
	}
	for _, row := range []struct {
		name   string
		ctx    context.Context
		method string
		code   codes.Code
		says   string
	}{
		{"no token", anonymous(t), "/test.Talk/Say", codes.Unauthenticated, "credentials_missing: "},
		{"no scope", as(t, "ada"), "/test.Talk/Admin", codes.PermissionDenied, "scope_missing: "},
		{"no route", as(t, "ada"), "/test.Nobody/Say", codes.Unimplemented, "no_route: "},
		{"one too many", anonymous(t), "/test.Talk/Rare", codes.ResourceExhausted, "rate_limited: "},
		{"no service", anonymous(t), "/test.Away/Say", codes.Unavailable, "upstream_unreachable: "},
	} {
		_, err := c.ask(row.ctx, row.method, "")
		if got := status.Convert(err); got.Code() != row.code || !strings.HasPrefix(got.Message(), row.says) {
			t.Errorf("%s: got %s %q, want %s %q", row.name, got.Code(), got.Message(), row.code, row.says)
		}
	}
	// A stream learns of it too, at its first message.
	stream := c.begin(anonymous(t), t)
	if err := stream.RecvMsg(&wrapperspb.StringValue{}); status.Code(err) != codes.Unauthenticated {
		t.Errorf("a stream without a token: %v", err)
	}
}

// A stream is one body: what it sends in all is limited, and the log says so.
func outgrow(t *testing.T, c *caller) {
	stream := c.begin(as(t, "ada"), t)
	var err error
	for i := 0; err == nil && i <= 10; i++ { // the default is 10 MiB
		if err = stream.SendMsg(wrapperspb.String(strings.Repeat("x", 1<<20))); err == nil {
			err = stream.RecvMsg(&wrapperspb.StringValue{})
		}
	}
	if status.Code(err) != codes.Internal {
		t.Errorf("the client gets %v", err)
	}
	c.gateway.stdout.waitFor(t, `"code":"body_too_large"`)
}

// freed waits for the service's call of Hang to end.
func (c *caller) freed(t *testing.T) error {
	t.Helper()
	select {
	case err := <-c.service.freed:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the service still works for a caller that has gone")
		return nil
	}
}

func runOutOfTime(t *testing.T, c *caller) {
	ctx, cancel := context.WithTimeout(as(t, "ada"), time.Second)
	defer cancel()
	_, err := c.ask(ctx, "/test.Talk/Hang", "")
	if status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("the client gets %v", err)
	}
	<-c.service.hung
	if err := c.freed(t); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) { // the client's deadline, or its leaving, whichever is first
		t.Errorf("the service is ended by %v", err)
	}
}

// Its deadline is far off, so the service hears of it from the gateway alone.
func giveUp(t *testing.T, c *caller) {
	ctx, cancel := context.WithCancel(as(t, "ada"))
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := c.ask(ctx, "/test.Talk/Hang", "")
		ended <- err
	}()
	<-c.service.hung
	cancel()
	if err := <-ended; status.Code(err) != codes.Canceled {
		t.Errorf("the client gets %v", err)
	}
	if err := c.freed(t); !errors.Is(err, context.Canceled) {
		t.Errorf("the service is ended by %v", err)
	}
	c.gateway.stdout.waitFor(t, `"code":"client_closed"`)
}
