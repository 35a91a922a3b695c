package transport_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"gatehouse/helper/transport"
)

// observed is what a round tripper makes of an answer.
type observed struct {
	Refused          bool
	Status           int
	Proto, Text      string
	Header, Trailer  http.Header
	Length           int64
	Close            bool
	TransferEncoding []string
	Body             string
	Cut              bool // the body ended with an error
	Connections      int  // that two requests took: 1 when the first one's was kept
}

// observe sends two requests, which get the same answer.
func observe(t *testing.T, make func(transport.Options) http.RoundTripper, method, answer string, closes bool) (o observed) {
	respond := says(answer)
	if closes {
		respond = saysAndCloses(answer)
	}
	s, options := playsLocally(t, respond)
	defer s.Close()
	rt := make(options)
	res, body, err := send(t, rt, method, localURL+"/")
	if o.Refused = res == nil; !o.Refused {
		o.Status, o.Proto, o.Text, o.Header, o.Trailer = res.StatusCode, res.Proto, res.Status, res.Header, res.Trailer
		o.Length, o.Close, o.TransferEncoding = res.ContentLength, res.Close, res.TransferEncoding
		o.Body, o.Cut = body, err != nil
	}
	if !closes && !o.Refused && !o.Cut {
		_, _, _ = send(t, rt, method, localURL+"/")
		o.Connections = s.connections()
	}
	rt.(interface{ CloseIdleConnections() }).CloseIdleConnections()
	return o
}

// FuzzAnswers holds the lane against net/http: it accepts and refuses the same
// answers, understands the same by them, and keeps the same connections.
func FuzzAnswers(f *testing.F) {
	for _, answer := range answers() {
		f.Add("GET", answer, true)
		f.Add("GET", answer, false)
		f.Add("HEAD", answer, true)
	}
	f.Fuzz(func(t *testing.T, method, answer string, closes bool) {
		if method != "GET" && method != "HEAD" && method != "POST" {
			return // other methods have no other answers
		}
		if !closes && !selfContained(method, answer) {
			closes = true // else both wait for the rest of it
		}
		want := observe(t, func(o transport.Options) http.RoundTripper { return transport.New(o) }, method, answer, closes)
		if want.Status == http.StatusSwitchingProtocols {
			want.Body = "" // stricter: it has none
		}
		for _, make := range []func(http.RoundTripper) http.RoundTripper{
			func(rt http.RoundTripper) http.RoundTripper { return rt },
			func(rt http.RoundTripper) http.RoundTripper { return takesFields{rt} },
		} {
			got := observe(t, func(o transport.Options) http.RoundTripper { return make(lane(t, o, localURL)) }, method, answer, closes)
			if got.Status == http.StatusSwitchingProtocols {
				got.Body = ""
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %q, closes %v:\ngot  %+v\nwant %+v", method, answer, closes, got, want)
			}
		}
	})
}

// takesFields is a lane that may tell the header of an answer in fields.
type takesFields struct{ http.RoundTripper }

func (l takesFields) RoundTrip(r *http.Request) (*http.Response, error) {
	watch := &transport.Watch{TakesFields: true}
	res, err := l.RoundTripper.RoundTrip(r.WithContext(context.WithValue(r.Context(), transport.WatchKey{}, watch)))
	if watch.Answered != nil {
		if res.Header != nil {
			panic("the header is told twice")
		}
		res.Header = http.Header{}
		transport.AddFields(res.Header, watch.Answered)
	}
	return res, err
}

func (l takesFields) CloseIdleConnections() {
	l.RoundTripper.(interface{ CloseIdleConnections() }).CloseIdleConnections()
}

// selfContained says whether an answer ends without the end of its connection,
// and nothing comes behind it: what net/http does then is a matter of time.
func selfContained(method, answer string) bool {
	in := bufio.NewReader(strings.NewReader(answer))
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return false
		}
		switch {
		case res.StatusCode == http.StatusSwitchingProtocols: // net/http's body is the connection
			return false
		case res.StatusCode >= 100 && res.StatusCode <= 199:
			continue
		}
		_, err = io.Copy(io.Discard, res.Body)
		return err == nil && !res.Close && in.Buffered() == 0
	}
}

func answers() []string {
	long := strings.Repeat("a", 1<<20)
	return []string{
		ok,
		"HTTP/1.1 204 No Content\r\n\r\n",
		"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
		"HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nconnection: Keep-Alive, CLOSE\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\n\r\nto the end of the connection",
		"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		// two lengths, both framings
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!",
		"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: \vchunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		// chunks
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n2;a=b\r\nok\r\n0;c\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n0\r\nContent-Length: 5\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nno colon\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX: " + long[:8192] + "\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\nok\r\n0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok",
		// lines
		"HTTP/1.1 200 OK\r\nX-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\n X: a\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nContent Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nX: a\rb\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
		"HTTP/1.1 200 OK\r\nX: a\x00b\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nX\xff: a\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nX: " + long + "\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 OK\r\nX: " + long[:250<<10] + "\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 200 " + long[:8192] + "\r\nContent-Length: 2\r\n\r\nok",
		// first lines
		"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1  200  OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 -20 OK\r\n\r\n", "HTTP/1.1 000 OK\r\n\r\n", "HTTP/1.1 099 OK\r\n\r\n",
		"HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/0.9 200 OK\r\n\r\nok", "SSH-2.0-x\r\n", "\r\n" + ok, "", "HTTP/1.1 200 OK\r\nX",
		"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nok",
		// before the answer
		"HTTP/1.1 100 Continue\r\n\r\n" + ok,
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + ok,
		"HTTP/1.1 103 Early Hints\r\nContent-Length: 5\r\n\r\n" + ok,
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: "+long[:4000]+"\r\n\r\n", 100) + ok,
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		// more or less than the answer
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
		ok + ok,
		ok + "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
		fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\nPragma: no-cache\r\n\r\n%s", len(long), long),
	}
}
