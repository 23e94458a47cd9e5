package contract

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"unink/internal/browsertest"
	"unink/internal/pagetest"
)

// scribbled is a printed page with a wave in blue ink across its middle.
func scribbled(width, height int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{244, 242, 238, 255}), image.Point{}, draw.Src)
	pagetest.PrintText(m, image.Rect(16, 16, width-16, height/2-50), color.Gray{24})
	pagetest.PrintText(m, image.Rect(16, height/2+50, width-16, height-16), color.Gray{24})
	for x := float64(60); x < float64(width)-60; x += 0.25 {
		y := waveAt(height, x)
		draw.Draw(m, image.Rect(int(x)-2, int(y)-2, int(x)+2, int(y)+2),
			image.NewUniform(color.NRGBA{30, 60, 190, 255}), image.Point{}, draw.Src)
	}
	return m
}

func waveAt(height int, x float64) float64 { return float64(height)/2 + 24*math.Sin(x/18) }

// What is painted on a page that the engine has cleaned comes out in the download: the original's
// pixels where it was brought back, paper where it was erased, and everywhere else the result as it
// was.
func touchesUp(t *testing.T, _ *service, p *browsertest.Page) {
	const width, height = 480, 320
	original := scribbled(width, height)
	p.Toggle("[name=preserveColor][value=true]") // which leaves each pixel in its place
	p.Pick(p.File("a.png", encoded(original)))
	p.UntilLong(`states() == 'done'`)
	u := &toucher{t: t, p: p}
	result := u.saved()
	if before, after := bluePixels(original), bluePixels(result); before < 2000 || after > before/20 {
		t.Fatalf("of %d blue pixels %d are left", before, after)
	}

	// A dab in the middle, from the keyboard, brings the wave back.
	u.open()
	u.key(" ")
	radius := u.radius()
	middle := image.Pt(width/2, height/2)
	restored := u.saved()
	u.held("brought back", restored, result, func(x, y int) (inside, sure bool) {
		far := math.Hypot(float64(x-middle.X), float64(y-middle.Y))
		return far < radius+2, far < radius-2
	}, func(x, y int) color.NRGBA { return original.NRGBAAt(x, y) })
	if n := bluePixels(restored); n < 50 {
		t.Errorf("%d blue pixels came back", n)
	}

	// Undone, the download is the result; done again by the buttons, it is what it was.
	u.open()
	u.key("z", chromedp.ModifierCtrl)
	p.Is(`document.querySelector('#undo').disabled && !document.querySelector('#redo').disabled`,
		"true")
	p.Pressed("#redo")
	p.Is(`!document.querySelector('#undo').disabled && document.querySelector('#redo').disabled`,
		"true")
	p.Pressed("#undo")
	p.Pressed("#touch-done")
	if again := u.saved(); !bytes.Equal(again.Pix, result.Pix) {
		t.Error("undone, the download differs from the result")
	}

	// The mouse erases a row of print, and nothing else.
	u.open()
	u.key("e")
	p.Is(`document.querySelector('#brush-erase').getAttribute('aria-pressed')`, "true")
	const row, from, to = 48, 100, 300 // print is from 40 to 55
	p.Eval(fmt.Sprintf(`(() => { const touch = document.querySelector('#touch'), r = touch.getBoundingClientRect(), at = (type, x, y) => touch.dispatchEvent(new PointerEvent(type, { pointerId: 1, button: 0, clientX: r.x + x * r.width / %d, clientY: r.y + y * r.height / %d, bubbles: true }));
		touch.setPointerCapture = () => {};
		at('pointerdown', %d, %[5]d); at('pointermove', %[4]d, %[5]d); at('pointerup', %[4]d, %[5]d); })()`, width, height, from, to, row))
	erased := u.saved()
	dark := 0
	u.held("erased", erased, result, func(x, y int) (inside, sure bool) {
		far := math.Hypot(float64(x-min(max(x, from), to)), float64(y-row))
		if far < radius-2 && result.NRGBAAt(x, y).R < 100 {
			dark++
		}
		return far < radius+2, far < radius-2
	}, func(int, int) color.NRGBA { return original.NRGBAAt(0, 0) })
	if dark < 300 {
		t.Errorf("%d dark pixels were under the brush", dark)
	}
	p.GoTo("/")
	p.FrontReady()
	p.Until(`states() == 'done' && document.querySelector('.after').naturalWidth == 480`)
	if again := u.saved(); !bytes.Equal(again.Pix, erased.Pix) {
		t.Error("after a reload the strokes are others")
	}
}

