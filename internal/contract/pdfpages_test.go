package contract

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"unink/internal/browsertest"
)

// A PDF of 30 pages by somebody who is logged in: limits are met and waited out, and it comes out as it went in, each page paid
// for once. Pages without handwriting stay as they are.
func sendsManyPages(t *testing.T, s *service, p *browsertest.Page) {
	const count = 30
	u := s.newUser(t, count+5)
	logIn(p, u)
	p.Until(`document.querySelector('#who .credits').textContent == '35 credits' && document.querySelector('#who .guest').hidden`)
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
	p.Eval(`window.waits = new Set(), new MutationObserver(() => { for (const { textContent } of document.querySelectorAll('#queue .state')) waits.add(textContent); }).observe(document.querySelector('#queue'), { subtree: true, childList: true, characterData: true }), ''`)
	p.Pick(p.File("exam.pdf", browsertest.PDF(pages...)))
	p.UntilLong(`states() == 'pausing' && /Page \d+ of 30: Too many pages in a minute. Goes on in [1-6]?\d s./.test(document.querySelector('.state').textContent)`)
	p.UntilLong(`states() == 'done'`)
	p.Is(`document.querySelector('.state').textContent`, "Done, 30 pages")
	p.Is(`[...waits].filter((text) => /Goes on in/.test(text)).length > 1`, "true") // it is counted down
	p.Until(`document.querySelector('#who .credits').textContent == '5 credits'`)
	if l := s.ledger(t, u.id); l.count("settle") != count || l.count("reserve") != count || l.sum() != 5 {
		t.Errorf("30 pages of 35 credits: %+v", l.Entries)
	}
	if sent := len(asksFor(p, "/api/process-image")); sent < count+1 || sent > count+4 {
		t.Errorf("%d requests for %d pages", sent, count)
	}

	p.Until(`document.querySelector('#page-number').textContent == '1 / 30' && document.querySelector('#page-before').disabled`)
	p.Pressed("#page-after")
	p.Until(`document.querySelector('#page-number').textContent == '2 / 30' && document.querySelector('.after').naturalWidth == 314`) // 113 points at 200 dpi
	name, made := p.Download("li .download")
	if name != "exam.clean.pdf" {
		t.Errorf("downloaded %q", name)
	}
	got := p.ReadPDF(made)
	if len(got) != count {
		t.Fatalf("%d pages came out", len(got))
	}
	near := func(a, b float64) bool { return a-b < 0.6 && b-a < 0.6 }
	for i, page := range got {
		width, height := float64(pages[i].Width), float64(pages[i].Height)
		if pages[i].Turned == 90 {
			width, height = height, width
		}
		if !near(page.Width, width) || !near(page.Height, height) || page.Original == pages[i].Written || page.Grey < pages[i].Grey-2 || page.Grey > pages[i].Grey+2 {
			t.Errorf("page %d is %+v, of %+v", i+1, page, pages[i])
		}
	}
}

// What is wrong with a PDF is told apart.
func sendsOddPDFs(t *testing.T, _ *service, p *browsertest.Page) {
	sound := browsertest.PDF(browsertest.PDFPage{Width: 200, Height: 300, Grey: 100})
	locked := bytes.Replace(sound, []byte("trailer << "), []byte("trailer << /ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <"+strings.Repeat("ab", 32)+"> /U <"+strings.Repeat("cd", 32)+"> >> "), 1)
	p.Pick(p.File("locked.pdf", locked), p.File("broken.pdf", []byte("%PDF-1.7 and so on")), p.File("late.pdf", append([]byte("\n\n"), sound...)))
	p.UntilLong(`states() == 'refused,refused,done'`)
	for i, want := range []string{"password", "damaged"} {
		if got := p.Eval(fmt.Sprintf(`document.querySelectorAll('.state')[%d].textContent`, i)); !strings.Contains(got, want) {
			t.Errorf("PDF %d: %q", i, got)
		}
	}
}

// A guest's pages of a PDF need no proof of work, and stop at their own allowance.
func guestSendsPDF(t *testing.T, _ *service, p *browsertest.Page) {
	page := browsertest.PDFPage{Width: 100, Height: 100, Grey: 90}
	p.Pick(p.File("a.pdf", browsertest.PDF(page, page, page)))
	p.UntilLong(`!notice.hidden && document.querySelector('.state').textContent == 'Page 3 of 3: Waiting'`)
	if asked := asksFor(p, "/api/bot-challenge"); len(asked) > 0 {
		t.Error("a proof of work was asked for")
	}
	p.Press("Cancel: a.pdf")
	p.Until(`states() == 'cancelled' && document.querySelector('.state').textContent.startsWith('2 of 3 pages done.')`)
}
