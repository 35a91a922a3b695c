package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"gatehouse/helper/token"
)

// caller is a client of a talk behind a gateway.
type caller struct {
	*grpc.ClientConn
	service *talk
	gateway *running
}

// newCaller starts a service, a gateway and a client, with TLS between them all or without.
func newCaller(t *testing.T, secure bool) *caller {
	t.Helper()
	var service *talk
	listener, upstream, trust := "h2c: true", "", insecure.NewCredentials()
	if secure {
		cert, key, roots := certificateFiles(t)
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			t.Fatal(err)
		}
		service = newTalk(t, &tls.Config{Certificates: []tls.Certificate{pair}})
		listener = fmt.Sprintf("tls: {certificates: [{cert: %q, key: %q}]}", cert, key)
		upstream = fmt.Sprintf("url: https://%s, tls: {ca: %q}", service.address, cert)
		trust = credentials.NewTLS(&tls.Config{RootCAs: roots})
	} else {
		service = newTalk(t, nil)
		upstream = "url: h2c://" + service.address
	}
	gateway := start(t, nil, "--config", file(t, "config.yaml", fmt.Sprintf(`
server: {listen: "127.0.0.1:0", admin: "127.0.0.1:0", %s}
auth: {providers: {test: {issuer: test, algorithms: [HS256], secret: %s}}}
upstreams:
  talk: {%s, timeouts: {request: 0s}}
  away: {url: "h2c://127.0.0.1:1"}
routes:
  - {path: /grpc.health.v1.Health, upstream: talk, auth: none}
  - {path: /test.Talk, upstream: talk, scopes: []}
  - {path: /test.Talk/Admin, upstream: talk, scopes: [admin]}
  - {path: /test.Talk/Rare, upstream: talk, auth: none, limit: {rate: 1/h}}
  - {path: /test.Away, upstream: away, auth: none}
`, listener, secret, upstream)))
	public, _ := gateway.addresses(t)
	client, err := grpc.NewClient(public, grpc.WithTransportCredentials(trust))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &caller{client, service, gateway}
}

// anonymous is a context for calls without a token. What hangs fails.
func anonymous(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// as is a context for calls of a user, with more metadata.
func as(t *testing.T, user string, more ...string) context.Context {
	t.Helper()
	raw, err := token.Sign(map[string]any{"iss": "test", "sub": user, "exp": time.Now().Add(time.Hour).Unix()}, []byte(secret), "HS256", "")
	if err != nil {
		t.Fatal(err)
	}
	return metadata.AppendToOutgoingContext(anonymous(t), append(more, "authorization", "Bearer "+raw)...)
}

// ask makes a call of one message each way.
func (c *caller) ask(ctx context.Context, method, text string, options ...grpc.CallOption) (string, error) {
	answer := &wrapperspb.StringValue{}
	err := c.Invoke(ctx, method, wrapperspb.String(text), answer, options...)
	return answer.Value, err
}

// A client and a service that are grpc's own see each other through the gateway as if it weren't there.
func TestGRPC(t *testing.T) {
	for name, secure := range map[string]bool{"without TLS": false, "over TLS": true} {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, secure)
			for _, test := range []struct {
				name string
				run  func(*testing.T, *caller)
			}{
				{"a call", askOnce},
				{"metadata each way", exchangeMetadata},
				{"a stream that is sent as it comes", watchHealth},
				{"a talk of one message after the other", chat},
				{"errors of the service", failWithDetails},
				{"refusals of the gateway", refused},
				{"a stream that is too long", outgrow},
				{"a deadline", runOutOfTime},
				{"a call that its caller gives up", giveUp},
			} {
				t.Run(test.name, func(t *testing.T) { test.run(t, c) })
			}
			t.Run("a stream while the gateway drains", func(t *testing.T) { drain(t, c) })
		})
	}
}

// A small message, one of several frames, and a packed one.
func askOnce(t *testing.T, c *caller) {
	long := strings.Repeat("0123456789abcdef", 3<<20/16)
	for _, text := range []string{"", "hello", long} {
		for _, options := range [][]grpc.CallOption{nil, {grpc.UseCompressor(gzip.Name)}} {
			if got, err := c.ask(as(t, "ada"), "/test.Talk/Say", text, options...); err != nil || got != text {
				t.Errorf("%d bytes, %v: got %d bytes, %v", len(text), options, len(got), err)
			}
			<-c.service.asked
		}
	}
	answer, err := grpc_health_v1.NewHealthClient(c).Check(anonymous(t), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || answer.Status != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("the service is %v, %v", answer, err)
	}
}

