package config

import (
	"fmt"
	"strings"
	"testing"
)

// manyRoutes is a file with so many routes to ten upstreams.
func manyRoutes(n int) []byte {
	var text strings.Builder
	text.WriteString("upstreams:\n")
	for i := range 10 {
		fmt.Fprintf(&text, "  u%d: {url: \"http://10.0.0.%d:8080\"}\n", i, i+1)
	}
	text.WriteString("routes:\n")
	for i := range n {
		fmt.Fprintf(&text, "  - {path: /service%d, upstream: u%d, auth: none, methods: [GET, POST]}\n", i, i%10)
	}
	return []byte(text.String())
}

// What a reload of 10,000 routes costs before the gateway gets them.
func BenchmarkParse(b *testing.B) {
	text := manyRoutes(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("bench.yaml", text, noEnv); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHashAndDiff(b *testing.B) {
	before, err := Parse("bench.yaml", manyRoutes(10_000), noEnv)
	if err != nil {
		b.Fatal(err)
	}
	after, err := Parse("bench.yaml", manyRoutes(10_001), noEnv)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		Hash(after)
		Diff(before, after)
	}
}
