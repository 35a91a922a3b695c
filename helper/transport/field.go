package transport

import "net/http"

// Field is one line of a header. Its name is canonical.
type Field struct {
	Name  string
	value [1]string // as a header map wants it, so that to put it there allocates nothing
}

// NewField returns the line of a header. name must be canonical.
func NewField(name, value string) Field { return Field{name, [1]string{value}} }

// Value is what stands behind the name.
func (f *Field) Value() string { return f.value[0] }

// Values may be put into header maps: what is appended to it goes elsewhere. It is
// part of f, which must not change as long as it is there.
func (f *Field) Values() []string { return f.value[:1:1] }

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
	for i := range fields {
		h[fields[i].Name] = append(h[fields[i].Name], fields[i].Value())
	}
}

// headerOf is the header that fields are; it has parts of them.
func headerOf(fields []Field) http.Header {
	h := make(http.Header, len(fields))
	for i := range fields {
		f := &fields[i]
		if earlier, again := h[f.Name]; again {
			h[f.Name] = append(earlier, f.Value())
		} else {
			h[f.Name] = f.Values()
		}
	}
	return h
}
