package contract

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink/internal/browsertest"
)

// A guest drops a photo, watches, compares and downloads it; the third page of the day is one too
// many.
func guestCleans(t *testing.T, _ *service, p *browsertest.Page) {
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	p.Is(`[...document.querySelectorAll('#who a:not([hidden])')].map((a) => a.pathname).join()`,
		"/log-in,/sign-up")
	p.Toggle("[name=preserveColor][value=true]") // where blue that is left would be seen
	p.Eval(
		`window.told = new Set(), new MutationObserver(() => { for (const { textContent } of document.querySelectorAll('#queue .state')) told.add(textContent); }).observe(document.querySelector('#queue'), { subtree: true, childList: true, characterData: true }), ''`,
	)
	p.Drop("exam.jpg", "image/jpeg", photo)
	p.UntilLong(`states() == 'done'`)
	p.Is(`/^Preparing…(,Uploading [^,]*)*,Cleaning…,Done, /.test([...told].join())`, "true")
	p.Until(`['.before', '.after'].every((s) => document.querySelector(s).naturalWidth == 1240)`)

	name, clean := p.Download("#actions .download")
	before, size := answer4(t, photo)
	after, cleanSize := answer4(t, clean)
	if name != "exam.clean.jpg" || size != cleanSize || before < 5000 || after > before/20 {
		t.Errorf("the last answer has %d blue pixels in the photo of %v, %d in %s of %v", before, size,
			after, name, cleanSize)
	}

	const left = `document.querySelector('#left span').textContent`
	p.Until(left + ` == 'Free today: 1 of 2 photos and 2 of 2 PDF pages left.'`)
	p.Is(`document.querySelector('#left a').pathname + document.querySelector('#left a').textContent`,
		"/sign-upA free account adds 5 pages.")
	p.Pick(p.File("second.png", []byte(page)))
	p.UntilLong(`states() == 'done,done'`)
	if _, err := chromedp.Call(p.Context, emulation.SetTimezoneOverride,
		emulation.SetTimezoneOverrideParams{TimezoneID: "Asia/Shanghai"}); err != nil {
		t.Fatal(err)
	}
	p.Look(390, 844, "light")
	p.Pick(p.File("third.png", []byte(page)), p.File("fourth.png", picture(220, 120)))
	p.UntilLong(`states() == 'done,done,out,out'`)
	p.Until(left + `.startsWith('Free today: 0 of 2 photos')`)
	p.Is(
		`/^Today's free pages are used up. There will be new ones on \w+day.* 8:00.AM. A free account adds 5 pages.$/.test(document.querySelectorAll('#queue .state')[2].textContent) || document.querySelectorAll('#queue .state')[2].textContent`, "true",
	)
	const ways = `[...document.querySelectorAll('[data-state=out] a')].filter((link) => link.checkVisibility()).map((link) => link.pathname).join()`
	p.Is(ways, "/sign-up,/log-in")
	p.Until(
		`(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelectorAll('#queue li')[2].getBoundingClientRect())`,
	)
	p.Accessible()
	p.Press("Cancel: fourth.png")
	p.Press("Try again: third.png")
	p.UntilLong(
		`states() == 'done,done,out,cancelled' && performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/process-image')).length == 4`,
	)
}

// answer4 counts the blue pixels where the photo's last answer is, in blue ink between black lines.
func answer4(t *testing.T, data []byte) (blue int, size image.Point) {
	t.Helper()
	m, size := decoded(t, data)
	for y := 1065; y < 1240; y++ {
		for x := 100; x < 1130; x++ {
			if isBlue(m, x, y) {
				blue++
			}
		}
	}
	return blue, size
}

func isBlue(m image.Image, x, y int) bool {
	r, _, b, _ := m.At(x, y).RGBA()
	return b > r+0x2000
}

