package contract

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unink/internal/browsertest"
)

// A PDF of 30 pages by somebody who is logged in: limits are met and waited out, and it comes out
// as it went in, each page paid for once. Pages without handwriting stay as they are.
func sendsManyPages(t *testing.T, s *service, p *browsertest.Page) {
	const count = 30
	u := s.newUser(t, count+5)
	logIn(p, u)
	p.Until(
		`document.querySelector('#who .credits').textContent == '35 credits' && document.querySelector('#who .guest').hidden`,
	)
	var pages []browsertest.PDFPage
	for i := range count {
		page := browsertest.PDFPage{Width: 110 + 3*i, Height: 150 - 2*i, Grey: 95 - i, Written: i%3 != 2}
		if i == 7 {
			page.Turned = 90
		}
		pages = append(pages, page)
	}
	p.Toggle("[name=preserveColor][value=true]") // which keeps the paper's grey
	p.Pressed("#options summary")
	p.Toggle("[name=keepUnwritten]")
	p.Eval(
		`window.waits = new Set(), new MutationObserver(() => { for (const { textContent } of document.querySelectorAll('#queue .state')) waits.add(textContent); }).observe(document.querySelector('#queue'), { subtree: true, childList: true, characterData: true }), ''`,
	)
	pickAll(p, p.File("exam.pdf", browsertest.PDF(pages...)))
	p.UntilLong(
		`states() == 'pausing' && /Page \d+ of 30: Too many pages in a minute. Continues in [1-6]?\d s./.test(document.querySelector('.state').textContent)`,
	)
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('.state').textContent`, "Done, 30 pages")
	// it is counted down
	p.Is(`[...waits].filter((text) => /Continues in/.test(text)).length > 1`, "true")
	p.Until(`document.querySelector('#who .credits').textContent == '5 credits'`)
	if l := s.ledger(t, u.id); l.count("settle") != count || l.count("reserve") != count ||
		l.sum() != 5 {
		t.Errorf("30 pages of 35 credits: %+v", l.Entries)
	}
	// A refusal says when to come back, so that each page beyond a minute's is refused once at most.
	const most = count + count - minuteOfLimited
	if sent := len(asksFor(p, "/api/process-image")); sent < count+1 || sent > most {
		t.Errorf("%d requests for %d pages, want %d to %d", sent, count, count+1, most)
	}

	p.Until(
		`document.querySelector('#page-number').textContent == '1 / 30' && document.querySelector('#page-before').disabled`,
	)
	p.Pressed("#page-after")
	// 113 points at 200 dpi
	p.Until(
		`document.querySelector('#page-number').textContent == '2 / 30' && document.querySelector('.after').naturalWidth == 314`,
	)
	name, made := p.Download("li .download")
	if name != "exam.clean.pdf" {
		t.Errorf("downloaded %q", name)
	}
	got := p.ReadPDF(made).Pages
	if len(got) != count {
		t.Fatalf("%d pages came out", len(got))
	}
	near := func(a, b float64) bool { return a-b < 0.6 && b-a < 0.6 }
	for i, page := range got {
		width, height := float64(pages[i].Width), float64(pages[i].Height)
		if pages[i].Turned == 90 {
			width, height = height, width
		}
		if !near(page.Width, width) || !near(page.Height, height) || page.Original == pages[i].Written ||
			page.Grey < pages[i].Grey-2 || page.Grey > pages[i].Grey+2 {
			t.Errorf("page %d is %+v, of %+v", i+1, page, pages[i])
		}
	}
}

// What is wrong with a PDF is told apart.
func sendsOddPDFs(t *testing.T, _ *service, p *browsertest.Page) {
	sound := browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 100})
	locked := bytes.Replace(sound, []byte("trailer << "), []byte("trailer << /ID "+
		"[<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter "+
		"/Standard /V 2 /R 3 /Length 128 /P -4 /O <"+strings.Repeat("ab",
		32)+"> /U <"+strings.Repeat("cd", 32)+"> >> "), 1)
	p.Pick(p.File("locked.pdf", locked), p.File("broken.pdf", []byte("%PDF-1.7 and so on")),
		p.File("late.pdf", append([]byte("\n\n"), sound...)))
	p.UntilLong(`states() == 'refused,refused,done'`)
	for i, want := range []string{"protected by a password", "damaged"} {
		if got := p.Eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`,
			i)); !strings.Contains(got, want) {
			t.Errorf("PDF %d: %q", i, got)
		}
	}
}

// A page of a PDF on which there is nothing stays in its place, as it is.
func keepsBlankPages(t *testing.T, _ *service, p *browsertest.Page) {
	p.Toggle("[name=preserveColor][value=true]") // which turns no page
	pickAll(p, p.File("a.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 100, Height: 100, Grey: 90, Written: true},
		browsertest.PDFPage{Width: 120, Height: 100, Grey: 100, Blank: true},
		browsertest.PDFPage{Width: 140, Height: 100, Grey: 90, Written: true})))
	p.UntilLong(
		`states() == 'done' && document.querySelector('.state').textContent == 'Done, 3 pages'`,
	)
	_, data := p.Download("li .download")
	if sizes := sizesOf(p.ReadPDF(data).Pages); sizes != "100×100 120×100 140×100" {
		t.Errorf("pages of %s", sizes)
	}
}

