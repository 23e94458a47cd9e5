package httpapi

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	wire "github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink"
	"unink/internal/browsertest"
	"unink/internal/credit"
	"unink/internal/limit"
)

// TestFrontPage uses what the front page can do besides sending one page after another.
func TestFrontPage(t *testing.T) {
	chromium := browsertest.Start(t)
	for name, test := range map[string]func(*testing.T, context.Context){
		"options":      testOptions,
		"pdf":          testPDF,
		"odd pdfs":     testOddPDFs,
		"guest's pdf":  testGuestPDF,
		"together":     testTogether,
		"formats":      testFormats,
		"zoom":         testZoom,
		"copy, print":  testCopyAndPrint,
		"touch-up":     testTouchUp,
		"reload":       testReload,
		"cut upload":   testCutUpload,
		"restart":      testRestart,
		"two tabs":     testTwoTabs,
		"shared":       testShared,
		"accessible":   testAccessible,
		"light weight": testLightWeight,
		"who":          testWho,
	} {
		t.Run(name, func(t *testing.T) { test(t, chromium) })
	}
}

// greyOf is the paper's grey of a page, in percent, and its size in pixels.
func greyOf(t *testing.T, data []byte) (grey int, size image.Point) {
	t.Helper()
	img, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Error(err)
		return 0, size
	}
	size = img.Bounds().Size()
	r, _, _, _ := img.At(size.X/2, size.Y/3).RGBA()
	return int(r>>8) * 100 / 255, size
}

// maskOf is a grey PNG, black or white.
func maskOf(t *testing.T, size image.Point, white bool) []byte {
	t.Helper()
	img := image.NewGray(image.Rectangle{Max: size})
	if white {
		draw.Draw(img, image.Rect(0, 0, 4, 4), image.White, image.Point{}, draw.Src)
	}
	return encodePNG(t, img)
}