// The slider between before and after moves by keys and by the mouse, and the last file's end shows
// the example again.
func compares(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("exam 1.png", picture(400, 300)))
	p.UntilLong(`states() == 'done'`)
	p.Until(`['.before', '.after'].every((s) => document.querySelector(s).naturalWidth == 400)`)
	p.Do(chromedp.Focus(chromedp.CSS("#split")), chromedp.KeyEvent(kb.ArrowLeft),
		chromedp.KeyEvent(kb.ArrowLeft))
	p.Is(
		`[split.value, split.getAttribute('aria-valuetext'), document.querySelector('.compare').style.getPropertyValue('--split')].join()`, "48,48 % before,48%",
	)
	p.Do(chromedp.KeyEvent(kb.Home))
	p.Is(`split.value`, "0")
	p.Eval(
		`document.querySelector('.compare').scrollIntoView({ behavior: 'instant', block: 'center' })`,
	)
	var x, y float64
	if _, err := fmt.Sscan(
		p.Eval(
			`(({ x, y, width, height }) => (x + width / 4) + ' ' + (y + height / 4))(document.querySelector('.compare').getBoundingClientRect())`,
		), &x, &y,
	); err != nil {
		panic(err)
	}
	p.Do(chromedp.MouseClickXY(x, y)) // a quarter of the way
	p.Is(`split.value > 22 && split.value < 28`, "true")

	p.Pick(p.File("b.png", picture(300, 200)))
	p.UntilLong(`states() == 'done,done'`)
	p.Is(`document.querySelector('#count').textContent`, "2 files, 2 done")
	p.Press("Compare: b.png")
	p.Until(
		`document.querySelector('#result-title').textContent == 'b.png' && document.querySelector('.after').naturalWidth == 300`,
	)
	p.Press("Remove: b.png")
	p.Until(
		`states() == 'done' && document.querySelector('#result-title').textContent == 'exam 1.png'`,
	)
	p.Pressed("#removed button") // takes it back
	p.Until(
		`states() == 'done,done' && document.querySelector('#queue li:last-child .name').textContent == 'b.png' && document.querySelector('#removed').hidden`,
	)
	p.GoTo("/")
	p.FrontReady()
	p.Is(`states()`, "done,done")
	p.Press("Remove: b.png")
	p.Until(`states() == 'done'`)
	p.Press("Remove: exam 1.png")
	p.Until(
		`document.querySelector('#queue').hidden && document.activeElement.id == 'files' && document.querySelector('.after').src.includes('/after-')`,
	)
}

// Of several files one is sent at a time; a waiting one and one under way are cancelled, and tried
// again all at once or alone.
func queues(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Eval(
		`window.most = 0, new MutationObserver(() => { most = Math.max(most, document.querySelectorAll('#queue [data-state=working]').length); }).observe(document.querySelector('#queue'), { subtree: true, attributes: true }), ''`,
	)
	large := spacious(3600, 3600)
	p.Pick(p.File("a.png", large), p.File("b.png", picture(220, 120)),
		p.File("c.png", picture(240, 120)))
	p.UntilLong(
		`states() == 'working,waiting,waiting' && document.querySelector('.state').textContent == 'Cleaning…'`,
	)
	p.Press("Cancel: b.png")
	p.Press("Cancel: a.png")
	p.UntilLong(`states() == 'cancelled,cancelled,done'`)
	p.Press("Try again: b.png")
	p.UntilLong(`states() == 'cancelled,done,done'`)
	p.Press("Compare: b.png")
	p.Until(
		`document.querySelector('#result-title').textContent == 'b.png' && document.querySelector('.after').naturalWidth == 220`,
	)
	p.Is(`most`, "1")
}

