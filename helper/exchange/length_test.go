package exchange_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"gatehouse/helper/exchange"
)

// The length of a short body is net/http's to find, but the client sees the one that
// was set. Only where the handler flushes within such a body it comes in chunks, but
// not to HTTP/1.0, where a body that is cut would look whole, and no event stream's.
func TestTheLengthThatWasSetArrives(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "POST"} {
		for _, proto := range []string{"HTTP/1.1", "HTTP/1.0"} {
			for _, status := range []int{200, 204, 205, 304, 404, 500} {
				for _, length := range []int{0, 1, 2047, 2048, 2049, 10_000} {
					for _, flush := range []string{"no flush", "flush", "always", "stream"} {
						name := fmt.Sprint(method, " ", proto, " ", status, " ", length, " ", flush)
						answer, _ := serve(t, method+" / "+proto+"\r\nHost: a.test\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
							func(ex *exchange.Exchange, w http.ResponseWriter, _ *http.Request) {
								if flush == "always" {
									ex.Writer.FlushAlways()
								}
								if flush == "stream" {
									w.Header().Set("Content-Type", "Text/Event-Stream")
								}
								if status != http.StatusNoContent {
									w.Header().Set("Content-Length", strconv.Itoa(length))
								}
								w.WriteHeader(status)
								if status == http.StatusNoContent || status == http.StatusNotModified || method == "HEAD" {
									return
								}
								_, _ = io.WriteString(w, strings.Repeat("a", length/2))
								if flush == "flush" || flush == "stream" {
									_ = http.NewResponseController(w).Flush()
								}
								_, _ = io.WriteString(w, strings.Repeat("a", length-length/2))
							})
						res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), &http.Request{Method: method})
						if err != nil {
							t.Fatalf("%s: %v: %q", name, err, answer)
						}
						body, err := io.ReadAll(res.Body)
						want, text := strconv.Itoa(length), length
						bodiless := status == http.StatusNoContent || status == http.StatusNotModified
						if bodiless || flush == "flush" && length <= 2048 && method != "HEAD" && proto != "HTTP/1.0" {
							want = ""
						}
						if bodiless || method == "HEAD" {
							text = 0
						}
						if got := res.Header.Get("Content-Length"); err != nil || len(body) != text || got != want {
							t.Errorf("%s: a length of %q and %d bytes, %v", name, got, len(body), err)
						}
					}
				}
			}
		}
	}
}