func encodePNG(t testing.TB, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func near(a, b float64) bool { return a-b < 0.6 && b-a < 0.6 }

// The switches reach the service, and stay as they are after a reload.
func testOptions(t *testing.T, chromium context.Context) {
	seen := make(chan unink.Options, 2)
	s := start(t, &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (*unink.Result, error) {
		seen <- o
		return echo(data, o)
	}})
	p := openFront(t, chromium, s.url)
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'done'`)
	if got, want := <-seen, (unink.Options{Layers: true}); got != want {
		t.Errorf("as it is: %+v", got)
	}
	p.Pressed("#options summary")
	for _, selector := range []string{"[value=black]", "[value=pencil]", "[name=keepOrientation]", "[name=keepDistortion]"} {
		p.Do(chromedp.Focus(chromedp.CSS("#options "+selector)), chromedp.KeyEvent(" "))
	}
	p.Do(chromedp.Focus(chromedp.CSS("#options select")), chromedp.KeyEvent("P")) // PNG
	p.Do(chromedp.Navigate(s.url))
	p.FrontReady()
	p.Is(`states()`, "done")
	p.Pick(p.File("b.png", picture(t, 41, 30)))
	p.Until(`states() == 'done,done'`)
	want := unink.Options{Layers: true, KeepOrientation: true, KeepDistortion: true, Format: unink.PNG, Remove: unink.Blue | unink.Red | unink.Green}
	if got := <-seen; got != want {
		t.Errorf("cleaned with %+v, want %+v", got, want)
	}
	p.Pressed("#options summary")
	for _, ink := range []string{"blue", "red", "green"} { // the last one stays
		p.Do(chromedp.Focus(chromedp.CSS("#options [value="+ink+"]")), chromedp.KeyEvent(" "))
	}
	p.Is(`[...document.querySelectorAll('[name=ink]:checked')].map((ink) => ink.value).join() + document.querySelector('#status').textContent`, "greenChoose at least one ink.")
}

// A PDF of 30 pages by somebody who is logged in: limits are met and waited out, and it comes out as it went in.
func testPDF(t *testing.T, chromium context.Context) {
	const count = 30
	s := withAccounts(t)
	s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 12, Every: 8 * time.Second}}
	var mu sync.Mutex
	var order []int
	var limited atomic.Int32
	s.cleaner = &fakeCleaner{clean: func(_ context.Context, data []byte, o unink.Options) (*unink.Result, error) {
		grey, size := greyOf(t, data)
		mu.Lock()
		order = append(order, grey)
		mu.Unlock()
		if o.Format != unink.JPEG {
			t.Errorf("a page of a PDF is asked for as %v", o.Format)
		}
		r := &unink.Result{Data: data, Format: unink.JPEG, Width: size.X, Height: size.Y}
		r.Handwriting, r.Mask = maskOf(t, image.Pt(8, 8), false), maskOf(t, image.Pt(8, 8), len(order)%3 != 0)
		return r, nil
	}}
	owner := s.userWith(count + 5)
	p := openFront(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler().ServeHTTP(&statusWriter{w, func(status int) {
			if status == http.StatusTooManyRequests {
				limited.Add(1)
			}
		}}, r)
	})))
	logIn(p)
	p.Until(`document.querySelector('#who .credits').textContent == '35 credits' && document.querySelector('#who .guest').hidden`)
	var pages []browsertest.PDFPage
	for i := range count {
		page := browsertest.PDFPage{Width: 200 + 3*i, Height: 300 - 2*i, Grey: 95 - 2*i}
		if i == 7 {
			page.Turned = 90
		}
		pages = append(pages, page)
	}
	p.Pressed("#options summary")
	p.Do(chromedp.Focus(chromedp.CSS("[name=keepUnwritten]")), chromedp.KeyEvent(" "))
	p.Pick(p.File("exam.pdf", browsertest.PDF(pages...)))
	p.Until(`states() == 'pausing' && /Page 13 of 30: Too many pages in a minute. Goes on in [1-8] s./.test(document.querySelector('.state').textContent)`)
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('.state').textContent`, "Done, 30 pages")
	p.Until(`document.querySelector('#who .credits').textContent == '5 credits'`)
	s.left(owner, 5)
	if n := limited.Load(); n < 1 || n > 4 {
		t.Errorf("the limit was met %d times", n)
	}
	for i, grey := range order {
		if grey < pages[i].Grey-2 || grey > pages[i].Grey+2 {
			t.Errorf("page %d was sent with grey %d, not %d", i+1, grey, pages[i].Grey)
		}
	}

	p.Until(`document.querySelector('#page-number').textContent == '1 / 30' && document.querySelector('#page-before').disabled`)
	p.Pressed("#page-after")
	p.Until(`document.querySelector('#page-number').textContent == '2 / 30' && document.querySelector('.after').naturalWidth == 564`) // 203 points at 200 dpi
	name, made := p.Download("li .download")
	if name != "exam.clean.pdf" {
		t.Errorf("downloaded %q", name)
	}
	got := p.ReadPDF(made)
	if len(got) != count {
		t.Fatalf("%d pages came out", len(got))
	}
	for i, page := range got {
		width, height := float64(pages[i].Width), float64(pages[i].Height)
		if pages[i].Turned == 90 {
			width, height = height, width
		}
		unwritten := (i+1)%3 == 0
		if !near(page.Width, width) || !near(page.Height, height) || page.Original != unwritten || page.Grey < pages[i].Grey-2 || page.Grey > pages[i].Grey+2 {
			t.Errorf("page %d is %+v, of %+v, unwritten %v", i+1, page, pages[i], unwritten)
		}
	}
}