func exchangeMetadata(t *testing.T, c *caller) {
	var header, trailer metadata.MD
	ctx := as(t, "ada", "x-tenant", "acme", "x-tenant", "globex", "x-blob-bin", "\x00\x01\xfe\xff", "x-user-id", "root")
	if _, err := c.ask(ctx, "/test.Talk/Say", "x", grpc.Header(&header), grpc.Trailer(&trailer)); err != nil {
		t.Fatal(err)
	}
	came := <-c.service.asked
	for _, row := range []struct {
		who  string
		md   metadata.MD
		key  string
		want []string
	}{
		{"the service", came, "x-tenant", []string{"acme", "globex"}},
		{"the service", came, "x-blob-bin", []string{"\x00\x01\xfe\xff"}},
		{"the service", came, "x-user-id", []string{"ada"}}, // whom the token names, not what the client says
		{"the service", came, ":authority", []string{c.service.address}},
		{"the client", header, "x-place", []string{"kitchen"}},
		{"the client", header, "x-raw-bin", []string{"\x00\xff"}},
		{"the client", trailer, "x-cost", []string{"1", "2"}},
	} {
		if got := row.md.Get(row.key); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s sees %s: %q, want %q", row.who, row.key, got, row.want)
		}
	}
	if len(header.Get("x-request-id")) != 1 {
		t.Errorf("the answer has no trace id: %v", header)
	}
}

// Each message arrives before the next is there to be sent.
func watchHealth(t *testing.T, c *caller) {
	ctx, cancel := context.WithCancel(anonymous(t)) // it never ends by itself
	defer cancel()
	stream, err := grpc_health_v1.NewHealthClient(c).Watch(ctx, &grpc_health_v1.HealthCheckRequest{Service: "oven"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []grpc_health_v1.HealthCheckResponse_ServingStatus{
		grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN, grpc_health_v1.HealthCheckResponse_SERVING,
		grpc_health_v1.HealthCheckResponse_NOT_SERVING, grpc_health_v1.HealthCheckResponse_SERVING,
	} {
		if want != grpc_health_v1.HealthCheckResponse_SERVICE_UNKNOWN { // which is said at once
			c.service.health.SetServingStatus("oven", want)
		}
		if got, err := stream.Recv(); err != nil || got.Status != want {
			t.Fatalf("got %v, %v, want %v", got, err, want)
		}
	}
}

// begin opens a stream each way.
func (c *caller) begin(ctx context.Context, t *testing.T) grpc.ClientStream {
	t.Helper()
	stream, err := c.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/test.Talk/Chat")
	if err != nil {
		t.Fatal(err)
	}
	return stream
}

// echo sends a message and waits for it to come back.
func echo(t *testing.T, stream grpc.ClientStream, text string) {
	t.Helper()
	if err := stream.SendMsg(wrapperspb.String(text)); err != nil {
		t.Fatal(err)
	}
	got := &wrapperspb.StringValue{}
	if err := stream.RecvMsg(got); err != nil || got.Value != text {
		t.Fatalf("got %q, %v, want %q", got.Value, err, text)
	}
}

// end says that nothing more comes, and reads the last word and the status.
func end(t *testing.T, stream grpc.ClientStream) {
	t.Helper()
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	got := &wrapperspb.StringValue{}
	if err := stream.RecvMsg(got); err != nil || got.Value != "bye" {
		t.Errorf("got %q, %v, want bye", got.Value, err)
	}
	if err := stream.RecvMsg(got); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %q, %v", got.Value, err)
	}
}

func chat(t *testing.T, c *caller) {
	stream := c.begin(as(t, "ada"), t)
	for i := range 100 {
		echo(t, stream, fmt.Sprint("ping ", i))
	}
	end(t, stream)
}

// A stream that is open when the gateway gets its signal goes on to its end.
func drain(t *testing.T, c *caller) {
	stream := c.begin(as(t, "ada"), t)
	echo(t, stream, "before")
	c.gateway.interrupt()
	c.gateway.stdout.waitFor(t, `"msg":"draining"`)
	echo(t, stream, "meanwhile")
	end(t, stream)
	if code := c.gateway.end(t); code != 0 {
		t.Errorf("the gateway ended with %d: %s", code, c.gateway.stderr)
	}
}
