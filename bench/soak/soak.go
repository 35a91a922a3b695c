package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/bench/load"
)

type soak struct {
	gateway        *load.Gateway
	folder, config string
	bearer         string
	requests       atomic.Int64
}

const connections = 64

// sample prints what the gateway has at the moment.
func (s *soak) sample(since time.Time) error {
	memory, err := s.gateway.Memory()
	if err != nil {
		return err
	}
	descriptors, err := s.gateway.Descriptors()
	if err != nil {
		return err
	}
	goroutines, err := s.gateway.Goroutines()
	if err != nil {
		return err
	}
	fmt.Printf("%10.0f %12d %10.1f %12d %12d\n", time.Since(since).Seconds(), s.requests.Load(), float64(memory)/1e6, goroutines, descriptors)
	return nil
}

// settle is how long connections may take to be gone after the load: longer than a backend's idle time in the config.
const settle = 100 * time.Second

// send sends n good requests, and samples every twentieth of them.
func (s *soak) send(n int) error {
	start := time.Now()
	if err := s.sample(start); err != nil {
		return err
	}
	request := s.request("GET", "/good/1", "")
	for s.requests.Load() < int64(n) {
		r := load.Run(s.gateway.Address, request, connections, 30*time.Second, 200)
		if r.Errors > 0 {
			return fmt.Errorf("%d of %d answers weren't 200", r.Errors, r.Requests)
		}
		s.requests.Add(int64(r.Requests))
		if err := s.sample(start); err != nil {
			return err
		}
	}
	time.Sleep(settle)
	return s.sample(start)
}

// fault has clients and backends do what they shouldn't for d, under reloads.
func (s *soak) fault(d time.Duration) error {
	start := time.Now()
	if err := s.sample(start); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range connections {
		wg.Go(func() {
			for time.Since(start) < d {
				s.misuse()
			}
		})
	}
	wg.Go(func() {
		for i := 0; time.Since(start) < d; i++ {
			time.Sleep(3 * time.Second)
			s.reload(i)
		}
	})
	for time.Since(start) < d {
		time.Sleep(d / 10)
		if err := s.sample(start); err != nil {
			return err
		}
	}
	wg.Wait()
	time.Sleep(settle)
	return s.sample(start)
}

// reload changes the file, every third time to one that isn't taken.
func (s *soak) reload(i int) {
	text := s.config + fmt.Sprintf("  - {path: /turn-%d, upstream: good}\n", i)
	if i%3 == 0 {
		text = s.config + "  - {path: /half, upst"
	}
	_ = os.WriteFile(filepath.Join(s.folder, "config.yaml"), []byte(text), 0o600)
}

func (s *soak) request(method, path, body string) []byte {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: soak.test\r\nUser-Agent: soak\r\nAuthorization: Bearer %s\r\n", method, path, s.bearer)
	if method == "POST" {
		text += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	return []byte(text + "\r\n" + body)
}

// misuse is one client's connection.
func (s *soak) misuse() {
	conn, err := net.Dial("tcp", s.gateway.Address)
	if err != nil {
		time.Sleep(10 * time.Millisecond)
		return
	}
	defer conn.Close() //nolint:errcheck // it ends anyhow
	_ = conn.SetDeadline(time.Now().Add(3 * time.Second))
	answer := make([]byte, 4<<10)
	for range 1 + rand.IntN(5) {
		s.requests.Add(1)
		request := s.request("GET", "/bad/1", "")
		switch rand.IntN(10) {
		case 0:
			request = s.request("POST", "/bad/1", "a body of a request")
		case 1: // half a body
			request = s.request("POST", "/bad/1", "a body")[:len(request)-1]
		case 2: // half a header
			request = request[:rand.IntN(len(request))]
		case 3:
			request = []byte("GET /bad HTTP/1.1\r\nHost: soak.test\r\nAuthorization: Bearer a.b.c\r\n\r\n")
		case 4:
			request = []byte("\x16\x03\x01 nonsense\r\n\r\n")
		case 5: // leaves before the answer
			_, _ = conn.Write(request)
			return
		}
		if _, err := conn.Write(request); err != nil {
			return
		}
		if rand.IntN(8) == 0 {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
		_ = conn.SetReadDeadline(time.Now().Add(1500 * time.Millisecond))
		if _, err := io.ReadAtLeast(conn, answer, 12); err != nil {
			return
		}
	}
}