// What cannot be cleaned is told before anything is sent.
func isRefusedAtOnce(t *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("small.png", encoded(drawn(15, 40, false))),
		p.File("text.jpg", []byte("not a picture at all")), p.File(
			"a.pdf", []byte("%PDF-1.7 and so on"),
		), p.File("empty.png", nil))
	p.Until(`states() == 'refused,refused,refused,refused'`)
	for i, want := range []string{"16 pixels", "JPEG, PNG", "PDF", "empty"} {
		if got := p.Eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`,
			i)); !strings.Contains(got, want) {
			t.Errorf("file %d: %q", i, got)
		}
	}
	if asked := append(asksFor(p, "/api/process-image"),
		asksFor(p, "/api/bot-challenge")...); len(asked) > 0 {
		t.Errorf("asked for %v", asked)
	}
}

// Of a picture that cannot be read people are told what to do, not what a decoder said.
func isDamaged(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", []byte(page)[:len(page)/2]))
	p.UntilLong(`states() == 'failed'`)
	p.Is(`document.querySelector('.state').textContent`,
		"This picture is damaged or blank. Try saving or taking it again.")
}

// plain is a picture of a size whose pixels are one colour: a browser measures it.
func plain(width, height int) []byte {
	return encoded(image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White}))
}

// A picture of too many bytes or pixels is made smaller by itself, and the row says so.
func makesSmaller(t *testing.T, _ *service, p *browsertest.Page) {
	// what follows a PNG's end counts for nothing
	p.Pick(p.File("large.png", append(picture(400, 300), make([]byte, 5<<20)...)),
		p.File("wide.png", plain(10_000, 5_001)))
	p.UntilLong(`states() == 'done,failed'`) // the second is blank
	p.Is(
		`/ The photo was made smaller before sending.$/.test(document.querySelector('.state').textContent)`, "true",
	)
	name, data := p.Download("li .download")
	if _, size := decoded(t, data); !strings.HasPrefix(name, "large.clean.") ||
		size != image.Pt(400, 300) || len(data) > 100_000 {
		t.Errorf("downloaded %q of %v with %d bytes", name, size, len(data))
	}
}

func dropsAndPastes(t *testing.T, _ *service, p *browsertest.Page) {
	data, err := json.Marshal([]byte(page)) // Base64
	if err != nil {
		t.Fatal(err)
	}
	p.Eval(`window.held = (name) => {
		const transfer = new DataTransfer();
		transfer.items.add(new File([Uint8Array.from(atob(` + string(data) + `), (c) => c.charCodeAt(0))], name, { type: 'image/png' }));
		return transfer;
	}; ''`)
	p.Is(
		`!document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer: held('x'), bubbles: true, cancelable: true })) && document.body.classList.contains('dropping')`, "true",
	)
	p.Eval(
		`document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: held('dropped.png'), bubbles: true, cancelable: true })); ''`,
	)
	p.UntilLong(`states() == 'done' && !document.body.classList.contains('dropping')`)
	p.Eval(
		`document.body.dispatchEvent(new ClipboardEvent('paste', { clipboardData: held('image.png'), bubbles: true })); ''`,
	)
	p.UntilLong(`states() == 'done,done'`)
}

// Nothing is wider than a small phone, what is touched is large enough, and there is its camera.
func isNarrow(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Look(360, 740, "light")
	p.Pick(p.File(strings.Repeat("a long name ", 12)+".png", picture(300, 420)))
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.documentElement.scrollWidth <= 360`, "true")
	p.Is(`document.querySelector('header.site').offsetHeight < 80`, "true") // one line
	p.Is(`getComputedStyle(document.querySelector('#queue ul')).overflowY`, "visible")
	p.Is(
		`[...document.querySelectorAll('button, a, label')].filter((e) => e.offsetHeight && e.offsetHeight < 24).length`, "0",
	)
	p.Is(
		`document.querySelector('.camera').offsetHeight > 0 && camera.getAttribute('capture') == 'environment'`, "true",
	)
}

