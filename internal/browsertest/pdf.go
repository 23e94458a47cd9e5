package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// PDFPage is a page of a PDF made here: its paper, and a line of text.
type PDFPage struct {
	Width, Height int  // points
	Grey          int  // of its paper in percent: what tells pages apart
	Turned        int  // degrees, clockwise
	Written       bool // with a wave in blue ink near its head
	Blank         bool // without the text
	Marked        bool // black over its middle, which a PDF program put there
}

// PDF writes a PDF by hand.
func PDF(pages ...PDFPage) []byte {
	var b bytes.Buffer
	var at []int
	object := func(format string, args ...any) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(at))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	b.WriteString("%PDF-1.7\n")
	object("<< /Type /Catalog /Pages 2 0 R >>")
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	object("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " "))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i, p := range pages {
		marks := ""
		if p.Marked {
			marks = fmt.Sprintf("/Annots [<< /Type /Annot /Subtype /Square /Rect [10 40 %d %d] "+
				"/C [0 0 0] /IC [0 0 0] /F 4 >>]", p.Width-10, p.Height-10)
		}
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R %s "+
			"/Resources << /Font << /F 3 0 R >> >> >>",
			p.Width, p.Height, p.Turned, 5+2*i, marks)
		content := fmt.Sprintf("%.2f g 0 0 %d %d re f 0 g", float64(p.Grey)/100, p.Width, p.Height)
		if !p.Blank {
			content += fmt.Sprintf(" BT /F 24 Tf 20 20 Td (Page %d) Tj ET", i+1)
		}
		if p.Written {
			content += wave(p)
		}
		object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, xref)
	return b.Bytes()
}

// wave is a line that somebody has drawn across a page near its head, up and down, and never twice
// alike.
func wave(p PDFPage) string {
	const step = 15
	y := p.Height * 17 / 20
	line := fmt.Sprintf(" 0.12 0.22 0.75 RG 1.5 w 10 %d m", y)
	for i, x := 0, 10; x+2*step < p.Width; i, x = i+1, x+2*step {
		line += fmt.Sprintf(" %d %d %d %d %d %d c", x+step+i*7%11, y+2*step-i*5%13, x+step-i*3%7,
			y-2*step+i*7%9, x+2*step, y+i*5%7)
	}
	return line + " S"
}

// ReadPage is a page of a PDF that the web page has made.
type ReadPage struct {
	Width, Height float64 // points
	Original      bool    // with its text
	Grey          int     // of its paper, in percent
}

// ReadPDF lists the pages of a PDF with the reader that the page itself has.
func (p *Page) ReadPDF(data []byte) []ReadPage {
	p.t.Helper()
	text, err := json.Marshal(data)
	if err != nil {
		p.t.Fatal(err)
	}
	p.Eval(`window.madePages = undefined, (async () => {
		const base = JSON.parse(document.querySelector('#page-data').textContent).assets.pdfjs;
		const reader = (await import(` + strconv.Quote(p.asset("pdf.min-")) + `));
		reader.GlobalWorkerOptions.workerSrc = base + '/build/pdf.worker.min.js';
		const document_ = await reader.getDocument({ data: Uint8Array.from(atob(` + string(text) + `), (c) => c.charCodeAt(0)), standardFontDataUrl: base + '/standard_fonts/' }).promise;
		const pages = [];
		for (let n = 1; n <= document_.numPages; n++) {
			const page = await document_.getPage(n);
			const viewport = page.getViewport({ scale: 0.2 });
			const canvas = document.createElement('canvas');
			canvas.width = viewport.width; canvas.height = viewport.height;
			await page.render({ canvas, viewport }).promise;
			const [grey] = canvas.getContext('2d').getImageData(canvas.width / 2, canvas.height / 3, 1, 1).data;
			pages.push([viewport.width / 0.2, viewport.height / 0.2,
				(await page.getTextContent()).items.length,
				grey * 100 / 255]);
		}
		window.madePages = JSON.stringify(pages);
	})().catch((error) => { window.madePages = String(error.stack); }), ''`)
	p.Until(`!!window.madePages`)
	var rows [][4]float64
	if err := json.Unmarshal([]byte(p.Eval(`madePages`)), &rows); err != nil {
		p.t.Fatalf("%v: %s", err, p.Eval(`madePages`))
	}
	var pages []ReadPage
	for _, r := range rows {
		pages = append(pages, ReadPage{r[0], r[1], r[2] > 0, int(r[3] + 0.5)})
	}
	return pages
}

// asset is the path of a script that the page has asked for.
func (p *Page) asset(name string) string {
	p.t.Helper()
	for _, url := range p.Asked() {
		if i := strings.Index(url, "/assets/"+name); i >= 0 {
			return url[i:]
		}
	}
	p.t.Fatalf("the page has not asked for %s", name)
	return ""
}