// What is wrong with a PDF is told apart.
func testOddPDFs(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	sound := browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 100})
	locked := bytes.Replace(sound, []byte("trailer << "), []byte("trailer << /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <"+strings.Repeat("ab", 32)+"> /U <"+strings.Repeat("cd", 32)+"> >> "), 1)
	p.Pick(p.File("locked.pdf", locked), p.File("broken.pdf", []byte("%PDF-1.7 and so on")), p.File("late.pdf", append([]byte("\n\n"), sound...)))
	p.Until(`states() == 'refused,refused,done'`)
	for i, want := range []string{"password", "damaged"} {
		if got := p.Eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`, i)); !strings.Contains(got, want) {
			t.Errorf("PDF %d: %q", i, got)
		}
	}
}

// A guest's pages of a PDF need no proof of work, and stop at their own allowance.
func testGuestPDF(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	page := browsertest.PDFPage{Width: 100, Height: 100, Grey: 90}
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Pick(p.File("a.pdf", browsertest.PDF(page, page, page)))
	p.Until(`!notice.hidden && document.querySelector('.state').textContent == 'Page 3 of 3: Waiting'`)
	for _, url := range p.Asked() {
		if strings.Contains(url, "/api/bot-challenge") {
			t.Error("a proof of work was asked for")
		}
	}
	p.Press("Cancel: a.pdf")
	p.Until(`states() == 'cancelled' && document.querySelector('.state').textContent.startsWith('2 of 3 pages done.')`)
}

// Everything as one ZIP, where no name comes twice, and as one PDF.
func testTogether(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	one, two := picture(t, 60, 80), picture(t, 90, 60)
	p.Pick(p.File("a.png", one), p.File("b.pdf", browsertest.PDF(browsertest.PDFPage{Width: 100, Height: 200, Grey: 90}, browsertest.PDFPage{Width: 300, Height: 200, Grey: 80})))
	p.Until(`states() == 'done,done'`)
	p.Pick(p.File("a.png", two), p.File("broken.pdf", []byte("%PDF-1.7")))
	p.Until(`states() == 'done,done,done,refused'`)
	name, data := p.Download("#all-zip")
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || name != "unink.zip" {
		t.Fatal(name, err)
	}
	content := map[string]int{}
	for _, f := range archive.File {
		content[f.Name] = int(f.UncompressedSize64)
	}
	if len(content) != 3 || content["a.clean.png"] != len(one) || content["a 2.clean.png"] != len(two) || content["b.clean.pdf"] == 0 {
		t.Errorf("the ZIP has %v of %d and %d", content, len(one), len(two))
	}
	name, data = p.Download("#all-pdf")
	var sizes []string
	for _, page := range p.ReadPDF(data) {
		sizes = append(sizes, fmt.Sprintf("%.0f×%.0f", page.Width, page.Height))
	}
	if got := strings.Join(sizes, " "); name != "unink.pdf" || got != "595×794 100×200 300×200 595×397" {
		t.Errorf("%s has pages of %s", name, got)
	}
	p.Pressed("#all-remove")
	p.Until(`document.querySelector('#queue').hidden && document.activeElement.id == 'files'`)
}

// A result is saved as PNG, JPEG or PDF.
func testFormats(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	p.Pick(p.File("a.png", picture(t, 60, 80)))
	p.Until(`states() == 'done'`)
	for format, head := range map[string]string{"png": "\x89PNG", "jpeg": "\xff\xd8\xff", "pdf": "%PDF-"} {
		p.Eval(`(() => { const select = document.querySelector('[name=format]'); select.value = '` + format + `'; select.dispatchEvent(new Event('change', { bubbles: true })); })()`)
		if name, data := p.Download("#actions .download"); !strings.HasPrefix(string(data), head) || !strings.HasPrefix(name, "a.clean.") {
			t.Errorf("as %s: %q, %.8q", format, name, data)
		}
	}
}

// Both pictures are zoomed and moved as one, by keys, buttons, wheel and fingers.
func testZoom(t *testing.T, chromium context.Context) {
	p := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	p.Do(chromedp.EmulateViewport(1280, 900, chromedp.EmulateTouch))
	p.Pick(p.File("a.png", picture(t, 600, 400)))
	p.Until(`states() == 'done' && document.querySelector('.after').naturalWidth == 600 && document.querySelector('.before').naturalWidth == 600`)
	p.Eval(`window.seen = () => ['.after', '.before'].map((s) => { const r = document.querySelector(s).getBoundingClientRect(), f = document.querySelector('.compare').getBoundingClientRect(); return [r.x - f.x, r.y - f.y, r.width / (f.width - 2)].map((n) => Math.round(n * 10) / 10).join(); }); ''`)
	same := func(what string) string {
		t.Helper()
		pair := strings.Fields(strings.ReplaceAll(p.Eval(`seen().join(' ')`), ";", " "))
		if len(pair) != 2 || pair[0] != pair[1] {
			t.Errorf("%s: the pictures lie at %v", what, pair)
		}
		return pair[0]
	}
	start := same("at first")
	p.Pressed("#zoom-in")
	p.Pressed("#zoom-in")
	if got := same("buttons"); got == start || !strings.HasSuffix(got, ",1.6") {
		t.Errorf("zoomed in to %s", got)
	}
	p.Is(`document.querySelector('#zoom-level').textContent`, "156 %")
	before := same("before the keys")
	p.Do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if got := same("moved by a key"); got == before {
		t.Error("Shift and an arrow key have not moved the page")
	}
	p.Is(`split.value`, "50")
	p.Do(chromedp.KeyEvent("0"))
	if got := same("shown whole"); got != start {
		t.Errorf("shown whole at %s, first at %s", got, start)
	}
	p.Eval(`(() => { const f = document.querySelector('.compare'), r = f.getBoundingClientRect(); f.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, ctrlKey: true, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, bubbles: true, cancelable: true })); })()`)
	if got := same("wheel"); !strings.HasSuffix(got, ",2.7") {
		t.Errorf("the wheel zoomed to %s", got)
	}
	p.Is(`document.querySelector('.compare').dispatchEvent(new WheelEvent('wheel', { deltaY: 1e6, ctrlKey: true, cancelable: true }))`, "false")
	same("back")
	p.Eval(`(() => { const f = document.querySelector('.compare'), r = f.getBoundingClientRect();
		const touch = (type, id, x) => split.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch', clientX: r.x + r.width / 2 + x, clientY: r.y + r.height / 2, bubbles: true }));
		touch('pointerdown', 1, -20); touch('pointerdown', 2, 20); touch('pointermove', 2, 60); touch('pointermove', 1, -60); touch('pointerup', 1, -60); touch('pointerup', 2, 60); })()`)
	if got := same("pinch"); !strings.HasSuffix(got, ",3") {
		t.Errorf("two fingers zoomed to %s", got)
	}
}

func testCopyAndPrint(t *testing.T, chromium context.Context) {
	s := start(t, &fakeCleaner{})
	p := openFront(t, chromium, s.url)
	p.Eval(`navigator.clipboard.write = async ([item]) => { window.copied = await (await item.getType('image/png')).arrayBuffer(); }, window.print = () => { window.printed = document.querySelectorAll('#sheets img').length; dispatchEvent(new Event('afterprint')); }, ''`)
	data := picture(t, 60, 80)
	p.Pick(p.File("a.png", data))
	p.Until(`states() == 'done'`)
	p.Pressed("#copy")
	p.Until(fmt.Sprintf(`window.copied?.byteLength == %d && document.querySelector('#status').textContent == 'Copied.'`, len(data)))
	p.Pressed("#print")
	p.Until(`window.printed == 1 && document.querySelectorAll('#sheets img').length == 0`)
	if _, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	p.Is(`['header.site', '.work', '#result', 'footer.site'].filter((s) => document.querySelector(s).offsetHeight > 0).length`, "0")
}

// What is painted comes out in the download, exactly, and nothing else changes.
func testTouchUp(t *testing.T, chromium context.Context) {
	const width, height = 200, 120
	paper, ink := color.NRGBA{240, 236, 230, 255}, color.NRGBA{20, 40, 160, 255}
	result := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(result, result.Rect, image.NewUniform(paper), image.Point{}, draw.Src)
	draw.Draw(result, image.Rect(150, 50, 160, 60), image.Black, image.Point{}, draw.Src) // print that is left
	handwriting := image.NewNRGBA(result.Rect)
	draw.Draw(handwriting, image.Rect(92, 52, 108, 68), image.NewUniform(ink), image.Point{}, draw.Src)
	s := start(t, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (*unink.Result, error) {
		return &unink.Result{
			Data: encodePNG(t, result), Format: unink.PNG, Width: width, Height: height,
			Handwriting: encodePNG(t, handwriting), Mask: maskOf(t, image.Pt(width, height), true),
		}, nil
	}})
	p := openFront(t, chromium, s.url)
	p.Pick(p.File("a.png", picture(t, width, height)))
	p.Until(`states() == 'done'`)
	saved := func() *image.NRGBA {
		t.Helper()
		_, data := p.Download("#actions .download")
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		got := image.NewNRGBA(img.Bounds())
		draw.Draw(got, got.Rect, img, image.Point{}, draw.Src)
		return got
	}
	open := func() {
		t.Helper()
		p.Pressed("#touch-up")
		p.Until(`!document.querySelector('#touch').hidden && document.activeElement.id == 'touch'`)
	}
	key := func(keys string, modifiers ...chromedp.Modifier) {
		t.Helper()
		p.Do(chromedp.Focus(chromedp.CSS("#touch")))
		for _, k := range keys {
			p.Do(chromedp.KeyEvent(string(k), chromedp.KeyModifiers(modifiers...)))
		}
	}
	// compare says where a picture differs from the result, and checks the colours there.
	compare := func(what string, got *image.NRGBA, colour func(x, y int) color.NRGBA, inside image.Rectangle) {
		t.Helper()
		changed := image.Rectangle{}
		for y := range height {
			for x := range width {
				if c := got.NRGBAAt(x, y); !alike(c, result.NRGBAAt(x, y)) {
					changed = changed.Union(image.Rect(x, y, x+1, y+1))
					if want := colour(x, y); c != want && image.Pt(x, y).In(inside) {
						t.Errorf("%s: %v at %d,%d, want %v", what, c, x, y, want)
						return
					}
				}
			}
		}
		if changed.Empty() || !changed.In(inside.Inset(-1)) {
			t.Errorf("%s: changed %v, inside %v", what, changed, inside)
		}
	}

	// A dab in the middle brings the handwriting back; the page is shown at its own size, so that the brush has 28 pixels.
	open()
	key(" ")
	compare("brought back", saved(), func(int, int) color.NRGBA { return ink }, image.Rect(92, 52, 108, 68))
	open()
	key("z", chromedp.ModifierCtrl)
	p.Pressed("#touch-done")
	if got := saved(); !bytes.Equal(got.Pix, result.Pix) {
		t.Error("undone, the download differs from the result")
	}
	open()
	p.Is(`document.querySelector('#undo').disabled && document.querySelector('#redo').disabled`, "true")
	key(" ")
	p.Pressed("#undo")
	p.Is(`document.querySelector('#undo').disabled && !document.querySelector('#redo').disabled`, "true")
	p.Pressed("#redo")
	p.Is(`!document.querySelector('#undo').disabled && document.querySelector('#redo').disabled`, "true")
	key("z", chromedp.ModifierCtrl)

	// The mouse erases the print that is left.
	key("e")
	p.Is(`document.querySelector('#brush-erase').getAttribute('aria-pressed')`, "true")
	p.Eval(`(() => { const r = document.querySelector('#touch').getBoundingClientRect(), at = (type, x, y) => document.querySelector('#touch').dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: r.x + x * r.width / 200, clientY: r.y + y * r.height / 120, bubbles: true }));
		document.querySelector('#touch').setPointerCapture = () => {};
		at('pointerdown', 145, 55); at('pointermove', 165, 55); at('pointerup', 165, 55); })()`)
	got := saved()
	compare("erased", got, func(int, int) color.NRGBA { return paper }, image.Rect(150, 50, 160, 60))
	for y := 50; y < 60; y++ {
		for x := 150; x < 160; x++ {
			if got.NRGBAAt(x, y) != paper {
				t.Fatalf("print is left at %d,%d: %v", x, y, got.NRGBAAt(x, y))
			}
		}
	}
	p.Do(chromedp.Navigate(s.url))
	p.FrontReady()
	p.Until(`states() == 'done' && document.querySelector('.after').naturalWidth == 200`)
	if again := saved(); !bytes.Equal(again.Pix, got.Pix) {
		t.Error("after a reload the strokes are others")
	}
}

// alike allows for what rounding does at the edge of a brush.
func alike(a, b color.NRGBA) bool {
	near := func(a, b uint8) bool { return a-b <= 1 || b-a <= 1 }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B)
}

// After a reload the queue goes on: what is done is not sent again, what was under way is charged once.
func testReload(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 100, Every: time.Minute}}
	var sent atomic.Int32
	hold := make(chan struct{})
	s.cleaner = &fakeCleaner{clean: func(ctx context.Context, data []byte, o unink.Options) (*unink.Result, error) {
		if sent.Add(1) == 2 {
			select {
			case <-hold:
			case <-ctx.Done():
				return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Message: "stopped", Err: ctx.Err()}
			}
		}
		return echo(data, o)
	}}
	owner := s.userWith(10)
	url := serveTo(t, s.Handler())
	p := openFront(t, chromium, url)
	logIn(p)
	page := browsertest.PDFPage{Width: 100, Height: 100, Grey: 90}
	p.Pick(p.File("a.pdf", browsertest.PDF(page, page, page)), p.File("b.png", picture(t, 50, 50)))
	p.Until(`/Page 2 of 3: Cleaning/.test(document.querySelector('.state').textContent)`)
	p.Do(chromedp.Navigate(url))
	p.FrontReady()
	p.Until(`states() == 'done,done'`)
	if n := sent.Load(); n != 5 { // the second page twice
		t.Errorf("%d pages were sent", n)
	}
	s.left(owner, 6)
	p.Is(`document.querySelector('#result-title').textContent`, "a.pdf")
	p.Press("Remove: a.pdf")
	p.Eval(`indexedDB.open('unink').onsuccess = ({ target }) => { target.result.transaction('jobs').objectStore('jobs').count().onsuccess = ({ target }) => { window.stored = target.result; }; }, ''`)
	p.Until(`window.stored == 1`)
	p.Do(chromedp.Navigate(url))
	p.FrontReady()
	p.Is(`states() + document.querySelector('#result-title').textContent`, "doneb.png")
}

// The answer is lost after the page was charged: sent again, it is not charged again.
func testCutUpload(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	owner := s.userWith(10)
	var cut atomic.Int32
	p := openFront(t, chromium, serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/process-image" || cut.Add(1) > 2 {
			s.Handler().ServeHTTP(w, r)
			return
		}
		if cut.Load() == 1 { // in the middle of the upload
			_, _ = r.Body.Read(make([]byte, 100))
		} else { // when all is done
			s.Handler().ServeHTTP(discard{http.Header{}}, r)
		}
		panic(http.ErrAbortHandler)
	})))
	logIn(p)
	p.Pick(p.File("a.png", append(picture(t, 40, 30), make([]byte, 4<<20)...)))
	for range 2 { // the browser itself sends again what is cut on a connection that it has used before
		p.Until(`states() == 'done' || states() == 'pausing'`)
		if p.Eval(`states()`) == "pausing" {
			p.Press("Try now: a.png")
			p.Until(`states() != 'pausing'`)
		}
	}
	p.Until(`states() == 'done'`)
	s.left(owner, 9)
	if n := cut.Load(); n != 3 {
		t.Errorf("%d requests, one cut while it was sent, one when it was done, and a third", n)
	}
}

// The server is gone for a while: the page opens from what is kept, waits, and goes on when it is back.
func testRestart(t *testing.T, chromium context.Context) {
	s := start(t, &fakeCleaner{})
	var down atomic.Bool
	url := serveTo(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			panic(http.ErrAbortHandler)
		}
		s.Handler().ServeHTTP(w, r)
	}))
	p := openFront(t, chromium, url)
	p.Until(`!!navigator.serviceWorker.controller`)
	down.Store(true)
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'pausing'`)
	p.Do(chromedp.Navigate(url)) // from what is kept
	p.FrontReady()
	p.Until(`states() == 'pausing'`)
	down.Store(false)
	p.Press("Try now: a.png")
	p.Until(`states() == 'done'`)
}

