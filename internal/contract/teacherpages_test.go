package contract

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unink/internal/browsertest"
)

// Of a PDF somebody sees the pages before anything is sent, picks some, and looks through those
// that came back; what is saved says which pages it has, and they keep their labels.
func picksPages(t *testing.T, _ *service, p *browsertest.Page) {
	var pages []browsertest.PDFPage
	for i := range 5 {
		pages = append(pages, browsertest.PDFPage{Width: 120 + 10*i, Height: 160, Grey: 100 - 15*i})
	}
	p.Toggle("[name=preserveColor][value=true]") // which keeps the paper's grey
	p.Pick(p.File("exam.pdf", browsertest.PDF(pages...)))
	p.Until(`states() == 'choosing'`)
	p.Is(`document.querySelector('.state').textContent`, "5 pages. Which ones should be cleaned?")
	p.Is(`document.querySelector('.choose [name=pages]').value`, "1-5")
	const ticks = `[...document.querySelectorAll('.faces input')].map((tick) => tick.checked ? tick.value : '-').join('')`
	p.Is(ticks, "12345")
	greys := func(canvases string) string {
		return fmt.Sprintf(
			`[...document.querySelectorAll(%q)].map((c) => {
				const pen = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', { willReadFrequently: true });
				pen.drawImage(c, c.width / 2, c.height / 3, 1, 1, 0, 0, 1, 1);
				return c.width < 100 ? '?' : Math.round(pen.getImageData(0, 0, 1, 1).data[0] / 2.55);
			}).join()`,
			canvases,
		)
	}
	p.Until(greys(".faces canvas") + ` == '100,85,70,55,40'`)
	p.Accessible()
	for _, page := range []string{"1", "4"} {
		p.Toggle(".faces [value='" + page + "']")
	}
	p.Is(`document.querySelector('.choose [name=pages]').value`, "2-3,5")
	p.Typed(".choose [name=pages]", "2-3")
	p.Is(ticks, "-23--")
	if sent := asksFor(p, "/api/process-image"); len(sent) > 0 {
		t.Errorf("sent before anything was chosen: %v", sent)
	}
	p.Pressed(".choose .button")
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('.state').textContent`, "2 of 5 pages done.")

	const strip = `[...document.querySelectorAll('#strip button')].map((b) => (b.disabled ? '-' : b.ariaLabel) + (b.ariaCurrent ?? '')).join()`
	p.Until(strip + ` == '-,Page 2page,Page 3,-,-'`)
	// Small pictures are drawn once they are near what is seen.
	p.Eval(`document.querySelector('#strip').scrollIntoView({ block: 'center' }), ''`)
	p.Until(greys("#strip canvas") + ` == '100,85,70,55,40'`)
	p.Accessible()
	p.Pressed("#strip button:nth-child(3)")
	p.Until(
		`document.querySelector('#page-number').textContent == '3 / 5' && document.querySelector('#strip [aria-current]').ariaLabel == 'Page 3'`,
	)
	p.Look(360, 740, "light")
	const top = `Math.round(document.querySelector(%q).getBoundingClientRect().top)`
	p.Until(fmt.Sprintf(top+" == "+top, "#pager", ".zoom"))
	p.Look(1280, 900, "light")
	name, data := p.Download("#actions .download")
	if pages := p.ReadPDF(data).Pages; name != "exam-pages-2-3.clean.pdf" ||
		sizesOf(pages) != "130×160 140×160" || pages[0].Bookmark != "Page 2" ||
		pages[0].Label+pages[1].Label != "12" || pages[0].Text+pages[1].Text != "Page 2Page 3" {
		t.Errorf("%s has pages %+v", name, pages)
	}
	p.Press("Clean the other pages: exam.pdf")
	p.Until(`states() == 'choosing'`)
	p.Is(ticks, "145")
	p.Pressed(".choose .button")
	p.UntilLong(`states() == 'done'`)
	if name, _ := p.Download("#actions .download"); name != "exam.clean.pdf" {
		t.Errorf("the whole PDF is called %s", name)
	}
}

// What was removed is tinted on the page before, but for what was brought back by hand.
func tintsTheRemoved(t *testing.T, _ *service, p *browsertest.Page) {
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := decoded(t, photo)
	var askew bytes.Buffer
	if err := jpeg.Encode(&askew, turned(m, 184), nil); err != nil {
		t.Fatal(err)
	}
	p.Is(`document.querySelector('#tint').checkVisibility()`, "false")
	p.Pick(p.File("exam.jpg", askew.Bytes()))
	p.UntilLong(`states() == 'done' && document.querySelector('.after').naturalWidth > 800`)
	p.Eval(`split.value = 100, split.dispatchEvent(new Event('input')), ''`)
	plain := tinted(t, p)
	p.Toggle("#tint")
	p.Until(`document.querySelector('.tint').checkVisibility()`)
	p.Accessible()
	all := tinted(t, p)
	if plain > 0 || all < 500 {
		t.Errorf("%d pixels are tinted without the switch, %d with it", plain, all)
	}
	p.Toggle("#as-it-came") // where what was removed does not lie as in the result
	p.Until(`document.querySelector('.tint').hidden`)
	p.Toggle("#as-it-came")
	p.Pressed("#touch-up")
	p.Until(`!document.querySelector('#touch').hidden`)
	p.Eval(`document.querySelector('#brush-size').value = 120, document.querySelector('#touch').focus(), ''`)
	for range 6 {
		p.Eval(keyOnCanvas("ArrowDown", true))
	}
	p.Pressed("#touch-done")
	p.Until(`document.querySelector('.after').src != '' && !document.querySelector('.tint').hidden`)
	p.Eval(`split.value = 100, split.dispatchEvent(new Event('input')), ''`)
	poll(t, "less tint", func() bool { n := tinted(t, p); return n > 0 && n < all })
}

// keyOnCanvas is a key pressed on the picture that is painted on.
func keyOnCanvas(key string, shift bool) string {
	return fmt.Sprintf(
		`document.querySelector('#touch').dispatchEvent(new KeyboardEvent('keydown', { key: %q, shiftKey: %t, bubbles: true })), ''`,
		key, shift,
	)
}

// tinted counts the pixels of the window that have the colour of what was removed.
func tinted(t *testing.T, p *browsertest.Page) (n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shot.png")
	p.Shoot(path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if isMagenta(m, x, y) {
				n++
			}
		}
	}
	return n
}

func isMagenta(m image.Image, x, y int) bool {
	r, g, b, _ := m.At(x, y).RGBA()
	return r > 0xa000 && b > 0x9000 && g < 0x7000
}

// While pages are made it is told how long they will take, and not after.
func tellsTimeLeft(t *testing.T, _ *service, p *browsertest.Page) {
	p.Eval(
		`window.counts = new Set(), new MutationObserver(() => counts.add(document.querySelector('#count').textContent)).observe(document.querySelector('#count'), { childList: true }), ''`,
	)
	var files []string
	for i := range 3 {
		files = append(files, p.File(fmt.Sprintf("%d.png", i), picture(200+i, 120)))
	}
	p.Pick(files...)
	p.UntilLong(`states() == 'done,done,done'`)
	p.Until(`document.querySelector('#count').textContent == '3 files, 3 done'`)
	told := p.Eval(`[...counts].join(';')`)
	if !strings.Contains(told, "3 files, 1 done, less than a minute left") &&
		!strings.Contains(told, "3 files, 1 done, about") {
		t.Errorf("it was told: %s", told)
	}
}