// A tap takes all of what it falls on: a stroke that was removed comes back whole, and a letter
// goes whole, but not the line that it stands on. Beside them all stays, also after a reload.
func takesWholeStrokes(t *testing.T, _ *service, p *browsertest.Page) {
	const width, height = 480, 320
	original := scribbled(width, height)
	line := image.Rect(16, 31, 440, 33) // under the first line of print
	draw.Draw(original, line, image.NewUniform(color.NRGBA{24, 24, 24, 255}), image.Point{}, draw.Src)
	p.Toggle("[name=preserveColor][value=true]") // which leaves each pixel in its place
	p.Pick(p.File("a.png", encoded(original)))
	p.UntilLong(`states() == 'done'`)
	u := &toucher{t: t, p: p}
	result := u.saved()

	u.open()
	u.tap(image.Pt(width/2, int(waveAt(height, width/2))))
	back := u.saved()
	if before, after := bluePixels(original), bluePixels(back); after < before*19/20 {
		t.Errorf("of %d blue pixels %d came back", before, after)
	}
	u.held("brought back", back, result, func(x, y int) (inside, sure bool) {
		away := math.Abs(float64(y) - float64(height)/2)
		return away < 34 && x > 50 && x < width-50, isBlue(original, x, y)
	}, original.NRGBAAt)

	u.open()
	u.key("e")
	the := image.Rect(16, 18, 43, 31)  // the first word
	u.tap(image.Pt(width-8, height/2)) // on bare paper, where a tap is a dab
	u.tap(image.Pt(27, 25))
	gone := u.saved()
	if before, after := darkPixels(back, the), darkPixels(gone, the); after > before-15 || after < 15 {
		t.Errorf("of %d dark pixels of a word %d are left without a letter", before, after)
	}
	if before, after := darkPixels(back, line), darkPixels(gone, line); after < before*49/50 {
		t.Errorf("of %d dark pixels of the line %d are left", before, after)
	}
	u.held("erased", gone, back, func(x, y int) (inside, sure bool) {
		return image.Pt(x, y).In(the.Inset(-3)) || x > width-50, false
	}, nil)
	p.GoTo("/")
	p.FrontReady()
	p.Until(`states() == 'done' && document.querySelector('.after').naturalWidth == 480`)
	if again := u.saved(); !bytes.Equal(again.Pix, gone.Pix) {
		t.Error("after a reload the strokes are others")
	}

	// By keyboard, from the middle of the page: undone, and done again.
	u.open()
	u.key("zzz", chromedp.ModifierCtrl)
	u.key("b\r")
	if again := u.saved(); !bytes.Equal(again.Pix, back.Pix) {
		t.Error("by keyboard the stroke came back otherwise")
	}
}

// darkPixels counts a part's dark pixels.
func darkPixels(m *image.NRGBA, part image.Rectangle) (n int) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			if m.NRGBAAt(x, y).R < 128 {
				n++
			}
		}
	}
	return n
}

// Another page that is chosen amid touching up is shown as it is, and the strokes stay with the
// page that they were painted on.
func touchesUpAndLeaves(t *testing.T, _ *service, p *browsertest.Page) {
	p.Pick(p.File("a.png", picture(300, 200)), p.File("b.png", picture(480, 320)))
	p.UntilLong(`states() == 'done,done'`)
	const sizes = `['.before', '.after'].map((s) => document.querySelector(s).naturalWidth).join()`
	p.Until(sizes + ` == '300,300'`)
	u := &toucher{t: t, p: p}
	u.open()
	u.key("e ")
	p.Eval(
		`window.shown = [], new MutationObserver(() => shown.push(document.querySelector('.after').src)).observe(document.querySelector('.after'), { attributes: true }), ''`,
	)
	p.Press("Compare: b.png")
	p.Until(
		`document.querySelector('#result-title').textContent == 'b.png' && document.querySelector('#touch').hidden`,
	)
	p.Press("Download: a.png") // which waits until the strokes are kept
	p.Until(`document.querySelector('#status').textContent == ''`)
	p.Until(sizes + ` == '480,480'`)
	p.Is(`shown.length`, "1")

	p.Press("Compare: a.png")
	p.Until(sizes + ` == '300,300'`)
	u.open()
	p.Is(`document.querySelector('#undo').disabled`, "false") // its stroke is there

	p.Eval(
		`(() => { const touch = document.querySelector('#touch'), { left, top } = touch.getBoundingClientRect(); touch.dispatchEvent(new PointerEvent('pointermove', { pointerType: 'mouse', clientX: left + 50, clientY: top + 40, bubbles: true })); })()`,
	)
	p.Is(
		`(({ left, top, width }) => { const frame = document.querySelector('#touch').getBoundingClientRect(); return [left + width / 2 - frame.left, top + width / 2 - frame.top, width].map(Math.round).join(); })(document.querySelector('#ring').getBoundingClientRect())`, "50,40,28",
	)
	p.Do(chromedp.KeyEvent(kb.Escape))
	p.Until(
		`document.querySelector('#touch').hidden && document.querySelector('#ring').hidden && document.activeElement.id == 'touch-up'`,
	)
}

