// Package webui is the web pages: server-rendered HTML in the reader's language, and the scripts,
// style and pictures that it loads.
//
// A page NAME is pages/NAME.html, its texts are the keys NAME.… of locales/*.json, its script is
// src/pages/NAME.ts, if it has one. The bundle command makes dist/ of the scripts.
package webui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed layout.html pages/*.html locales/*.json
var sources embed.FS

// What "make deps" (go run ./internal/webui/bundle) builds; dist.md is there without it.
//
//go:embed all:dist*
var built embed.FS

// policy lets a page load what is its own, show pictures that the browser holds, and nothing else.
const policy = loadPolicy + "; frame-ancestors 'none'"

// loadPolicy is the part of it that a page can hold itself, not only its header.
const loadPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; " +
	"img-src 'self' blob:; connect-src 'self'; font-src 'self'; worker-src 'self'; " +
	"manifest-src 'self'; base-uri 'none'; form-action 'none'"

// turnstilePolicy is the policy of a page that may show Cloudflare's widget.
var turnstilePolicy = strings.Replace(policy, "script-src 'self'",
	"script-src 'self' "+turnstile+"; frame-src "+turnstile, 1)

// turnstile is where the widget comes from.
const turnstile = "https://challenges.cloudflare.com"

// botChecked are the pages that need a bot-check token of those who are not logged in.
var botChecked = map[string]bool{"front": true, "sign-up": true, "reset": true}

// workerPolicy is the policy of a script that runs as a worker. It may compile WebAssembly: pdf.js
// decodes some pictures so, and the engine is nothing else.
const workerPolicy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'"

// Config says what the service has, which the pages show or leave out.
type Config struct {
	Accounts bool // people log in and have credits
	// Cloudflare's widget makes bot-check tokens; it is the only thing that pages load from elsewhere
	Turnstile bool
	Browser   Browser
}

// Browser says whether the front page cleans pages in the browser itself.
type Browser string

// What the front page offers.
const (
	BrowserOn   Browser = "on"   // the browser or the service, as people choose
	BrowserOff  Browser = "off"  // the service
	BrowserOnly Browser = "only" // the browser
)

// UI serves the pages.
type UI struct {
	cfg       Config
	root      string // the address of the folder that the pages are in
	site      bool   // they are files, see [Site]
	languages []*language
	pages     map[string]*template.Template
	manifest  manifest
}

// manifest is what the bundle command tells of dist/.
type manifest struct {
	Files map[string]string   // by source name, such as "front.ts": the name in dist/
	Loads map[string][]string // by page: the scripts that its own imports at once

	Engine engine
}

// engine is how many bytes of WebAssembly and networks cleaning in the browser needs before the
// first page.
type engine struct {
	Bytes  int `json:"bytes"`
	Packed int `json:"packed"` // as they are sent
}

// New reads the embedded pages. An error is a mistake in them.
func New(cfg Config) (*UI, error) {
	u := &UI{cfg: cfg, root: "/", pages: map[string]*template.Template{}}
	text, err := built.ReadFile("dist/manifest.json")
	if err != nil {
		return nil, errors.New("this build has no web pages: run make deps, and build again")
	}
	if err := json.Unmarshal(text, &u.manifest); err != nil {
		return nil, err
	}
	if u.languages, err = readLanguages(); err != nil {
		return nil, err
	}
	functions := template.FuncMap{
		"asset": u.asset, "integrity": u.integrity, "inLanguage": u.inLanguage,
	}
	layout, err := template.New("layout.html").Funcs(functions).ParseFS(sources, "layout.html")
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(sources, "pages/*.html")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		page, err := template.Must(layout.Clone()).ParseFS(sources, file)
		if err != nil {
			return nil, err
		}
		u.pages[strings.TrimSuffix(path.Base(file), ".html")] = page
	}
	return u, nil
}

// asset is the address of a file of dist/, by its source's name.
func (u *UI) asset(name string) (string, error) {
	file, known := u.manifest.Files[name]
	if !known {
		return "", fmt.Errorf("there is no asset %q", name)
	}
	return u.root + "assets/" + file, nil
}

// view is what a template sees.
type view struct {
	*language
	Languages []*language
	Name      string // of the page
	Path      string
	Home      string    // the front page's address
	Manifest  string    // its address
	Site      *siteView // of a page that is a file
	Accounts  bool
	Turnstile bool
	Browser   Browser  // empty where the page does not clean
	Script    string   // its address
	Preload   []string // addresses of what the script imports
	Client    client
	Data      any // of the page
}

// client is what a page's script is told.
type client struct {
	Language string            `json:"language"`
	Root     string            `json:"root"`
	Accounts bool              `json:"accounts"`
	Assets   map[string]string `json:"assets"`
	Engine   *engine           `json:"engine,omitempty"` // where the page cleans
	Text     map[string]string `json:"text"`
	Data     any               `json:"data,omitempty"`
}

// Page handles requests for a page. What data returns is .Data in its template; nil is for pages
// without. Where it has a method ClientData, what that returns goes to the page's script.
func (u *UI) Page(name string, data func(*http.Request) any) http.Handler {
	return u.PageWithStatus(name, http.StatusOK, data)
}

// PageWithStatus is like [UI.Page] with another status, for pages that tell of a failure.
func (u *UI) PageWithStatus(name string, status int, data func(*http.Request) any) http.Handler {
	if u.pages[name] == nil {
		panic("webui: there is no page " + name)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u.chooseLanguage(w, r) {
			return
		}
		var d any
		if data != nil {
			d = data(r)
		}
		page, err := u.render(name, u.languageOf(r), r.URL.Path, d)
		if err != nil {
			panic(err) // a mistake in a template; tests render each in all languages
		}
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", u.policyOf(name))
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-cache")
		u.isolate(h, name)
		h.Add("Vary", "Accept-Language, Cookie, Accept-Encoding")
		h.Set("Etag", tag(page))
		if status != http.StatusOK {
			w.WriteHeader(status)
			_, _ = w.Write(page)
			return
		}
		if accepts(r, "gzip") {
			h.Set("Content-Encoding", "gzip")
			page = compress(page)
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(page))
	})
}

// cleans reports whether a page cleans pages in the browser.
func (u *UI) cleans(page string) bool {
	return page == "front" && (u.cfg.Browser == BrowserOn || u.cfg.Browser == BrowserOnly)
}

// isolation are the headers that keep a page apart from other sites.
var isolation = map[string]string{
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Embedder-Policy": embedder,
}

const embedder = "require-corp"

// workerHeaders are the headers of a worker's script, which has a policy of its own.
var workerHeaders = map[string]string{
	"Content-Security-Policy":      workerPolicy,
	"Cross-Origin-Embedder-Policy": embedder, // as of the page whose worker it is
}

func setAll(h http.Header, headers map[string]string) {
	for name, value := range headers {
		h.Set(name, value)
	}
}

// isWorker tells a worker's script by its name.
func isWorker(file string) bool { return strings.Contains(path.Base(file), ".worker") }

// isolate keeps a page that cleans apart from other sites, for which browsers let it use threads.
// Nothing of another site can then be in it, as Cloudflare's widget is.
func (u *UI) isolate(h http.Header, page string) {
	if u.cleans(page) && !u.cfg.Turnstile {
		setAll(h, isolation)
	}
}

func (u *UI) policyOf(page string) string {
	if u.cfg.Turnstile && botChecked[page] {
		return turnstilePolicy
	}
	return policy
}

func (u *UI) render(name string, l *language, at string, data any) ([]byte, error) {
	v := view{
		language: l, Languages: u.languages, Name: name, Path: at, Accounts: u.cfg.Accounts,
		Turnstile: u.cfg.Turnstile, Data: data,
		Home: u.home(l), Manifest: u.root + "manifest.webmanifest",
		Client: client{
			Language: l.Tag, Root: u.root, Accounts: u.cfg.Accounts, Assets: map[string]string{},
			Text: l.clientTexts(name),
		},
	}
	for _, asset := range []string{"pdfjs", "icon.svg", "before.webp", "after.webp"} {
		v.Client.Assets[asset] = u.root + "assets/" + u.manifest.Files[asset]
	}
	if u.cleans(name) {
		v.Browser, v.Client.Engine = u.cfg.Browser, &u.manifest.Engine
		for _, asset := range []string{"engine.worker.js", "engine.wasm", "runtime.worker.js",
			"runtime.wasm", "segment.onnx", "overview.onnx", "judge.onnx", "orient.onnx",
			"flatten.onnx", "avif.wasm", "heif.wasm", "tiff.wasm"} {
			v.Client.Assets[asset] = u.root + "assets/" + u.manifest.Files[asset]
		}
	}
	script := name
	if u.manifest.Files[script+".ts"] == "" {
		script = "site"
	}
	v.Script = u.root + "assets/" + u.manifest.Files[script+".ts"]
	for _, file := range u.manifest.Loads[script] {
		v.Preload = append(v.Preload, u.root+"assets/"+file)
	}
	if told, ok := data.(interface{ ClientData() any }); ok {
		v.Client.Data = told.ClientData()
	}
	if u.site {
		if err := u.fitForSite(&v); err != nil {
			return nil, err
		}
	}
	var page bytes.Buffer
	err := u.pages[name].Execute(&page, v)
	return page.Bytes(), err
}

// Mount adds to mux what the pages load: /assets/, the service worker and the web manifest.
func (u *UI) Mount(mux *http.ServeMux) {
	mux.Handle("GET /assets/", http.StripPrefix("/assets/", http.HandlerFunc(u.serveAsset)))
	mux.HandleFunc("GET /sw.js", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", workerPolicy)
		w.Header().Set("Cache-Control", "no-cache")
		u.serveBuilt(w, r, "sw.js")
	})
	mux.HandleFunc("GET /manifest.webmanifest", u.serveManifest)
}

// serveAsset serves a file whose name tells its content, so that browsers may keep it for good.
func (u *UI) serveAsset(w http.ResponseWriter, r *http.Request) {
	if isWorker(r.URL.Path) {
		setAll(w.Header(), workerHeaders)
	}
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	u.serveBuilt(w, r, r.URL.Path)
}

// serveBuilt serves a file as it is kept, compressed, to those who can read that.
func (u *UI) serveBuilt(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	file, err := u.packed(name)
	if err != nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "there is no such file; reload the page", http.StatusNotFound)
		return
	}
	h.Set("Content-Type", contentType(name))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Add("Vary", "Accept-Encoding")
	h.Set("Etag", tag(file.content))
	content := file.content
	if accepts(r, file.coding) {
		h.Set("Content-Encoding", file.coding)
	} else if content, err = file.expand(); err != nil {
		panic(err) // it was compressed when the program was built
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

func contentType(name string) string {
	switch ext := path.Ext(name); ext {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".webp":
		return "image/webp"
	case ".wasm":
		return "application/wasm"
	case ".bcmap", ".pfb", ".ttf", ".icc", ".onnx":
		return "application/octet-stream"
	default:
		return mime.TypeByExtension(ext)
	}
}

// serveManifest serves what a system needs to install the pages as an app.
func (u *UI) serveManifest(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/manifest+json")
	w.Header().Set("Cache-Control", "no-cache")
	w.Header().Add("Vary", "Accept-Language, Cookie")
	_, _ = w.Write(u.webManifest(u.languageOf(r)))
}

func (u *UI) webManifest(l *language) []byte {
	icon := func(name, size, purpose string) map[string]string {
		address, err := u.asset(name)
		if err != nil {
			panic(err)
		}
		return map[string]string{"src": address, "sizes": size, "type": contentType(name),
			"purpose": purpose}
	}
	text, err := json.Marshal(map[string]any{
		"start_url": u.home(l), "scope": u.root, "display": "standalone", "lang": l.Tag,
		"name": l.texts["site.app"], "short_name": "unink", "description": l.texts["front.description"],
		"theme_color": "#f6f5f1", "background_color": "#f6f5f1",
		"icons": []any{
			icon("icon.svg", "any", "any"), icon("icon-192.png", "192x192", "any"),
			icon("icon-512.png", "512x512", "any"), icon("icon-512.png", "512x512", "maskable"),
		},
		"share_target": map[string]any{
			"action": u.root + "share", "method": "POST", "enctype": "multipart/form-data",
			"params": map[string]any{
				"files": []any{map[string]any{"name": "files",
					"accept": []string{"image/*", "application/pdf"}}},
			},
		},
	})
	if err != nil {
		panic(err) // never: it is made of texts
	}
	return text
}

func tag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(content) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}
