package browsertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/jpeg"
	"strconv"
	"strings"
)

// PDFPage is a page of a PDF made here: its paper, and a line of text.
type PDFPage struct {
	Width, Height int    // points
	Grey          int    // of its paper in percent: what tells pages apart
	Turned        int    // degrees, clockwise
	Scan          int    // dots per inch of the picture that its paper is; 0 is none
	Written       bool   // with a wave in blue ink near its head
	Blank         bool   // without the text
	Marked        bool   // black over its middle, which a PDF program put there
	Inked         bool   // with a stylus's broad black strokes over its middle, in its content
	Underprinted  bool   // with such strokes below its text, as print has them
	Photo         []byte // a JPEG that is its paper
	Content       string // more operators; /F is Helvetica
}

// PDF writes a PDF by hand. Its title is "Exam"; each page has a link and a bookmark, which names
// the page as its text does. Their labels are i, 1, 2, and so on.
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
	info, outlines := 4+2*len(pages), 5+2*len(pages)
	object("<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R "+
		"/PageLabels << /Nums [0 << /S /r >> 1 << /S /D >>] >> >>", outlines)
	var kids []string
	for i := range pages {
		kids = append(kids, fmt.Sprintf("%d 0 R", 4+2*i))
	}
	object("<< /Type /Pages /Count %d /Kids [%s] >>", len(pages), strings.Join(kids, " "))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	for i, p := range pages {
		marks := ""
		if p.Marked {
			marks = fmt.Sprintf("<< /Type /Annot /Subtype /Square /Rect [10 40 %d %d] "+
				"/C [0 0 0] /IC [0 0 0] /F 4 >>", p.Width-10, p.Height-10)
		}
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R "+
			"/Annots [<< /Type /Annot /Subtype /Link /Rect [0 0 10 10] /Border [0 0 0] "+
			"/A << /S /URI /URI (https://example.com/) >> >> %s] "+
			"/Resources << /Font << /F 3 0 R >> /XObject << /Paper %d 0 R >> >> >>",
			p.Width, p.Height, p.Turned, 5+2*i, marks, outlines+len(pages)+1+i)
		content := fmt.Sprintf("%.2f g 0 0 %d %d re f 0 g", float64(p.Grey)/100, p.Width, p.Height)
		if p.Scan > 0 || p.Photo != nil {
			content = fmt.Sprintf("q %d 0 0 %d 0 0 cm /Paper Do Q", p.Width, p.Height)
		}
		if p.Underprinted {
			content += scrawl(p)
		}
		if !p.Blank {
			content += fmt.Sprintf(" BT /F 24 Tf 20 20 Td (Page %d) Tj ET", i+1)
		}
		if p.Written {
			content += wave(p)
		}
		content += " " + p.Content
		if p.Inked {
			content += scrawl(p)
		}
		object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	object("<< /Title (Exam) >>")
	object("<< /First %d 0 R /Last %d 0 R /Count %d >>", outlines+1, outlines+len(pages), len(pages))
	for i := range pages {
		around := ""
		if i > 0 {
			around += fmt.Sprintf(" /Prev %d 0 R", outlines+i)
		}
		if i < len(pages)-1 {
			around += fmt.Sprintf(" /Next %d 0 R", outlines+i+2)
		}
		object("<< /Title (Page %d) /Parent %d 0 R /Dest [%d 0 R /Fit]%s >>",
			i+1, outlines, 4+2*i, around)
	}
	for _, p := range pages {
		w, h := max(1, p.Width*p.Scan/72), max(1, p.Height*p.Scan/72)
		colours, data := "/DeviceGray", bytes.Repeat([]byte{byte(p.Grey * 255 / 100)}, w*h)
		if photo, err := jpeg.DecodeConfig(bytes.NewReader(p.Photo)); err == nil {
			w, h, colours, data = photo.Width, photo.Height, "/DeviceRGB /Filter /DCTDecode", p.Photo
		}
		object("<< /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 "+
			"/ColorSpace %s /Length %d >>\nstream\n%s\nendstream", w, h, colours, len(data), data)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R /Info %d 0 R >>\nstartxref\n%d\n%%%%EOF\n",
		len(at)+1, info, xref)
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

