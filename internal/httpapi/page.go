package httpapi

import (
	"embed"
	"net/http"
)

//go:embed openapi.json index.html page.js
var files embed.FS

// page serves one of the embedded files. The policy lets it load what is its own and nothing else.
func page(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'")
		http.ServeFileFS(w, r, files, name)
	})
}

// serveOpenAPI serves the description of both entry points.
func serveOpenAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	http.ServeFileFS(w, r, files, "openapi.json")
}
