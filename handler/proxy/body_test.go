package proxy

import (
	"errors"
	"io"
	"net/http"
	"testing"
	"time"

	"gatehouse/helper/exchange"
)

// closedBehind is a body that is closed as soon as it has been read.
type closedBehind struct{ read bool }

func (b *closedBehind) Read(p []byte) (int, error) {
	if b.read {
		return 0, http.ErrBodyReadAfterClose
	}
	b.read = true
	return copy(p, "body"), io.EOF
}

func (*closedBehind) Close() error { return nil }

// The backend may answer before http.Transport has looked whether there is more of the body than its length: the
// server closes the body then.
func TestABodyThatWasReadIsWhole(t *testing.T) {
	ex := &exchange.Exchange{}
	b := &requestBody{ReadCloser: &closedBehind{}, exchange: ex, watch: &watchdog{exchange: ex, start: time.Now()}}
	text, err := io.ReadAll(io.LimitReader(b, 4))
	if string(text) != "body" || err != nil {
		t.Fatalf("read %q, %v", text, err)
	}
	if n, err := b.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) || b.fault() != nil {
		t.Errorf("behind it: %d, %v, fault %v", n, err, b.fault())
	}
}