// The switches are sent, do what they say, and stay as they are after a reload.
func choosesOptions(t *testing.T, _ *service, p *browsertest.Page) {
	const sent = `Object.entries(window.sent).filter(([name]) => /^(preserveColor|keep|remove|output)/.test(name)).map((pair) => pair.join('=')).join()`
	const watch = `XMLHttpRequest.prototype.send = new Proxy(XMLHttpRequest.prototype.send, { apply(send, request, [form]) { window.sent = Object.fromEntries(form.entries()); return send.call(request, form); } }), ''`
	p.Eval(watch)
	written := encoded(scribbled(480, 320))
	p.Pick(p.File("a.png", written))
	p.UntilLong(`states() == 'done'`)
	p.Is(sent, "preserveColor=false,keepOrientation=false,keepDistortion=false")
	p.Pressed("#options summary")
	for _, selector := range []string{"[name=preserveColor][value=true]", "[value=blue]",
		"[value=black]", "[name=keepOrientation]", "[name=keepDistortion]"} {
		p.Toggle("#options " + selector)
	}
	p.Do(chromedp.Focus(chromedp.CSS("#options select")), chromedp.KeyEvent("J")) // JPEG
	p.GoTo("/")
	p.FrontReady()
	p.Is(`states()`, "done")
	p.Eval(watch)
	p.Pick(p.File("b.png", written))
	p.UntilLong(`states() == 'done,done'`)
	p.Is(sent,
		"preserveColor=true,keepOrientation=true,keepDistortion=true,"+
			"remove=red,green,pencil,output_format=jpeg")
	p.Press("Compare: b.png")
	name, data := p.Download("#actions .download")
	m, _ := decoded(t, data)
	if before, after := bluePixels(scribbled(480, 320)),
		bluePixels(m); name != "b.clean.jpg" || after < before*8/10 {
		t.Errorf("of %d blue pixels, which are to stay, %s has %d", before, name, after)
	}
	p.Pressed("#options summary")
	p.Toggle("#options [value=blue]")
	p.Pick(p.File("c.png", written))
	p.UntilLong(`states() == 'done,done,done'`)
	p.Press("Compare: c.png")
	_, data = p.Download("#actions .download")
	if m, _ = decoded(t, data); bluePixels(m) > bluePixels(scribbled(480, 320))/20 {
		t.Errorf("%d blue pixels are left", bluePixels(m))
	}

	for _, ink := range []string{"blue", "red", "green", "pencil"} { // the last one stays
		p.Toggle("#options [value=" + ink + "]")
	}
	p.Is(
		`[...document.querySelectorAll('[name=ink]:checked')].map((ink) => ink.value).join() + document.querySelector('#status').textContent`, "pencilChoose at least one ink.",
	)
	seen(p)
}

func bluePixels(m image.Image) (n int) {
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if isBlue(m, x, y) {
				n++
			}
		}
	}
	return n
}

// Everything is saved as one ZIP, where no name comes twice, and as one PDF.
func savesTogether(t *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", picture(120, 160)),
		p.File("b.pdf", browsertest.PDF(browsertest.PDFPage{Width: 100, Height: 200, Grey: 90},
			browsertest.PDFPage{Width: 300, Height: 200, Grey: 80})))
	p.UntilLong(`states() == 'done,done'`)
	p.Pick(p.File("a.png", picture(180, 120)), p.File("broken.pdf", []byte("%PDF-1.7")))
	p.UntilLong(`states() == 'done,done,done,refused'`)
	name, data := p.Download("#all-zip")
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || name != "unink.zip" {
		t.Fatal(name, err)
	}
	content := map[string]image.Point{}
	for _, f := range archive.File {
		part, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		config, _, _ := image.DecodeConfig(part) // of the PDF there is none
		content[f.Name] = image.Pt(config.Width, config.Height)
		_ = part.Close()
	}
	if _, has := content["b.clean.pdf"]; len(content) != 3 ||
		content["a.clean.png"] != image.Pt(120, 160) ||
		content["a 2.clean.png"] != image.Pt(180, 120) || !has {
		t.Errorf("the ZIP has %v", content)
	}
	name, data = p.Download("#all-pdf")
	pages := p.ReadPDF(data).Pages
	if got := sizesOf(pages); name != "unink.pdf" || got != "595×794 100×200 300×200 595×397" ||
		pages[1].Text+pages[2].Text != "Page 1Page 2" {
		t.Errorf("%s has pages of %s: %+v", name, got, pages)
	}
	p.Pressed("#all-remove")
	p.Until(`document.querySelector('#sure').open && document.activeElement.value == 'no'`)
	p.Accessible()
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(`!document.querySelector('#sure').open && states() == 'done,done,done,refused'`)
	p.Pressed("#all-remove")
	p.Pressed("#all-gone")
	p.Until(`document.querySelector('#queue').hidden && document.activeElement.id == 'files'`)
}

