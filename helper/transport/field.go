package transport

import "net/http"

// Field is one line of a header. Its name is canonical.
type Field struct{ Name, Value string }

// MayBeField says whether the header of a request may be among the Fields of its Watch.
// The others mean something to a lane or to net/http, which look for them in the
// request's Header.
func MayBeField(name string) bool {
	switch name {
	case "Connection", "Content-Length", "Expect", "Host", "Idempotency-Key", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade", "User-Agent", "X-Idempotency-Key":
		return false
	}
	return true
}

// AddFields adds fields to h, where a lane would have written them behind it.
func AddFields(h http.Header, fields []Field) {
	for _, f := range fields {
		h[f.Name] = append(h[f.Name], f.Value)
	}
}
