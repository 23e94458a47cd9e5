package webui

import (
	"encoding/json"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func newUI(t *testing.T) *UI {
	t.Helper()
	u, err := New(Config{Accounts: true})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func get(h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestLanguagesAgree holds each file of locales/ against the English one.
func TestLanguagesAgree(t *testing.T) {
	languages := newUI(t).languages
	placeholder := regexp.MustCompile(`\{\w+\}|</?\w+`)
	english := languages[0]
	if english.Tag != "en" || len(languages) < 2 {
		t.Fatalf("%d languages, the first %s", len(languages), english.Tag)
	}
	for _, l := range languages[1:] {
		for key := range l.texts {
			if _, known := english.texts[key]; !known {
				t.Errorf("%s has %q, which English lacks", l.Tag, key)
			}
		}
		for key, text := range english.texts {
			other, known := l.texts[key]
			want, got := placeholder.FindAllString(text, -1), placeholder.FindAllString(other, -1)
			slices.Sort(want)
			slices.Sort(got)
			switch {
			case !known || other == "":
				t.Errorf("%s lacks %q", l.Tag, key)
			case !slices.Equal(slices.Compact(want), slices.Compact(got)) && !strings.HasSuffix(key, ".one"):
				t.Errorf("%s: %q has %v, in English %v", l.Tag, key, got, want)
			}
		}
	}
}

// TestTextsAreUsed finds texts that nothing shows.
func TestTextsAreUsed(t *testing.T) {
	var all strings.Builder
	for _, pattern := range []string{"layout.html", "pages/*.html"} {
		files, err := fs.Glob(sources, pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := sources.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	scripts := scriptTexts(t)
	for key := range newUI(t).languages[0].texts {
		base := strings.TrimSuffix(strings.TrimSuffix(key, ".one"), ".other")
		inScript := strings.Contains(key, ".js.") && strings.Contains(scripts, "'"+base+"'")
		inScript = inScript || strings.HasPrefix(key, planKey)
		inPage := strings.Contains(all.String(), `"`+key+`"`) || strings.HasSuffix(key, ".title") ||
			strings.HasSuffix(key, ".description")
		if !inScript && !inPage && key != "site.language" && key != "site.app" {
			t.Errorf("nothing shows %q", key)
		}
	}
}

// TestLanguageIsChosen covers the link, the cookie and the browser's wishes.
func TestLanguageIsChosen(t *testing.T) {
	u := newUI(t)
	page := u.Page("front", nil)
	for _, test := range []struct{ cookie, accept, want string }{
		{"", "", "en"},
		{"", "vo, tlh;q=0.5", "en"},
		{"", "zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"},
		{"", "zh-TW", "zh-CN"},
		{"", "en-GB,en;q=0.9,zh;q=0.8", "en"},
		{"", "vo;q=1, zh;q=0.3, en;q=0.2", "zh-CN"},
		{"", "zh;q=nonsense", "en"},
		{"zh-CN", "en", "zh-CN"},
		{"xx", "zh", "zh-CN"},
	} {
		headers := []string{"Accept-Language", test.accept}
		if test.cookie != "" {
			headers = append(headers, "Cookie", "lang="+test.cookie)
		}
		if body := get(page, "/", headers...).Body.String(); !strings.Contains(
			body, `<html lang="`+test.want+`">`,
		) {
			t.Errorf("%+v: %s", test, body[:60])
		}
	}
	for target, want := range map[string]string{
		"/?lang=zh-CN": "/", "/account?lang=zh-CN&tab=2": "/account?tab=2",
		"//evil.example/?lang=zh-CN": "/",
	} {
		w := get(page, target)
		if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != want ||
			!strings.HasPrefix(w.Header().Get("Set-Cookie"), "lang=zh-CN;") {
			t.Errorf("%s: %d to %q, %q", target, w.Code, to, w.Header())
		}
	}
	if w := get(page, "/?lang=xx"); w.Code != http.StatusOK || len(w.Result().Cookies()) > 0 {
		t.Errorf("an unknown language: %d %v", w.Code, w.Header())
	}
}

// TestPagesLoadOnlyWhatIsTheirs renders every page that needs no data, in every language.
func TestPagesLoadOnlyWhatIsTheirs(t *testing.T) {
	u := newUI(t)
	mux := http.NewServeMux()
	u.Mount(mux)
	inline := regexp.MustCompile(`(?i)<style|<script>| (style|on[a-z]+)=|https?:`)
	loaded := regexp.MustCompile(`(?:src|href)="(/[^"]*\.[^"]*)"`)
	for name := range u.pages {
		for _, l := range u.languages {
			w := get(u.Page(name, nil), "/", "Accept-Language", l.Tag)
			body := w.Body.String()
			if found := inline.FindString(body); found != "" {
				t.Errorf("%s has %q in it", name, found)
			}
			if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(
				policy, "default-src 'none'",
			) || strings.Contains(policy, "unsafe") {
				t.Errorf("%s: policy %q", name, policy)
			}
			for _, found := range loaded.FindAllStringSubmatch(body, -1) {
				if a := get(mux, found[1]); a.Code != http.StatusOK && found[1] != "/openapi.json" {
					t.Errorf("%s loads %s: %d", name, found[1], a.Code)
				}
			}
			again := get(u.Page(name, nil), "/", "Accept-Language", l.Tag, "If-None-Match",
				w.Header().Get("Etag"))
			if again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("%s asked again: %d", name, again.Code)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	u := newUI(t)
	mux := http.NewServeMux()
	u.Mount(mux)
	types := map[string]string{".js": "text/javascript; charset=utf-8", ".wasm": "application/wasm",
		".css": "text/css; charset=utf-8", ".svg": "image/svg+xml", ".webp": "image/webp",
		".png": "image/png", ".onnx": "application/octet-stream", "": ""}
	for _, source := range slices.Sorted(maps.Keys(u.manifest.Files)) {
		file := u.manifest.Files[source]
		if source == "pdfjs" {
			continue
		}
		plain, packed := get(mux, "/assets/"+file),
			get(mux, "/assets/"+file, "Accept-Encoding", "br, gzip;q=1.0")
		coding := "gzip"
		if large := path.Ext(file); large == ".onnx" ||
			large == ".wasm" && !isDecoder(source) {
			coding = "br"
		}
		if plain.Code != http.StatusOK || packed.Code != http.StatusOK ||
			plain.Header().Get("Content-Encoding") != "" ||
			packed.Header().Get("Content-Encoding") != coding {
			t.Errorf("%s: %d %v, %d %v", file, plain.Code, plain.Header(), packed.Code, packed.Header())
			continue
		}
		if content, err := unpacked(packed); err != nil ||
			string(content) != plain.Body.String() {
			t.Errorf("%s differs compressed: %v", file, err)
		}
		if h := plain.Header(); h.Get("Content-Type") != types[path.Ext(file)] ||
			!strings.Contains(h.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", file, h)
		}
	}
	worker := get(mux, "/assets/"+u.manifest.Files["pdfjs"]+"/build/pdf.worker.min.js")
	if worker.Code != http.StatusOK || !strings.Contains(
		worker.Header().Get("Content-Security-Policy"), "'wasm-unsafe-eval'",
	) {
		t.Errorf("the worker of pdf.js: %d %v", worker.Code, worker.Header())
	}
	for _, missing := range []string{"/assets/front-00000000.js", "/assets/manifest.json",
		"/assets/../webui.go", "/assets/"} {
		if w := get(mux, missing); w.Code == http.StatusOK ||
			strings.Contains(w.Header().Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %v", missing, w.Code, w.Header())
		}
	}
	if w := get(mux, "/sw.js"); w.Code != http.StatusOK ||
		w.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("the service worker: %d %v", w.Code, w.Header())
	}
}

func unpacked(w *httptest.ResponseRecorder) ([]byte, error) {
	return packed{w.Body.Bytes(), w.Header().Get("Content-Encoding")}.expand()
}

// TestDeviceLoadsLittle sums what a browser loads between choosing the device and the first page,
// also of one that has to be turned.
func TestDeviceLoadsLittle(t *testing.T) {
	u := newUI(t)
	mux := http.NewServeMux()
	u.Mount(mux)
	bytes, unpackedBytes := 0, 0
	for _, source := range []string{"engine.worker.js", "engine.wasm", "runtime.worker.js",
		"runtime.wasm", "segment.onnx", "overview.onnx", "judge.onnx", "orient.onnx"} {
		file := get(mux, "/assets/"+u.manifest.Files[source], "Accept-Encoding", "gzip, deflate, br")
		if file.Code != http.StatusOK {
			t.Fatalf("%s: %d", source, file.Code)
		}
		bytes += file.Body.Len()
		content, err := unpacked(file)
		if err != nil {
			t.Fatal(err)
		}
		if path.Ext(source) != ".js" && source != "orient.onnx" {
			unpackedBytes += len(content)
		}
		t.Logf("%s: %d bytes, %d unpacked", source, file.Body.Len(), len(content))
	}
	if bytes > 9_000_000 {
		t.Errorf("%d bytes are loaded before the first page", bytes)
	}
	if unpackedBytes != u.manifest.Engine.Bytes {
		t.Errorf("progress is told of %d bytes, of %d", u.manifest.Engine.Bytes, unpackedBytes)
	}
}

// TestWebManifest covers what a phone needs to install the pages.
func TestWebManifest(t *testing.T) {
	mux := http.NewServeMux()
	newUI(t).Mount(mux)
	w := get(mux, "/manifest.webmanifest", "Accept-Language", "zh-CN")
	var m struct {
		Lang, Name, Display string
		Icons               []struct{ Src, Sizes string }
		ShareTarget         struct{ Action string } `json:"share_target"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil {
		t.Fatal(err)
	}
	if m.Lang != "zh-CN" || m.Name == "" || m.Display != "standalone" ||
		m.ShareTarget.Action != "/share" || len(m.Icons) < 3 {
		t.Errorf("%s", w.Body)
	}
	for _, icon := range m.Icons {
		if get(mux, icon.Src).Code != http.StatusOK {
			t.Errorf("no icon %s", icon.Src)
		}
	}
}
func scriptTexts(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	err := filepath.WalkDir("src", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(file)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

// A page that cleans is kept apart from other sites, so that it may use threads, where nothing of
// them is in it; its policy stays as it is.
func TestCleaningPageIsIsolated(t *testing.T) {
	for _, c := range []struct {
		config   Config
		isolated bool
	}{{Config{Browser: BrowserOn}, true}, {Config{Browser: BrowserOnly}, true},
		{Config{Browser: BrowserOff}, false}, {Config{Browser: BrowserOn, Turnstile: true}, false}} {
		u, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		front, other := get(u.Page("front", nil), "/").Header(), get(u.Page("lost", nil), "/").Header()
		const opener, embedder = "Cross-Origin-Opener-Policy", "Cross-Origin-Embedder-Policy"
		isolated := front.Get(opener) == "same-origin" && front.Get(embedder) == "require-corp"
		if isolated != c.isolated || other.Get(opener)+other.Get(embedder) != "" {
			t.Errorf("%+v: %v, another page %v", c.config, front, other)
		}
		if strings.Contains(front.Get("Content-Security-Policy"), "wasm") {
			t.Errorf("%+v: the page itself may compile WebAssembly", c.config)
		}
	}
}