// What a PDF program put on a page comes off, whether the page becomes a picture or stays. So do a
// stylus's strokes in its content.
func takesMarksOff(t *testing.T, _ *service, p *browsertest.Page) {
	p.Toggle("[name=preserveColor][value=true]") // which keeps the paper's grey
	p.Pressed("#options summary")
	p.Toggle("[name=keepUnwritten]")
	pickAll(p, p.File("a.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 200, Height: 200, Grey: 90, Marked: true},
		browsertest.PDFPage{Width: 220, Height: 200, Grey: 80, Marked: true, Written: true},
		browsertest.PDFPage{Width: 240, Height: 200, Grey: 70, Inked: true},
		browsertest.PDFPage{Width: 260, Height: 200, Grey: 60, Underprinted: true})))
	p.UntilLong(
		`states() == 'done' && document.querySelector('.state').textContent == 'Done, 4 pages'`,
	)
	const middle = `((image) => {
		const pen = new OffscreenCanvas(1, 1).getContext('2d');
		pen.drawImage(image, image.naturalWidth / 2, image.naturalHeight / 3, 1, 1, 0, 0, 1, 1);
		return pen.getImageData(0, 0, 1, 1).data[0];
	})`
	for i := range 3 { // the page before is seen as it came
		p.Until(fmt.Sprintf(`document.querySelector('#page-number').textContent == '%d / 4' && `+
			middle+`(document.querySelector('.before')) < 60 && `+
			middle+`(document.querySelector('.after')) > 160`, i+1))
		p.Pressed("#page-after")
	}
	_, data := p.Download("li .download")
	pages := p.ReadPDF(data).Pages
	if last := pages[3]; last.Grey > 20 {
		t.Errorf("strokes below print came off: %+v", last)
	}
	for i, page := range pages[:3] {
		if want := 90 - 10*i; page.Grey < want-2 || page.Grey > want+2 || page.Original != (i == 0) {
			t.Errorf("page %d is %+v, of paper of %d %%", i+1, page, want)
		}
	}
}

// A PDF keeps its title, bookmarks, links and text when its pages become pictures, which lie as the
// pages did; what was written on them is no longer in the file, nor what was read of it.
func keepsDocument(t *testing.T, _ *service, p *browsertest.Page) {
	p.Toggle("[name=preserveColor][value=true]") // which turns no page
	var printed, written []browsertest.PDFPage
	for i := range 4 {
		page := browsertest.PDFPage{Width: 300 + 20*i, Height: 200, Grey: 90 - i, Turned: 90 * i}
		printed = append(printed, page)
		page.Written = true
		if i%2 == 0 { // waves that stand may stay
			page.Content = "BT 3 Tr /F 30 Tf 20 160 Td (answer) Tj ET" // as programs have read them
		}
		written = append(written, page)
	}
	pickAll(p, p.File("a.pdf", browsertest.PDF(written...)))
	p.UntilLong(
		`states() == 'done' && document.querySelector('.state').textContent == 'Done, 4 pages'`,
	)
	_, data := p.Download("li .download")
	got, want := p.ReadPDF(data), p.ReadPDF(browsertest.PDF(printed...))
	if got.Title != "Exam" {
		t.Errorf("the title is %q", got.Title)
	}
	for i, page := range got.Pages {
		original := want.Pages[i]
		original.Original, original.Grey = false, page.Grey
		if page != original {
			t.Errorf("page %d is %+v, of %+v", i+1, page, original)
		}
	}
	if bytes.Contains(data, []byte("0.12 0.22 0.75 RG")) {
		t.Error("the file still holds what was on the pages")
	}
}

// The text of a page that was turned or straightened is on its picture where the command line has
// it: where it was on the page.
func putsTextInPlace(t *testing.T, s *service, p *browsertest.Page) {
	photo, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	m, _ := decoded(t, photo)
	var askew bytes.Buffer
	if err := jpeg.Encode(&askew, turned(m, 184), nil); err != nil {
		t.Fatal(err)
	}
	const text = "BT 3 Tr 80 Tz 2 Tc /F 18 Tf 14 TL 180 240 Td (Un) Tj [-300 (seen) 200 (words)] TJ T* (below) Tj ET"
	page := browsertest.PDFPage{Width: 620, Height: 670, Blank: true, Content: text}
	lying, leaning := page, page
	lying.Photo, lying.Turned = photo, 90
	leaning.Photo = askew.Bytes()
	source := p.File("exam.pdf", browsertest.PDF(lying, leaning))
	pickAll(p, source)
	p.UntilLong(`states() == 'done'`)
	_, data := p.Download("li .download")
	got := p.ReadPDF(data).Pages
	target := filepath.Join(t.TempDir(), "there.pdf")
	if out, err := s.command("clean", source, "-o", target).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if data, err = os.ReadFile(target); err != nil {
		t.Fatal(err)
	}
	near := func(a, b int) bool { return a-b < 4 && b-a < 4 }
	for i, want := range p.ReadPDF(data).Pages {
		page := got[i]
		if page.Text != want.Text || !near(page.Begins[0], want.Begins[0]) ||
			!near(page.Begins[1], want.Begins[1]) || page.Original {
			t.Errorf("page %d is %+v, want %+v", i+1, page, want)
		}
	}
}