// A second tab has a queue of its own; that of a closed one is taken over.
func testTwoTabs(t *testing.T, chromium context.Context) {
	url := start(t, &fakeCleaner{}).url
	p := openFront(t, chromium, url)
	p.Pick(p.File("a.png", picture(t, 40, 30)))
	p.Until(`states() == 'done'`)
	second := p.Tab()
	second.Do(chromedp.Navigate(url))
	second.FrontReady()
	second.Is(`states()`, "")
	second.Pick(second.File("b.png", picture(t, 40, 30)))
	second.Until(`states() == 'done'`)
	p.Do(chromedp.Navigate(url))
	p.FrontReady()
	p.Is(`states() + document.querySelector('#queue .name').textContent`, "donea.png")
	p.Eval(`sessionStorage.clear(), ''`)
	p.Do(chromedp.Navigate("about:blank"))
	second.Do(chromedp.Navigate("about:blank"))
	p.Do(chromedp.Navigate(url))
	p.FrontReady()
	p.Is(`states()`, "done")
}

// What another app shares is in the queue when the page opens.
func testShared(t *testing.T, chromium context.Context) {
	s := start(t, &fakeCleaner{})
	p := openFront(t, chromium, s.url)
	p.Until(`!!navigator.serviceWorker.controller`)
	data, err := json.Marshal(picture(t, 40, 30))
	if err != nil {
		t.Fatal(err)
	}
	p.Eval(`(async () => {
		const form = new FormData();
		form.append('files', new File([Uint8Array.from(atob(` + string(data) + `), (c) => c.charCodeAt(0))], 'gallery é.png', { type: 'image/png' }));
		window.answer = (await fetch('/share', { method: 'POST', body: form })).url;
	})(), ''`)
	p.Until(`window.answer?.endsWith('/?shared')`)
	p.Do(chromedp.Navigate(s.url + "/?shared"))
	p.FrontReady()
	p.Until(`states() == 'done' && document.querySelector('#queue .name').textContent == 'gallery é.png' && location.search == ''`)
}