// scrawl is what a note-taking program writes of a stylus: lines through many points.
func scrawl(p PDFPage) string {
	const strokes, points, step = 5, 40, 2.5
	lines := " 0 G 1 J 1 j 16 w"
	for i := range strokes {
		for k := range points {
			x := float64(p.Width)/2 + step*float64(k%9-4)
			y := float64(p.Height)*2/3 + step*float64(i-2) + float64(k*k%7)
			way := "l"
			if k == 0 {
				way = "m"
			}
			lines += fmt.Sprintf(" %.1f %.1f %s", x, y, way)
		}
		lines += " S"
	}
	return lines
}

// ReadPage is a page of a PDF that the web page has made.
type ReadPage struct {
	Width, Height float64 // points
	Original      bool    // with its text to be seen
	Text          string  // on it, seen or unseen
	Begins        [2]int  // the text: points from the upper left
	Label         string
	Grey          int    // of its paper, in percent
	Corner        int    // where most of its dark pixels are, clockwise from the upper left
	Linked        bool   // with a link
	Bookmark      string // that leads to it
}

// ReadDocument is a PDF that the web page has made.
type ReadDocument struct {
	Title string
	Pages []ReadPage
}

// ReadPDF reads a PDF with the reader that the page itself has.
func (p *Page) ReadPDF(data []byte) (d ReadDocument) {
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
		const labels = await document_.getPageLabels();
		const { info } = await document_.getMetadata();
		const bookmarks = {};
		for (const { title, dest } of await document_.getOutline() ?? []) {
			const n = await document_.getPageIndex(dest[0]).catch(() => -1);
			bookmarks[n] = title;
		}
		for (let n = 1; n <= document_.numPages; n++) {
			const page = await document_.getPage(n);
			const viewport = page.getViewport({ scale: 0.2 });
			const canvas = document.createElement('canvas');
			canvas.width = viewport.width; canvas.height = viewport.height;
			await page.render({ canvas, viewport }).promise;
			const pen = canvas.getContext('2d');
			const [grey] = pen.getImageData(canvas.width / 2, canvas.height / 3, 1, 1).data;
			const [w, h] = [canvas.width / 2, canvas.height / 2];
			const dark = (x, y) => pen.getImageData(x * w, y * h, w, h).data
				.reduce((sum, value) => sum + Math.max(0, grey - 40 - value), 0);
			const items = (await page.getTextContent()).items.filter(({ str }) => str);
			const { fnArray, argsArray } = await page.getOperatorList();
			let mode = 0, seen = false;
			fnArray.forEach((operation, i) => {
				if (operation === reader.OPS.setTextRenderingMode) [mode] = argsArray[i];
				seen ||= operation === reader.OPS.showText && mode !== 3;
			});
			const corners = [dark(0, 0), dark(1, 0), dark(1, 1), dark(0, 1)];
			pages.push({
				Width: viewport.width / 0.2, Height: viewport.height / 0.2,
				Original: seen, Text: items.map(({ str }) => str).join(''), Label: labels?.[n - 1] ?? '',
				Begins: items.length ? viewport.convertToViewportPoint(...items[0].transform.slice(4)).map((at) => Math.round(at / 0.2)) : [0, 0],
				Grey: Math.round(grey * 100 / 255),
				Corner: corners.indexOf(Math.max(...corners)),
				Linked: (await page.getAnnotations()).some(({ subtype }) => subtype === 'Link'),
				Bookmark: bookmarks[n - 1] ?? '',
			});
		}
		window.madePages = JSON.stringify({ Title: info.Title ?? '', Pages: pages });
	})().catch((error) => { window.madePages = String(error.stack); }), ''`)
	p.Until(`!!window.madePages`)
	if err := json.Unmarshal([]byte(p.Eval(`madePages`)), &d); err != nil {
		p.t.Fatalf("%v: %s", err, p.Eval(`madePages`))
	}
	return d
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