// Files that are chosen together keep their order through a reload, in which they are saved too; it
// is changed by keys and by dragging.
func keepsTheOrder(t *testing.T, _ *service, p *browsertest.Page) {
	const order = `[...document.querySelectorAll('#queue .name')].map((name) => name.textContent).join()`
	var files []string
	for i, name := range []string{"01", "02", "03", "12", "21"} {
		files = append(files, p.File(name+".png", picture(100+20*i, 100)))
	}
	p.Pick(files...)
	p.UntilLong(`states() == 'done,done,done,done,done'`)
	reload := func() {
		t.Helper()
		p.GoTo("/")
		p.FrontReady()
	}
	reload()
	p.Is(order, "01.png,02.png,03.png,12.png,21.png")

	p.Do(chromedp.Focus(chromedp.CSS("[aria-label='Move: 21.png']")), chromedp.KeyEvent(kb.ArrowUp),
		chromedp.KeyEvent(kb.ArrowUp))
	p.Is(
		order+` + ' ' + document.activeElement.ariaLabel + ' ' + document.querySelector('#status').textContent`, "01.png,02.png,21.png,03.png,12.png Move: 21.png 21.png is now 3 of 5.",
	)
	p.Eval(`(() => { const rows = document.querySelectorAll('#queue li'), handle = rows[0].querySelector('.move'), y = (i) => { const { top, height } = rows[i].getBoundingClientRect(); return top + height * 0.6; };
		handle.setPointerCapture = () => {};
		const send = (type, clientY = 0) => handle.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientY, bubbles: true }));
		send('pointerdown', y(0)); send('pointermove', y(1)); send('lostpointercapture'); })()`)
	p.Is(order, "02.png,01.png,21.png,03.png,12.png")
	reload()
	p.Is(order, "02.png,01.png,21.png,03.png,12.png")
	_, data := p.Download("#all-zip")
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range archive.File {
		names = append(names, strings.TrimSuffix(f.Name, ".clean.png"))
	}
	if got := strings.Join(names, ","); got != "02,01,21,03,12" {
		t.Errorf("the ZIP has %s", got)
	}
	p.Pick(p.File("last.png", picture(100, 100)))
	p.UntilLong(`states() == 'done,done,done,done,done,done'`)
	reload()
	p.Is(order, "02.png,01.png,21.png,03.png,12.png,last.png")

	// as soon as that: what is done in the moment before a reload lasts, too
	p.Eval(`window.before = true, document.querySelector("[aria-label='Remove: last.png']").click(), document.querySelector('#removed button').click(),
		document.querySelector("[aria-label='Move: 12.png']").dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp' })), location.reload()`)
	p.Arrives(`!window.before && document.body.classList.contains('ready')`)
	p.Is(order, "02.png,01.png,21.png,12.png,03.png,last.png")
}

// Of what was cleaned with other options than are chosen now, cleaning again is offered, and costs
// nothing. Thumbnails show the result, and on a desktop a page's progress is seen without
// scrolling.
func cleansAgain(t *testing.T, s *service, p *browsertest.Page) {
	p.Look(1280, 800, "light")
	u := s.newUser(t, 3)
	logIn(p, u)
	const blue = `(() => { const canvas = document.createElement('canvas'), pen = canvas.getContext('2d'), thumb = document.querySelector('.thumb'); canvas.width = 480; canvas.height = 320; pen.drawImage(thumb, 0, 0);
		const { data } = pen.getImageData(0, 0, 480, 320); let n = 0; for (let i = 0; i < data.length; i += 4) if (data[i + 2] > data[i] + 32) n++; return n; })()`
	p.Pick(p.File("a.png", encoded(scribbled(480, 320))))
	p.Until(
		`document.querySelector('#queue li')?.getBoundingClientRect().bottom <= innerHeight && scrollY == 0`,
	)
	p.UntilLong(`states() == 'done' && document.querySelector('.thumb').naturalWidth == 480`)
	p.Until(blue + ` < 200`)
	p.Is(`document.querySelector('#again').hidden`, "true")
	_, scan := p.Download("#actions .download")

	p.Toggle("[name=preserveColor][value=true]")
	p.Until(`document.querySelector('#again').checkVisibility()`)
	p.Press("Clean again: a.png")
	p.UntilLong(`states() == 'done' && document.querySelector('#again').hidden`)
	_, colour := p.Download("#actions .download")
	if bytes.Equal(scan, colour) {
		t.Error("the result is the same")
	}
	p.Toggle("[name=preserveColor][value=false]")
	p.Pressed("#again button")
	p.UntilLong(`states() == 'done' && document.querySelector('#again').hidden`)
	if l := s.ledger(t, u.id); l.sum() != 2 {
		t.Errorf("a page cleaned three times leaves %d of 3 credits", l.sum())
	}
}

