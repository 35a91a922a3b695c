package retry_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"golang.org/x/net/http2"

	"gatehouse/helper/retry"
)

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return listener
}

// The first backend breaks off after ten bytes, the second sees all 64 KiB.
func TestASecondBackendGetsTheWholeBody(t *testing.T) {
	breaking, seen := listen(t), []byte(nil)
	go func() {
		connection, err := breaking.Accept()
		if err != nil {
			return
		}
		io.ReadFull(connection, make([]byte, 10))
		connection.(*net.TCPConn).SetLinger(0) // a reset
		connection.Close()
	}()
	good := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		seen, _ = io.ReadAll(r.Body)
	}))
	defer good.Close()

	want, transport := content(retry.MaxBody), new(http.Transport)
	defer transport.CloseIdleConnections()
	client, wire := io.Pipe()
	go func() {
		wire.Write(want)
		wire.Close()
	}()
	body := retry.NewBody(client, int64(len(want)))
	send := func(url string) error {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, url, open(t, body))
		if err != nil {
			t.Fatal(err)
		}
		request.ContentLength = int64(len(want))
		response, err := transport.RoundTrip(request)
		if err == nil {
			response.Body.Close()
		}
		return err
	}
	if err := send("http://" + breaking.Addr().String()); err == nil {
		t.Fatal("the first attempt didn't fail")
	}
	if !body.Replayable() {
		t.Fatal("the body can't be sent again")
	}
	if err := send(good.URL); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(seen, want) {
		t.Errorf("the second backend saw %d bytes, not the %d of the body", len(seen), len(want))
	}
}

// A backend that restarts refuses an HTTP/2 stream whose body it has begun to
// read: nothing was done with it (RFC 9113, section 8.7), so that even a POST is
// sent again, by the transport itself.
func TestARefusedStreamIsSentAgain(t *testing.T) {
	listener, want, seen := listen(t), content(3000), make(chan []byte)
	go refuseFirst(listener, seen)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()

	body := retry.NewBody(bytes.NewReader(want), int64(len(want)))
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String(), open(t, body))
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength, request.GetBody = int64(len(want)), body.Open
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if got := <-seen; response.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
		t.Errorf("status %d, and the backend saw %d bytes of %d", response.StatusCode, len(got), len(want))
	}
}

// refuseFirst serves one HTTP/2 connection: it refuses the first stream after
// some of its body and answers the second 200 after all of it.
func refuseFirst(listener net.Listener, seen chan<- []byte) {
	connection, err := listener.Accept()
	if err != nil {
		return
	}
	defer connection.Close()
	io.ReadFull(connection, make([]byte, len(http2.ClientPreface)))
	framer := http2.NewFramer(connection, connection)
	framer.WriteSettings()
	first, data := uint32(0), []byte(nil)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return
		}
		part, isData := frame.(*http2.DataFrame)
		switch {
		case !isData:
		case first == 0:
			first = part.StreamID
			framer.WriteRSTStream(first, http2.ErrCodeRefusedStream)
		case part.StreamID != first:
			data = append(data, part.Data()...)
			if part.StreamEnded() {
				ok := []byte{0x88} // :status 200
				framer.WriteHeaders(http2.HeadersFrameParam{StreamID: part.StreamID, BlockFragment: ok, EndHeaders: true, EndStream: true})
				// The test takes it once the client has its answer.
				seen <- data
				return
			}
		}
	}
}
