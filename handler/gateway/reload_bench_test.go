package gateway_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"gatehouse/handler/gateway"
	"gatehouse/helper/config"
	"gatehouse/logger"
)

// What a reload takes of a file of 10,000 routes, one of which has changed: from reading the file to serving it.
func BenchmarkReload(b *testing.B) {
	var text strings.Builder
	text.WriteString("upstreams:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  u%d: {url: \"http://10.0.0.%d:8080\"}\n", i, i+1)
	}
	text.WriteString("routes:\n")
	for i := range 10_000 {
		fmt.Fprintf(&text, "  - {path: /service%d, upstream: u%d, auth: none, methods: [GET, POST]}\n", i, i%10)
	}
	file := filepath.Join(b.TempDir(), "config.yaml")
	noEnv := func(string) (string, bool) { return "", false }
	cfg, err := config.Parse(file, []byte(text.String()), noEnv)
	if err != nil {
		b.Fatal(err)
	}
	g, err := gateway.Build(cfg, gateway.Deps{
		Log: zap.NewNop(), Observer: newCounts(), Access: func(*config.Config) *logger.Access { return nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	r := gateway.NewReloader(gateway.ReloadOptions{
		Path: file, Env: noEnv, Gateway: g, Running: cfg, Log: zap.NewNop(), Done: func(string, string, time.Time) {},
	})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		b.StopTimer()
		n++
		if err := os.WriteFile(file, fmt.Appendf(nil, "%s  - {path: /changed%d, upstream: u0, auth: none}\n", text.String(), n), 0o600); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if done := r.Reload("api"); done.Result != gateway.ReloadSuccess {
			b.Fatalf("%+v", done)
		}
	}
}