// Every state of the page, in both languages, light and dark, holds against axe-core.
func testAccessible(t *testing.T, chromium context.Context) {
	s := withAccounts(t)
	s.cfg.Windows = []limit.Window{{Name: "minute", Limit: 2, Every: time.Minute}}
	url := serveTo(t, s.Handler())
	for _, look := range []struct {
		language, scheme string
		width            int64
	}{{"en", "light", 1280}, {"zh-CN", "dark", 390}} {
		p := openFront(t, chromium, url+"/?lang="+look.language)
		p.Look(look.width, 844, look.scheme)
		p.Is(`document.documentElement.lang`, look.language)
		p.Accessible()
		p.Pressed("#options summary")
		p.Pick(p.File("a.png", picture(t, 400, 300)), p.File("b.txt", []byte("no")), p.File("c.png", picture(t, 400, 300)), p.File("d.png", picture(t, 400, 300)))
		p.Until(`/^(done|failed|pausing),refused,(done|failed|pausing|waiting),(pausing|waiting)$/.test(states())`)
		p.Accessible()
		if look.language == "en" { // the others of the day are used up
			p.Pressed("#touch-up")
			p.Until(`!document.querySelector('#touch').hidden`)
			p.Accessible()
		}
		p.Is(`document.documentElement.scrollWidth <= innerWidth`, "true")
	}
}