// A result is handed to other apps where the browser can.
func handsOn(t *testing.T, _ *service, p *browsertest.Page) {
	const stand = `navigator.canShare = ({ files }) => files.length == 1; navigator.share = async ({ files: [file] }) => { window.shared = file.name + ' ' + file.type; };`
	if _, err := chromedp.Call(p.Context, cdppage.AddScriptToEvaluateOnNewDocument,
		cdppage.AddScriptToEvaluateOnNewDocumentParams{Source: stand}); err != nil {
		t.Fatal(err)
	}
	p.Is(`document.querySelector('#share').hidden`, "true")
	p.GoTo("/")
	p.FrontReady()
	p.Pick(p.File("a.png", picture(300, 200)))
	p.UntilLong(`states() == 'done'`)
	p.Pressed("#share")
	p.Until(`window.shared == 'a.clean.png image/png'`)
}

// sizesOf lists pages' sizes in points.
func sizesOf(pages []browsertest.ReadPage) string {
	var sizes []string
	for _, page := range pages {
		sizes = append(sizes, fmt.Sprintf("%.0f×%.0f", page.Width, page.Height))
	}
	return strings.Join(sizes, " ")
}

// A result is saved as PNG, JPEG or PDF.
func savesInFormats(t *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", []byte(page)))
	p.UntilLong(`states() == 'done'`)
	for format, head := range map[string]string{
		"png": "\x89PNG", "jpeg": "\xff\xd8\xff", "pdf": "%PDF-",
	} {
		p.Choose("[name=format]", format)
		if name, data := p.Download("#actions .download"); !strings.HasPrefix(string(data), head) ||
			!strings.HasPrefix(name, "a.clean.") {
			t.Errorf("as %s: %q, %.8q", format, name, data)
		}
	}
}

// Both pictures are zoomed and moved as one, by keys, buttons, wheel and fingers.
func zooms(t *testing.T, _ *service, p *browsertest.Page) {
	p.Do(chromedp.EmulateViewport(1280, 900, chromedp.EmulateTouch))
	p.Pick(p.File("a.png", picture(600, 400)))
	p.UntilLong(
		`states() == 'done' && document.querySelector('.after').naturalWidth == 600 && document.querySelector('.before').naturalWidth == 600`,
	)
	p.Eval(
		`window.seen = () => ['.after', '.before'].map((s) => { const r = document.querySelector(s).getBoundingClientRect(), f = document.querySelector('.compare').getBoundingClientRect(); return [r.x - f.x, r.y - f.y, r.width / (f.width - 2)].map((n) => Math.round(n * 10) / 10).join(); }); ''`,
	)
	same := func(what string) string {
		t.Helper()
		pair := strings.Fields(p.Eval(`seen().join(' ')`))
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
	p.Do(chromedp.Focus(chromedp.CSS("#split")),
		chromedp.KeyEvent(kb.ArrowRight, chromedp.KeyModifiers(chromedp.ModifierShift)))
	if got := same("moved by a key"); got == before {
		t.Error("Shift and an arrow key have not moved the page")
	}
	p.Is(`split.value`, "50")
	p.Do(chromedp.KeyEvent("0"))
	if got := same("shown whole"); got != start {
		t.Errorf("shown whole at %s, first at %s", got, start)
	}
	p.Eval(
		`(() => { const f = document.querySelector('.compare'), r = f.getBoundingClientRect(); f.dispatchEvent(new WheelEvent('wheel', { deltaY: -100, ctrlKey: true, clientX: r.x + r.width / 2, clientY: r.y + r.height / 2, bubbles: true, cancelable: true })); })()`,
	)
	if got := same("wheel"); !strings.HasSuffix(got, ",2.7") {
		t.Errorf("the wheel zoomed to %s", got)
	}
	p.Is(
		`document.querySelector('.compare').dispatchEvent(new WheelEvent('wheel', { deltaY: 1e6, ctrlKey: true, cancelable: true }))`, "false",
	)
	same("back")
	p.Eval(`(() => { const f = document.querySelector('.compare'), r = f.getBoundingClientRect();
		const touch = (type, id, x) => split.dispatchEvent(new PointerEvent(type, { pointerId: id, pointerType: 'touch', clientX: r.x + r.width / 2 + x, clientY: r.y + r.height / 2, bubbles: true }));
		touch('pointerdown', 1, -20); touch('pointerdown', 2, 20); touch('pointermove', 2, 60); touch('pointermove', 1, -60); touch('pointerup', 1, -60); touch('pointerup', 2, 60); })()`)
	if got := same("pinch"); !strings.HasSuffix(got, ",3") {
		t.Errorf("two fingers zoomed to %s", got)
	}
}

// seen wants the last message to be seen, within the window.
func seen(p *browsertest.Page) {
	p.Is(`(() => {
		const { top, bottom, width, height } = document.querySelector('#status').getBoundingClientRect();
		return top > 0 && bottom <= innerHeight && width > 50 && height > 30;
	})()`, "true")
}

// Where nothing is found that is said, and what can be done about it is offered.
func findsNothing(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("print.png", encoded(drawn(400, 500, true))))
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('.state').textContent`, "No handwriting was found.")
	p.Accessible()
	p.Press("Try the other look: print.png")
	p.UntilLong(`states() == 'done' && document.querySelector('[name=preserveColor][value=true]').checked`)
	p.Is(`document.querySelector('[data-do=again]').hidden`, "true")
	p.Press("Paint over it: print.png")
	p.Until(`!document.querySelector('#touch-tools').hidden`)
}

// Who has no page at hand tries the one that is shown; what is done with a page is in view then,
// without scrolling, and of what is offered only that is loud.
func triesTheSample(_ *testing.T, _ *service, p *browsertest.Page) {
	p.Look(1280, 800, "light")
	p.Pressed("#sample")
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('#queue .name').textContent + document.querySelector('#sample').offsetHeight`,
		"Sample.webp0")
	p.Is(`['#actions .download', '#touch-up'].filter((s) => document.querySelector(s).getBoundingClientRect().bottom > 800).join()`, "")
	p.Is(`[...document.querySelectorAll('main button.primary')].filter((b) => b.offsetHeight > 0).length`, "1")
}