// A word that is erased by hand on a page of a PDF is no longer in its text, until that is undone.
func erasesWords(t *testing.T, _ *service, p *browsertest.Page) {
	p.Toggle("[name=preserveColor][value=true]") // which leaves each pixel in its place
	p.Pick(p.File("a.pdf", browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 100,
		Content: "BT /F 12 Tf 95 145 Td (of) Tj ET"})))
	p.UntilLong(`states() == 'done'`)
	text := func() string {
		_, data := p.Download("#actions .download")
		return p.ReadPDF(data).Pages[0].Text
	}
	if got := text(); got != "Page 1of" {
		t.Fatalf("the text is %q", got)
	}
	u := &toucher{t: t, p: p}
	u.open()
	p.Pressed("#brush-erase")
	u.key(" ") // in the middle
	if got := text(); got != "Page 1" {
		t.Errorf("once a word is erased, the text is %q", got)
	}
	u.open()
	u.key("z", chromedp.ModifierCtrl)
	if got := text(); got != "Page 1of" {
		t.Errorf("once it is brought back, the text is %q", got)
	}
}

// toucher paints on the page that is shown.
type toucher struct {
	t *testing.T
	p *browsertest.Page
}

func (u *toucher) open() {
	u.t.Helper()
	u.p.Pressed("#touch-up")
	u.p.Until(`!document.querySelector('#touch').hidden && document.activeElement.id == 'touch'`)
}

// tap taps on a place of the picture.
func (u *toucher) tap(at image.Point) {
	u.t.Helper()
	u.p.Eval(fmt.Sprintf(`(() => {
		const touch = document.querySelector('#touch'), r = touch.getBoundingClientRect();
		const clientX = r.x + (%d + 0.5) * r.width / touch.width;
		const clientY = r.y + (%d + 0.5) * r.height / touch.height;
		const tap = { pointerId: 1, button: 0, clientX, clientY, bubbles: true };
		touch.setPointerCapture = () => {};
		for (const type of ['pointerdown', 'pointerup']) touch.dispatchEvent(new PointerEvent(type, tap));
	})()`, at.X, at.Y))
}

func (u *toucher) key(keys string, modifiers ...chromedp.Modifier) {
	u.t.Helper()
	u.p.Do(chromedp.Focus(chromedp.CSS("#touch")))
	for _, k := range keys {
		u.p.Do(chromedp.KeyEvent(string(k), chromedp.KeyModifiers(modifiers...)))
	}
}

// radius is half the brush's width, in pixels of the picture.
func (u *toucher) radius() (r float64) {
	u.t.Helper()
	const width = `(({ width }) => document.querySelector('#brush-size').value * document.querySelector('#touch').width / width / 2)(document.querySelector('#touch').getBoundingClientRect())`
	if _, err := fmt.Sscan(u.p.Eval(width), &r); err != nil || r < 4 {
		u.t.Fatal(r, err)
	}
	return r
}

func (u *toucher) saved() *image.NRGBA {
	u.t.Helper()
	name, data := u.p.Download("#actions .download")
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil || name != "a.clean.png" {
		u.t.Fatal(name, err)
	}
	got := image.NewNRGBA(m.Bounds())
	draw.Draw(got, got.Rect, m, image.Point{}, draw.Src)
	return got
}

// held holds a download against the result without strokes: where the brush was surely, it has the
// brush's pixels, and where it surely was not, the result's, exactly.
func (u *toucher) held(what string, got, result *image.NRGBA,
	under func(x, y int) (inside, sure bool), brush func(x, y int) color.NRGBA) {
	u.t.Helper()
	for y := range result.Rect.Dy() {
		for x := range result.Rect.Dx() {
			inside, sure := under(x, y)
			c := got.NRGBAAt(x, y)
			switch {
			case !inside && c != result.NRGBAAt(x, y):
				u.t.Fatalf("%s: outside, %v at %d,%d was %v", what, c, x, y, result.NRGBAAt(x, y))
			case sure && !alike(c, brush(x, y)):
				u.t.Fatalf("%s: %v at %d,%d, want %v", what, c, x, y, brush(x, y))
			}
		}
	}
}

// alike allows for one step of rounding: what was removed is kept as a layer with eight bits of
// opacity.
func alike(a, b color.NRGBA) bool {
	near := func(a, b uint8) bool { return a-b <= 1 || b-a <= 1 }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B)
}
