package server

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// v2 is a header of version 2 for a TCP connection over IPv4 or IPv6 (command 1), or of the proxy itself (command 0).
func v2(command byte, source, destination string) string {
	from, to := netip.MustParseAddrPort(source), netip.MustParseAddrPort(destination)
	family := byte(0x11)
	if from.Addr().Is6() {
		family = 0x21
	}
	block := append(from.Addr().AsSlice(), to.Addr().AsSlice()...)
	block = binary.BigEndian.AppendUint16(block, from.Port())
	block = binary.BigEndian.AppendUint16(block, to.Port())
	header := append([]byte("\r\n\r\n\x00\r\nQUIT\n"), 0x20|command, family)
	header = binary.BigEndian.AppendUint16(header, uint16(len(block))) //nolint:gosec // it is 12 or 36
	return string(append(header, block...))
}

func TestProxyHeadersAreReadFromTrustedAddressesOnly(t *testing.T) {
	const v1, own = "PROXY TCP4 203.0.113.7 192.0.2.1 4711 443\r\n", "127.0.0.1"
	for _, test := range []struct {
		name    string
		trusted bool
		header  string
		want    string // the client's address, or "" for no answer of the handler
	}{
		{"version 1", true, v1, "203.0.113.7"},
		{"version 1 over IPv6", true, "PROXY TCP6 2001:db8::7 2001:db8::1 4711 443\r\n", "2001:db8::7"},
		{"version 1 of an unknown connection", true, "PROXY UNKNOWN\r\n", own},
		{"version 2", true, v2(1, "203.0.113.7:4711", "192.0.2.1:443"), "203.0.113.7"},
		{"version 2 over IPv6", true, v2(1, "[2001:db8::7]:4711", "[2001:db8::1]:443"), "2001:db8::7"},
		{"version 2 of the proxy's own check", true, v2(0, "203.0.113.7:4711", "192.0.2.1:443"), own},
		{"no header", true, "", own},
		{"a header that isn't valid", true, "PROXY TCP4 localhost 192.0.2.1 4711 443\r\n", ""},
		{"two headers", true, v1 + v1, ""},
		{"no header from an address that isn't trusted", false, "", own},
		{"version 1 from an address that isn't trusted", false, v1, ""},
		{"version 2 from an address that isn't trusted", false, v2(1, "203.0.113.7:4711", "192.0.2.1:443"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := start(t, Options{
				ProxyHeaderFrom: func(peer netip.Addr) bool { return test.trusted && peer == netip.MustParseAddr(own) },
				Handler:         http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "from "+r.RemoteAddr) }),
			})
			answer := say(t, s, test.header+"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			_, from, reached := strings.Cut(answer, "\r\n\r\nfrom ")
			if reached != (test.want != "") || reached && from[:strings.LastIndexByte(from, ':')] != bracketed(test.want) {
				t.Errorf("got %q, want a request from %q", answer, test.want)
			}
		})
	}
}

func bracketed(addr string) string {
	if strings.Contains(addr, ":") {
		return "[" + addr + "]"
	}
	return addr
}