// A scan in a PDF is cleaned at its own resolution, as far as 300 dpi; other pages at 200.
func keepsResolution(_ *testing.T, _ *service, p *browsertest.Page) {
	for dpi, width := range map[int]int{288: 480, 600: 500, 72: 333, 0: 333} {
		name := fmt.Sprintf("%d.pdf", dpi)
		p.Pick(p.File(name, browsertest.PDF(
			browsertest.PDFPage{Width: 120, Height: 160, Grey: 90, Scan: dpi})))
		p.UntilLong(`states().split().every((state) => state == 'done')`)
		p.Until(fmt.Sprintf(`document.querySelector('#result-title').textContent == '%s' && `+
			`document.querySelector('.after').naturalWidth == %d`, name, width))
		p.Press("Remove: " + name)
	}
}

// A guest's pages of a PDF need no proof of work. Of more than the day's allowance some are chosen,
// and those that are done can always be saved.
func guestSendsPDF(t *testing.T, _ *service, p *browsertest.Page) {
	page := func(width int) browsertest.PDFPage {
		return browsertest.PDFPage{Width: width, Height: 100, Grey: 90}
	}
	p.Toggle("[name=preserveColor][value=true]") // which turns no page
	p.Pick(p.File("a.pdf", browsertest.PDF(page(100), page(120), page(140))))
	p.UntilLong(
		`states() == 'choosing' && document.querySelector('.state').textContent == 'This PDF has 3 pages; today 2 of them can be cleaned for free. Which ones?'`,
	)
	p.Is(`document.querySelector('.choose [name=pages]').value`, "1-2")
	p.Accessible()
	p.Entered(".choose [name=pages]", "none")
	p.Until(`!document.querySelector('.choose [name=pages]').validity.valid && states() == 'choosing'`)
	p.Entered(".choose [name=pages]", "2-")
	p.UntilLong(
		`states() == 'done' && document.querySelector('.state').textContent == '2 of 3 pages done.'`,
	)
	if asked := asksFor(p, "/api/bot-challenge"); len(asked) > 0 {
		t.Error("a proof of work was asked for")
	}
	saved := func() {
		t.Helper()
		if name, data := p.Download("li .download"); name != "a-pages-2-3.clean.pdf" ||
			sizesOf(p.ReadPDF(data).Pages) != "120×100 140×100" {
			t.Errorf("%s has pages of %s", name, sizesOf(p.ReadPDF(data).Pages))
		}
	}
	saved()
	p.Press("Clean the other pages: a.pdf")
	p.UntilLong(
		`states() == 'out' && document.querySelector('.state').textContent.startsWith("2 of 3 pages done. Today's free PDF pages are used up.")`,
	)
	saved()
	p.Press("Cancel: a.pdf")
	p.Until(
		`states() == 'cancelled' && document.querySelector('.state').textContent.startsWith('2 of 3 pages done.')`,
	)
	saved()
}

// Who is logged in is told beforehand that a PDF needs more credits than there are, and chooses;
// what others have used meanwhile stops it, and the pages that are done can be saved.
func sendsPDFBeyondCredits(t *testing.T, s *service, p *browsertest.Page) {
	u := s.newUser(t, 2)
	logIn(p, u)
	p.Until(`document.querySelector('#left span').textContent == '2 credits left, one for each page.'`)
	p.Toggle("[name=preserveColor][value=true]") // which turns no page
	p.Pick(p.File("a.pdf", browsertest.PDF(
		browsertest.PDFPage{Width: 100, Height: 100, Grey: 90, Written: true},
		browsertest.PDFPage{Width: 120, Height: 100, Grey: 90, Written: true},
		browsertest.PDFPage{Width: 140, Height: 100, Grey: 90, Written: true})))
	p.UntilLong(
		`states() == 'choosing' && document.querySelector('.state').textContent == 'This PDF has 3 pages and needs a credit for each; you have 2. Which pages?'`,
	)
	p.GoTo("/")
	p.FrontReady()
	p.Is(`states()`, "choosing")
	p.Entered(".choose [name=pages]", "1-3")
	p.UntilLong(
		`states() == 'out' && document.querySelector('.state').textContent == '2 of 3 pages done. Your credits are used up or have expired.'`,
	)
	p.Is(
		`[...document.querySelectorAll('#queue a')].filter((link) => link.checkVisibility()).map((link) => link.pathname).join()`, "/pricing",
	)
	if _, data := p.Download("li .download"); sizesOf(p.ReadPDF(data).Pages) != "100×100 120×100" {
		t.Errorf("pages of %s", sizesOf(p.ReadPDF(data).Pages))
	}
	s.admin(t, nil, "grant", u.id, "--credits", "1")
	p.Press("Try again: a.pdf")
	p.UntilLong(
		`states() == 'done' && document.querySelector('.state').textContent == 'Done, 3 pages'`,
	)
}