func copiesAndPrints(t *testing.T, _ *service, p *browsertest.Page) {
	p.Eval(
		`navigator.clipboard.write = async ([item]) => { const picture = await createImageBitmap(await item.getType('image/png')); window.copied = [picture.width, picture.height].join(); }, window.print = () => { window.printed = document.querySelectorAll('#sheets img').length; dispatchEvent(new Event('afterprint')); }, ''`,
	)
	p.Pick(p.File("a.png", []byte(page)))
	p.UntilLong(`states() == 'done'`)
	p.Pressed("#copy")
	p.Until(`window.copied == '200,120' && document.querySelector('#status').textContent == 'Copied.'`)
	seen(p)
	p.Pressed("#print")
	p.Until(`window.printed == 1 && document.querySelectorAll('#sheets img').length == 0`)
	if _, err := chromedp.Call(p.Context, emulation.SetEmulatedMedia,
		emulation.SetEmulatedMediaParams{Media: "print"}); err != nil {
		t.Fatal(err)
	}
	p.Is(
		`['header.site', '.work', '#result', 'footer.site'].filter((s) => document.querySelector(s).offsetHeight > 0).length`, "0",
	)
}

// A second tab has a queue of its own; that of a closed one is taken over.
func hasTwoTabs(_ *testing.T, s *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", []byte(page)))
	p.UntilLong(`states() == 'done'`)
	second := p.Tab()
	second.Do(chromedp.Navigate(s.origin()))
	second.FrontReady()
	second.Is(`states()`, "")
	second.Pick(second.File("b.png", []byte(page)))
	second.UntilLong(`states() == 'done'`)
	p.GoTo("/")
	p.FrontReady()
	p.Is(`states() + document.querySelector('#queue .name').textContent`, "donea.png")
	p.Eval(`sessionStorage.clear(), ''`)
	p.Do(chromedp.Navigate("about:blank"))
	second.Do(chromedp.Navigate("about:blank"))
	p.Do(chromedp.Navigate(s.origin()))
	p.FrontReady()
	p.Is(`states()`, "done")
}