// What the first visit loads is small.
func testLightWeight(t *testing.T, chromium context.Context) {
	url := serveTo(t, withAccounts(t).Handler())
	p := browsertest.Open(t, chromium, url+"/healthz")
	var bytes atomic.Int64
	if err := chromedp.Listen(p.Context, func(event any) {
		if e, ok := event.(*wire.EventLoadingFinished); ok {
			bytes.Add(int64(e.EncodedDataLength))
		}
	}); err != nil {
		t.Fatal(err)
	}
	p.Do(chromedp.Navigate(url))
	p.FrontReady()
	p.Until(`!!navigator.serviceWorker.controller`)
	if n := bytes.Load(); n < 10_000 || n > 150_000 {
		t.Errorf("the first page takes %d bytes", n)
	}
	for _, url := range p.Asked() {
		if regexp.MustCompile(`pdf|client-zip|touch-`).MatchString(url) {
			t.Errorf("it loads %s", url)
		}
	}
}

// TestFrontPageWithEngine cleans a page with the networks, and brings back what they removed.
func TestFrontPageWithEngine(t *testing.T) {
	engine, err := unink.New(unink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	p := openFront(t, browsertest.Start(t), start(t, engine).url)
	p.Do(chromedp.Focus(chromedp.CSS("[name=preserveColor][value=true]")), chromedp.KeyEvent(" "))
	p.Pick(p.File("before.jpg", photo))
	p.UntilLong(`states() == 'done'`)
	sum := func(data []byte) (sum int) {
		t.Helper()
		img, _, err := image.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, _ := img.At(x, y).RGBA()
				sum += int(r+g+b) >> 8
			}
		}
		return sum
	}
	_, clean := p.Download("#actions .download")
	p.Pressed("#touch-up")
	p.Until(`!document.querySelector('#touch').hidden`)
	p.Eval(`Object.assign(document.querySelector('#brush-size'), { max: 5000 }).value = 5000, ''`)
	p.Do(chromedp.Focus(chromedp.CSS("#touch")), chromedp.KeyEvent(" "))
	_, restored := p.Download("#actions .download")
	before, after, again := sum(photo), sum(clean), sum(restored)
	if after <= before || again >= after || again-before > (after-before)/5 {
		t.Errorf("the photo's pixels sum up to %d, %d when it is clean, %d when all is brought back", before, after, again)
	}
}

