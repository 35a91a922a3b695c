package gateway_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
)

// zeros is a body of so many bytes, sent in chunks.
type zeros struct{ left int64 }

func (z *zeros) Read(p []byte) (int, error) {
	if z.left == 0 {
		return 0, io.EOF
	}
	n := min(int64(len(p)), z.left)
	z.left -= n
	return int(n), nil
}

// An upload is streamed: whatever its size, the memory of client, gateway and
// backend together stays small.
func TestUploadsTakeConstantMemory(t *testing.T) {
	const size, most = 96 << 20, 48 << 20
	var peak uint64
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var total int64
		for step := int64(16 << 20); ; {
			n, err := io.CopyN(io.Discard, r.Body, step)
			total += n
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			peak = max(peak, stats.HeapInuse)
			if err != nil {
				break
			}
		}
		if total != size {
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer backend.Close()
	s := start(t, backend.Listener.Addr().String(), `
server: {max_body_size: 0}
upstreams: {app: {url: "http://BACKEND", timeouts: {request: 0s, response_header: 0s}, route: {path: /, auth: none}}}
`)
	for _, method := range []string{"PUT", "POST"} {
		r := newRequest(t, method, s.URL, &zeros{size})
		res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("%s is answered %d", method, res.StatusCode)
		}
	}
	for _, line := range s.lines() {
		logged(t, line, map[string]any{"bytes_in": size})
	}
	if peak > most {
		t.Errorf("%d MiB of heap were in use", peak>>20)
	}
}
