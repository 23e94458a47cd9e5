package contract

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"unink/internal/browsertest"
)

// onDevice are flags of a service whose guests have nothing left to send.
var onDevice = []string{"--browser", "on", "--guest-credits", "0", "--pdf-guest-credits", "0"}

// gateway stands between a browser and a service. It keeps what is asked for, and lets through what
// it is told to.
type gateway struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	shut  func(path string) bool
}

func newGateway(t *testing.T, s *service) *gateway {
	t.Helper()
	target, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	g := &gateway{shut: nothing}
	forward := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Host = r.In.Host
		r.Out.Header["X-Forwarded-For"] = r.In.Header["X-Forwarded-For"]
	}}
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.asked = append(g.asked, r.Method+" "+r.URL.Path)
		shut := g.shut(r.URL.Path)
		g.mu.Unlock()
		if shut {
			panic(http.ErrAbortHandler) // the connection breaks off
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// close breaks off what is asked for from now on where that says so, and forgets what was.
func (g *gateway) close(what func(path string) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.asked = what, nil
}

// heard is what was asked for since, but for the service worker's script: browsers look for a newer
// one by themselves.
func (g *gateway) heard() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(g.asked), func(asked string) bool {
		return asked == "GET /sw.js"
	})
}

// window opens the front page through the gateway.
func (g *gateway) window(p *browsertest.Page) *browsertest.Page {
	u := strings.Replace(g.URL, "127.0.0.1", "localhost", 1)
	p = p.Window(u + "/healthz")
	arrive(p, "/")
	return p
}

func everything(string) bool { return true }

func nothing(string) bool { return false }

// keepsAll waits until all is kept that the page may load: what is needed for touching up is the
// last of it.
func keepsAll(p *browsertest.Page) {
	p.UntilLong(`window.all || (caches.keys().then(async (names) => {
		for (const name of names) {
			const kept = await (await caches.open(name)).keys();
			window.all ||= kept.some(({ url }) => url.includes('/touch-'));
		}
	}), false)`)
}

// A guest without any allowance cleans on the device. Once the engine is there, nothing is asked of
// the network, nor needed, not even to open the page again.
func cleansOnTheDevice(t *testing.T, s *service, p *browsertest.Page) {
	g := newGateway(t, s)
	p = g.window(p)
	p.Is(
		`document.querySelector('[name=where]:checked').value + !document.querySelector('#left').checkVisibility()`, "devicetrue",
	)
	p.Pick(p.File("first.png", picture(220, 120)))
	p.UntilLong(`states() == 'done'`)
	for _, asked := range g.heard() {
		if !strings.HasPrefix(asked, "GET ") || asked == "GET /api/bot-challenge" {
			t.Errorf("the page asked for %s", asked)
		}
	}

	keepsAll(p)
	g.close(everything)
	p.Pick(p.File("a.png", picture(240, 120)), p.File("b.png", picture(260, 120)))
	p.UntilLong(`states() == 'done,done,done'`)
	if asked := g.heard(); len(asked) > 0 {
		t.Errorf("while pages were worked on: %v", asked)
	}

	p.GoTo("/")
	p.FrontReady()
	p.Pick(p.File("c.heic", read(t, "../imagefile/testdata/plain.heic"))) // which no Chromium reads
	p.UntilLong(`states() == 'done,done,done,done'`)
	if name, data := p.Download("#actions .download"); !strings.HasPrefix(name, "first.clean.") ||
		len(data) == 0 {
		t.Errorf("downloaded %q of %d bytes", name, len(data))
	}
}