// A mistyped address shows a page to people, and an error to programs.
func TestNothingHere(t *testing.T) {
	s := start(t, &fakeCleaner{})
	r := request(t, http.MethodGet, s.url+"/nothing", nil)
	r.Header.Set("Accept", "text/html,*/*;q=0.8")
	r.Header.Set("Accept-Language", "zh")
	if a := s.do(r); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "页面不存在") {
		t.Errorf("to people: %d %.200s", a.status, a.body)
	}
	if a := s.get("/nothing"); a.status != http.StatusNotFound || !strings.Contains(string(a.body), "NOT_FOUND") {
		t.Errorf("to programs: %d %.200s", a.status, a.body)
	}
}

// The header says who is logged in.
func testWho(t *testing.T, chromium context.Context) {
	open := openFront(t, chromium, start(t, &fakeCleaner{}).url)
	open.Is(`document.querySelector('#who')`, "null")
	s := withAccounts(t)
	p := openFront(t, chromium, serveTo(t, s.Handler()))
	p.Is(`[...document.querySelectorAll('#who a:not([hidden])')].map((a) => a.pathname).join()`, "/log-in,/sign-up")
	s.userWith(1)
	logIn(p)
	p.Until(`[...document.querySelectorAll('#who a:not([hidden])')].map((a) => a.innerText).join() == 'Account 1 credit'`)
}