// What another app shares is in the queue when the page opens.
func shares(t *testing.T, _ *service, p *browsertest.Page) {
	p.Until(`!!navigator.serviceWorker.controller`)
	data, err := json.Marshal([]byte(page))
	if err != nil {
		t.Fatal(err)
	}
	p.Eval(`(async () => {
		const form = new FormData();
		form.append('files', new File([Uint8Array.from(atob(` + string(data) + `), (c) => c.charCodeAt(0))], 'gallery é.png', { type: 'image/png' }));
		window.answer = (await fetch('/share', { method: 'POST', body: form })).url;
	})(), ''`)
	p.Until(`window.answer?.endsWith('/?shared')`)
	p.GoTo("/?shared")
	p.FrontReady()
	p.UntilLong(
		`states() == 'done' && document.querySelector('#queue .name').textContent == 'gallery é.png' && location.search == ''`,
	)
}

// What the first visit loads is small.
func isLight(t *testing.T, _ *service, p *browsertest.Page) {
	p.Until(`!!navigator.serviceWorker.controller`)
	n, err := strconv.Atoi(
		p.Eval(`performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)`),
	)
	if err != nil || n < 10_000 || n > 150_000 {
		t.Errorf("the first page takes %d bytes, %v", n, err)
	}
	for _, address := range p.Asked() {
		if regexp.MustCompile(`/assets/.*(pdf|assemble|client-zip|touch-)`).MatchString(address) {
			t.Errorf("it loads %s", address)
		}
	}
}

// turned is a page turned clockwise about its middle, on white.
func turned(m image.Image, degrees float64) image.Image {
	size := m.Bounds().Size()
	out := image.NewRGBA(m.Bounds())
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	for y := range size.Y {
		for x := range size.X {
			dx, dy := float64(x-size.X/2), float64(y-size.Y/2)
			u, v := math.Round(cos*dx+sin*dy), math.Round(cos*dy-sin*dx)
			from := image.Pt(size.X/2+int(u), size.Y/2+int(v))
			out.Set(x, y, color.White)
			if from.In(out.Rect) {
				out.Set(x, y, m.At(from.X, from.Y))
			}
		}
	}
	return out
}

// A page that was photographed upside down and askew is compared as its result lies, and on demand
// with the photo as it came. Where nothing was turned or straightened there is no such switch.
func comparesAlike(t *testing.T, _ *service, p *browsertest.Page) {
	page, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	m, size := decoded(t, page)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, turned(m, 184), nil); err != nil {
		t.Fatal(err)
	}
	// The share of the result's print that is dark before as well; no number until both are there.
	const alike = `(() => {
		const [before, after] = ['.before', '.after'].map((s) => document.querySelector(s));
		const there = ({ complete, naturalWidth }) => complete && naturalWidth;
		if (!there(before) || !there(after)) return NaN;
		const { naturalWidth: width, naturalHeight: height } = after;
		const [was, is] = [before, after].map((picture) => {
			const pen = new OffscreenCanvas(width, height).getContext('2d');
			pen.drawImage(picture, 0, 0, width, height);
			return pen.getImageData(0, 0, width, height).data;
		});
		let dark = 0, same = 0;
		for (let i = 0; i < is.length; i += 4) if (is[i] < 60) { dark++; if (was[i] < 160) same++; }
		return same / dark;
	})()`
	const shown = `document.querySelector('#came').checkVisibility()`
	p.Pick(p.File("straight.png", picture(300, 200)), p.File("askew.jpg", photo.Bytes()))
	p.UntilLong(`states() == 'done,done'`)
	p.Until(`document.querySelector('.before').naturalWidth == 300`)
	p.Is(shown, "false")
	p.Press("Compare: askew.jpg")
	p.Until(shown + ` && ` + alike + ` > 0.95`)
	p.Accessible()
	came := fmt.Sprintf(`document.querySelector('.before').naturalWidth == %d`, size.X)
	p.Toggle("#as-it-came")
	p.Until(came + ` && ` + alike + ` < 0.5`)
	p.GoTo("/")
	p.FrontReady()
	p.Press("Compare: askew.jpg")
	p.Until(shown + ` && ` + alike + ` > 0.95`)
}
