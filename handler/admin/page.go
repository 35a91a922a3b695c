package admin

import (
	"embed"
	"io/fs"
	"net/http"
	"path"

	"github.com/go-chi/chi/v5"
)

// pageFiles are the files of the status page.
//
//go:embed page
var pageFiles embed.FS

// policy lets the page load its own files and ask its own listener, and nothing else (Content Security Policy Level 3).
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// contentType doesn't ask the machine's table, which may say anything.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return "text/html; charset=utf-8"
}

// servePage serves the page's files. They need no token: there is nothing of the gateway in them.
func servePage(r chi.Router) {
	get(r, "/", func(w http.ResponseWriter, _ *http.Request) { servePageFile(w, "index.html") })
	get(r, "/page/{name}", func(w http.ResponseWriter, r *http.Request) { servePageFile(w, chi.URLParam(r, "name")) })
}

func servePageFile(w http.ResponseWriter, name string) {
	data, err := fs.ReadFile(pageFiles, "page/"+name)
	if err != nil { // the name isn't one of the files'
		notFound(w)
		return
	}
	header := w.Header()
	header.Set("Content-Type", contentType(name))
	header.Set("Content-Security-Policy", policy)
	header.Set("Cache-Control", "no-cache") // another version of the gateway has another page
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	_, _ = w.Write(data) // a client that left is seen by the server
}