// Once a photo was cleaned on the device, all that the page can do is done without a network: what
// it needs for it is kept.
func doesAllWithoutNetwork(t *testing.T, s *service, p *browsertest.Page) {
	g := newGateway(t, s)
	p = g.window(p)
	p.Is(`document.querySelector('#private').textContent.includes('are loaded once')`, "true")
	p.Pick(p.File("photo.png", picture(220, 120)))
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('#private').textContent.includes('It is loaded')`, "true")
	keepsAll(p)
	g.close(everything)
	pickAll(p, p.File("two.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 100, Height: 100, Grey: 90},
		browsertest.PDFPage{Width: 120, Height: 100, Grey: 90})))
	p.UntilLong(`states() == 'done,done'`)
	if name, data := p.Download("#all-zip"); !strings.HasSuffix(name, ".zip") || len(data) == 0 {
		t.Errorf("the archive is %q of %d bytes", name, len(data))
	}
	if name, data := p.Download("#all-pdf"); sizesOf(p.ReadPDF(data).Pages) == "" {
		t.Errorf("the PDF is %q of %d bytes", name, len(data))
	}
	p.Pressed("#touch-up")
	p.Until(`!document.querySelector('#touch-tools').hidden`)
	p.Pressed("#touch-done")
	if asked := g.heard(); len(asked) > 0 {
		t.Errorf("without a network: %v", asked)
	}
}

// Without a network a PDF is cleaned page by page, and ten pictures.
func cleansManyOnTheDevice(t *testing.T, s *service, p *browsertest.Page) {
	g := newGateway(t, s)
	p = g.window(p)
	document := browsertest.PDF(browsertest.PDFPage{Width: 100, Height: 100, Grey: 90},
		browsertest.PDFPage{Width: 120, Height: 100, Grey: 90})
	p.Toggle("[name=preserveColor][value=true]") // which turns no page
	pickAll(p, p.File("first.pdf", document))
	p.UntilLong(`states() == 'done'`)
	_, _ = p.Download("li .download") // loads what puts a PDF together
	keepsAll(p)
	g.close(everything)
	p.Press("Remove: first.pdf")
	pickAll(p, p.File("second.pdf", document))
	p.UntilLong(`states() == 'done'`)
	if _, data := p.Download("li .download"); sizesOf(p.ReadPDF(data).Pages) != "100×100 120×100" {
		t.Errorf("pages of %s", sizesOf(p.ReadPDF(data).Pages))
	}
	p.Press("Remove: second.pdf")
	var files []string
	for i := range 10 {
		files = append(files, p.File(fmt.Sprintf("%d.png", i), picture(200+10*i, 120)))
	}
	p.Pick(files...)
	p.UntilLong(`states() == '` + strings.TrimSuffix(strings.Repeat("done,", 10), ",") + `'`)
	if asked := g.heard(); len(asked) > 0 {
		t.Errorf("while pages were worked on: %v", asked)
	}
}

// The device makes the same of a page as the program on a server, but for what the networks' eight
// bits are rounded to, and of a photograph what its browser's decoder rounds otherwise.
func isTheSameOnTheDevice(t *testing.T, s *service, p *browsertest.Page) {
	photo := read(t, "../../docs/before.jpg")
	m, _ := decoded(t, photo)
	page := encoded(m)
	p.Choose("[name=format]", "png")
	for _, c := range []struct {
		finish, name string
		data         []byte
		levels       int
	}{
		{"scan", "exam.png", page, 1}, {"colour", "exam.jpg", photo, 2},
		{"colour", "phone.heic", read(t, "../imagefile/testdata/plain.heic"), 0},
		{"colour", "scanner.tif", read(t, "../imagefile/testdata/jpeg.tif"), 0},
	} {
		source := p.File(c.name, c.data)
		p.Toggle(fmt.Sprintf("[name=preserveColor][value=%t]", c.finish == "colour"))
		p.Pick(source)
		p.UntilLong(`states() == 'done'`)
		_, here := p.Download("li .download")
		p.Press("Remove: " + c.name)
		p.Until(`!document.querySelector('#queue li')`)

		target := filepath.Join(t.TempDir(), "there.png")
		if out, err := s.command("clean", source, "-o", target, "--finish",
			c.finish).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		differ(t, c.name, here, read(t, target), c.levels)
	}
}

// differ fails where two pictures differ by more than so many grey levels in more than one pixel of
// 500. None should; the networks' eight bits are rounded otherwise by each kind of processor, and a
// pixel on the brink may go to the other side.
func differ(t *testing.T, name string, a, b []byte, levels int) {
	t.Helper()
	one, err := png.Decode(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	other, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if one.Bounds() != other.Bounds() {
		t.Fatalf("%s: %v on the device, %v on the server", name, one.Bounds(), other.Bounds())
	}
	most, pixels := 0, 0
	for y := range one.Bounds().Dy() {
		for x := range one.Bounds().Dx() {
			if d := apart(one.At(x, y), other.At(x, y)); d > levels {
				pixels++
				most = max(most, d)
			}
		}
	}
	all := one.Bounds().Dx() * one.Bounds().Dy()
	t.Logf("%s: %d of %d pixels differ by more than %d grey levels, by %d at most", name,
		pixels, all, levels, most)
	if 500*pixels > all {
		t.Errorf("%s: the device makes something else of the page", name)
	}
}

// apart is how far two colours are from each other, in grey levels.
func apart(a, b color.Color) (most int) {
	r, g, bl, _ := a.RGBA()
	r2, g2, bl2, _ := b.RGBA()
	for _, pair := range [][2]uint32{{r, r2}, {g, g2}, {bl, bl2}} {
		d := int(pair[0]>>8) - int(pair[1]>>8)
		most = max(most, d, -d)
	}
	return most
}

// What is worked on is stopped at once, and can be taken up again.
func stopsOnTheDevice(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", spacious(3000, 3000)), p.File("b.png", picture(220, 120)))
	p.UntilLong(`document.querySelector('.state').textContent == 'Telling handwriting from print…'`)
	p.Press("Cancel: a.png")
	p.UntilLong(`states() == 'cancelled,done'`)
	p.Pick(p.File("c.png", picture(240, 120)))
	p.UntilLong(`states() == 'cancelled,done,done'`)
}

// Where the engine cannot be loaded the page says so and sends nothing, until people choose the
// server.
func failsOnTheDevice(t *testing.T, s *service, p *browsertest.Page) {
	g := newGateway(t, s)
	g.close(func(path string) bool { return strings.HasSuffix(path, ".wasm") })
	p = g.window(p)
	logIn(p, s.newUser(t, 2))
	p.Pick(p.File("a.png", picture(220, 120)))
	p.UntilLong(
		`states() == 'failed' && document.querySelector('.state').textContent.startsWith('The engine could not be loaded. Nothing was uploaded.')`,
	)
	if asked := asksFor(p, "/api/process-image"); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
	p.Toggle("[name=where][value=server]")
	p.Until(`document.querySelector('#left span').textContent == '2 credits left, one for each page.'`)
	p.Press("Try again: a.png")
	p.UntilLong(`states() == 'done'`)
}

// A network that some pages alone need may not come while a page is worked on: the page says so,
// and is cleaned once it comes.
func lacksANetworkOnTheDevice(t *testing.T, s *service, p *browsertest.Page) {
	g := newGateway(t, s)
	g.close(func(path string) bool { return strings.Contains(path, "/orient-") })
	p = g.window(p)
	page, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	p.Toggle("[name=preserveColor][value=false]") // which turns pages
	p.Pick(p.File("a.jpg", page))
	p.UntilLong(`states() == 'failed' && document.querySelector('.state').textContent.startsWith('The engine could not be loaded.')`)
	g.close(nothing)
	p.Press("Try again: a.jpg")
	p.UntilLong(`states() == 'done'`)
}

// An operator can offer nothing but the device, whatever was chosen when there was a choice.
func hasOnlyTheDevice(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Eval(`localStorage.setItem('options', '{"where=device":false}')`)
	arrive(p, "/")
	p.Is(`[...document.querySelectorAll('[name=where]')].map(({ value }) => value).join()`, "device")
	p.Is(
		`document.querySelector('#private').checkVisibility() && !document.querySelector('#left').checkVisibility()`, "true",
	)
	p.Accessible()
}