// statusWriter tells the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	told func(int)
}

func (w *statusWriter) WriteHeader(status int) {
	w.told(status)
	w.ResponseWriter.WriteHeader(status)
}

func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// discard takes an answer that nobody gets.
type discard struct{ header http.Header }

func (d discard) Header() http.Header            { return d.header }
func (discard) Write(b []byte) (int, error)      { return len(b), nil }
func (discard) WriteHeader(int)                  {}
func (discard) SetReadDeadline(time.Time) error  { return nil }
func (discard) SetWriteDeadline(time.Time) error { return nil }

const pia = "pia@example.com"

// userWith makes the account of [pia] with credits, and returns who owns them.
func (s *accountServer) userWith(credits int) (owner string) {
	s.t.Helper()
	session := s.member(pia, "")
	var me struct{ UserID string }
	s.read(s.is(http.StatusOK, "GET", "/api/me", session, nil), &me)
	owner = userOwner(me.UserID)
	has, err := s.services.Credits.Balance(s.t.Context(), owner)
	if err == nil {
		_, _, err = s.services.Credits.Grant(s.t.Context(), credit.Grant{Owner: owner, Plan: "test", Credits: credits - has, Expires: time.Now().Add(time.Hour), Source: "test"})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return owner
}

// left holds what an owner has left against what it should be; the last page is settled after its answer.
func (s *accountServer) left(owner string, want int) {
	s.t.Helper()
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		got, err := s.services.Credits.Balance(s.t.Context(), owner)
		if err != nil {
			s.t.Fatal(err)
		}
		if got == want {
			return
		}
		if time.Now().After(deadline) {
			s.t.Errorf("%d credits are left, want %d", got, want)
			return
		}
	}
}

// logIn logs [pia] in, who comes to the front page.
func logIn(p *browsertest.Page) {
	p.LogIn(pia, passwordOfAll)
	p.FrontReady()
}
