package builtin

import (
	"net/http"
	"strconv"
	"strings"
)

// smallest is the length from which on compressing saves more than its own header and the time it takes.
const smallest = 1 << 10

// compressible says whether an answer may be compressed, and is worth it: it is whole and has a body, isn't encoded yet, isn't
// known to be small, its type is one that compresses, and nothing in its header forbids to transform it (RFC 9111, section
// 5.2.2.6) or sums up its bytes.
func compressible(status int, h http.Header) bool {
	switch {
	case status < http.StatusOK, status == http.StatusNoContent, status == http.StatusResetContent,
		status == http.StatusPartialContent, status == http.StatusNotModified:
		return false
	case h["Content-Encoding"] != nil, h["Content-Range"] != nil,
		h["Content-Digest"] != nil, h["Repr-Digest"] != nil, h["Digest"] != nil, h["Content-Md5"] != nil:
		return false
	case hasToken(h["Cache-Control"], "no-transform"):
		return false
	}
	if length := h.Get("Content-Length"); length != "" {
		if n, err := strconv.ParseInt(length, 10, 64); err != nil || n < smallest {
			return false
		}
	}
	return compressibleType(h.Get("Content-Type"))
}

// compressibleType knows text from what is compressed already. Server-sent events are left alone, because each is small and
// must arrive at once, and so is gRPC, which has a coding of its own.
func compressibleType(contentType string) bool {
	kind, _, _ := strings.Cut(contentType, ";")
	kind = strings.ToLower(strings.TrimSpace(kind))
	switch {
	case kind == "text/event-stream", strings.HasPrefix(kind, "application/grpc"):
		return false
	case strings.HasPrefix(kind, "text/"), strings.HasSuffix(kind, "+json"), strings.HasSuffix(kind, "+xml"), strings.HasSuffix(kind, "+text"):
		return true
	}
	switch kind {
	case "application/json", "application/x-ndjson", "application/javascript", "application/x-javascript", "application/xml",
		"application/graphql", "application/wasm", "application/yaml", "application/vnd.ms-fontobject",
		"font/ttf", "font/otf", "image/bmp", "image/x-icon":
		return true
	}
	return false
}

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3): gzip counts by its own weight, or else by that of *. A client
// that forbids to transform (RFC 9111, section 5.2.1.6) or asks for a range gets what the upstream sent.
func acceptsGzip(h http.Header) bool {
	if h["Range"] != nil || hasToken(h["Cache-Control"], "no-transform") {
		return false
	}
	named, any := -1.0, -1.0
	for _, line := range h["Accept-Encoding"] {
		for item := range strings.SplitSeq(line, ",") {
			coding, parameters, _ := strings.Cut(item, ";")
			switch strings.ToLower(strings.TrimSpace(coding)) {
			case "gzip", "x-gzip":
				named = max(named, weight(parameters))
			case "*":
				any = max(any, weight(parameters))
			}
		}
	}
	if named >= 0 {
		return named > 0
	}
	return any > 0
}

// weight is the value of the parameter q, 1 without one. What can't be read is 0: plain is never wrong.
func weight(parameters string) float64 {
	name, value, ok := strings.Cut(strings.TrimSpace(parameters), "=")
	if !ok && name == "" {
		return 1
	}
	q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || !strings.EqualFold(strings.TrimSpace(name), "q") || !(q >= 0 && q <= 1) {
		return 0
	}
	return q
}

// hasToken says whether one of the lines has token in its list, in any case.
func hasToken(lines []string, token string) bool {
	for _, line := range lines {
		for item := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

// weaken makes a strong entity tag weak (RFC 9110, section 8.8.1): the compressed bytes are others than those it was made for.
func weaken(h http.Header) {
	if tag := h.Get("Etag"); strings.HasPrefix(tag, `"`) {
		h.Set("Etag", "W/"+tag)
	}
}

// vary tells caches that the answer depends on Accept-Encoding, also where it wasn't compressed for this client.
func vary(h http.Header) {
	if !hasToken(h["Vary"], "Accept-Encoding") && !hasToken(h["Vary"], "*") {
		h.Add("Vary", "Accept-Encoding")
	}
}
