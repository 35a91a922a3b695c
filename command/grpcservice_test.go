package command

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// talk is a gRPC service whose messages are strings, so that it needs no generated code, beside grpc's own health service.
type talk struct {
	address string
	health  *health.Server
	asked   chan metadata.MD // what came with each call of Say
	hung    chan struct{}    // a call of Hang has come
	freed   chan error       // why one has ended
}

// newTalk serves one, with TLS if secure isn't nil.
func newTalk(t *testing.T, secure *tls.Config) *talk {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &talk{
		address: listener.Addr().String(), health: health.NewServer(),
		asked: make(chan metadata.MD, 10), hung: make(chan struct{}, 10), freed: make(chan error, 10),
	}
	var options []grpc.ServerOption
	if secure != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(secure)))
	}
	server := grpc.NewServer(options...)
	grpc_health_v1.RegisterHealthServer(server, s.health)
	unary := func(name string, answer func(context.Context, string) (string, error)) grpc.MethodDesc {
		return grpc.MethodDesc{MethodName: name, Handler: func(_ any, ctx context.Context, read func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			question := &wrapperspb.StringValue{}
			if err := read(question); err != nil {
				return nil, err
			}
			text, err := answer(ctx, question.Value)
			return wrapperspb.String(text), err
		}}
	}
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "test.Talk",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{unary("Say", s.say), unary("Fail", s.fail), unary("Hang", s.hang)},
		Streams: []grpc.StreamDesc{{StreamName: "Chat", ClientStreams: true, ServerStreams: true, Handler: func(_ any, stream grpc.ServerStream) error {
			return s.chat(stream)
		}}},
	}, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s
}

// say returns the text, with a header and a trailer.
func (s *talk) say(ctx context.Context, text string) (string, error) {
	came, _ := metadata.FromIncomingContext(ctx)
	s.asked <- came
	if err := grpc.SetHeader(ctx, metadata.Pairs("x-place", "kitchen", "x-raw-bin", "\x00\xff")); err != nil {
		return "", err
	}
	return text, grpc.SetTrailer(ctx, metadata.Pairs("x-cost", "1", "x-cost", "2"))
}

// fail returns an error that has what an error can have.
func (*talk) fail(_ context.Context, text string) (string, error) {
	failed, err := status.New(codes.FailedPrecondition, text).WithDetails(wrapperspb.Int64(42))
	if err != nil {
		return "", err
	}
	return "", failed.Err()
}

// hang doesn't return before its caller gives up.
func (s *talk) hang(ctx context.Context, _ string) (string, error) {
	s.hung <- struct{}{}
	<-ctx.Done()
	s.freed <- ctx.Err()
	return "", status.FromContextError(ctx.Err()).Err()
}

// chat returns each message as it comes, and "bye" at the end.
func (*talk) chat(stream grpc.ServerStream) error {
	for {
		message := &wrapperspb.StringValue{}
		err := stream.RecvMsg(message)
		if errors.Is(err, io.EOF) {
			return stream.SendMsg(wrapperspb.String("bye"))
		}
		if err == nil {
			err = stream.SendMsg(message)
		}
		if err != nil {
			return err
		}
	}
}
