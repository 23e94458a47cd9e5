package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"unink/internal/pdf"
	"unink/internal/pdf/pdftest"
)

var red = color.RGBA{200, 0, 0, 255}

func open(t *testing.T, data []byte) *pdf.Document {
	t.Helper()
	d, err := pdf.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

func drawn(t *testing.T, d *pdf.Document, n int) pdf.Picture {
	t.Helper()
	p, err := d.Draw(t.Context(), n)
	if err != nil {
		t.Fatalf("page %d: %v", n+1, err)
	}
	return p
}

func isRed(m *image.RGBA, x, y int) bool {
	c := m.RGBAAt(x, y)
	return c.R > 150 && c.G < 80 && c.B < 80 && c.A == 255
}

func dark(m *image.RGBA) (box image.Rectangle) {
	for y := range m.Rect.Dy() {
		for x := range m.Rect.Dx() {
			if m.RGBAAt(x, y).G < 100 {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

func TestPagesAreDrawnAsDisplayed(t *testing.T) {
	d := open(t, pdftest.Make(
		pdftest.Page{Text: "Vector"},
		pdftest.Page{Text: "Lying", Rotate: 90},
		pdftest.Page{Text: "Cropped", Crop: [4]int{40, 700, 300, 842}},
		pdftest.Page{Scan: pdftest.Scan(1240, 1754, red)},
		pdftest.Page{Scan: pdftest.Scan(1240, 1754, red), Rotate: 180},
		pdftest.Page{Scan: pdftest.Scan(4960, 7016, red)},
		pdftest.Page{Scan: pdftest.Scan(300, 424, red)},
		pdftest.Page{Width: 14000, Height: 14000, Text: "Poster"},
	))
	if d.Pages() != 8 {
		t.Fatalf("%d pages", d.Pages())
	}
	for n, want := range []struct {
		size   pdf.Size
		pixels image.Point
	}{
		{pdf.Size{Width: 595, Height: 842}, image.Pt(1653, 2339)},
		{pdf.Size{Width: 842, Height: 595}, image.Pt(2339, 1653)},
		{pdf.Size{Width: 260, Height: 142}, image.Pt(722, 394)},
		{pdf.Size{Width: 595, Height: 842}, image.Pt(1240, 1754)}, // its own resolution
		{pdf.Size{Width: 595, Height: 842}, image.Pt(1240, 1754)},
		{pdf.Size{Width: 595, Height: 842}, image.Pt(2479, 3508)}, // 300 dpi
		{pdf.Size{Width: 595, Height: 842}, image.Pt(826, 1169)},  // 100 dpi
		{pdf.Size{Width: 14000, Height: 14000}, image.Pt(7071, 7071)},
	} {
		p := drawn(t, d, n)
		if p.Size != want.size || p.Pixels.Rect.Size() != want.pixels {
			t.Errorf("page %d: %v points, %v pixels, want %v, %v", n+1, p.Size, p.Pixels.Rect.Size(),
				want.size, want.pixels)
		}
	}
	if box := dark(drawn(t, d, 0).Pixels); box.Max.Y > 300 || box.Min.X < 100 ||
		box.Dx() < 2*box.Dy() {
		t.Errorf("the text stands at %v", box)
	}
	// Turned clockwise, the top of the page is on the right.
	if box := dark(drawn(t, d, 1).Pixels); box.Min.X < 2000 || box.Dy() < 2*box.Dx() {
		t.Errorf("the turned text stands at %v", box)
	}
	if box := dark(drawn(t, d, 2).Pixels); box.Min.X > 60 || box.Empty() {
		t.Errorf("the cropped text stands at %v", box)
	}
	if p := drawn(t, d, 3).Pixels; !isRed(p, 20, 20) || isRed(p, 1200, 1700) {
		t.Error("the scan is not upright")
	}
	if p := drawn(t, d, 4).Pixels; isRed(p, 20, 20) || !isRed(p, 1220, 1740) {
		t.Error("the scan is not turned")
	}
}

// What somebody wrote with an annotating program is no part of the page; what belongs to the
// document stays in it.
func TestMarksComeOff(t *testing.T) {
	const (
		marks = "<< /Type /Annot /Subtype /Square /Rect [100 100 300 300] /C [1 0 0] " +
			"/IC [1 0 0] /F 4 >> << /Type /Annot /Subtype /Ink /Rect [100 400 300 600] " +
			"/InkList [[100 400 300 600]] /C [1 0 0] >> << /Type /Annot /Subtype /Highlight " +
			"/Rect [50 750 300 800] /QuadPoints [50 800 300 800 50 750 300 750] /C [1 1 0] >>"
		link = "<< /Type /Annot /Subtype /Link /Rect [50 50 90 90] " +
			"/A << /S /URI /URI (https://example.com) >> >>"
	)
	marked := pdftest.Make(pdftest.Page{Text: "Hello", Extra: " /Annots [" + marks + link + "]"})
	plain := drawn(t, open(t, pdftest.Make(pdftest.Page{Text: "Hello"})), 0).Pixels
	d := open(t, marked)
	c, err := d.Look(t.Context(), 0)
	if err != nil || c.Marks != 3 || !c.Printed {
		t.Errorf("the page is said to be %+v (%v)", c, err)
	}
	file := written(t, d, pdf.Page{})
	if bytes.Contains(file, []byte("/Ink")) || !bytes.Contains(file, []byte("https://example.com")) {
		t.Error("the ink stayed in the file, or the link did not")
	}
	if got := drawn(t, open(t, file), 0).Pixels; !bytes.Equal(got.Pix, plain.Pix) {
		t.Error("the page does not look as it did before it was marked")
	}
	kept := open(t, marked)
	kept.KeepMarks = true
	if file := written(t, kept, pdf.Page{}); !bytes.Contains(file, []byte("/Ink")) {
		t.Error("the ink is gone though marks were to be kept")
	}
}

// penned is a content of strokes as a stylus leaves them: each by itself, or as lines of their own
// widths that follow each other.
func penned(apart bool) string {
	var b strings.Builder
	b.WriteString("q 1 J 1 j 0 0 0.7 RG 1.5 w\n")
	for word := range 12 {
		x, y := 60+40*float64(word%6), 400-60*float64(word/6)
		at := func(i int) (float64, float64) {
			t := float64(i) / 8
			return x + 4*t + 6*math.Sin(2*t+float64(word)), y + 9*math.Cos(1.7*t)
		}
		px, py := at(0)
		fmt.Fprintf(&b, "%.2f %.2f m ", px, py)
		for i := 1; i < 60; i++ {
			px, py = at(i)
			fmt.Fprintf(&b, "%.2f %.2f l ", px, py)
			if apart {
				fmt.Fprintf(&b, "S %.2f w %.2f %.2f m ", 1+float64(i%5)/4, px, py)
			}
		}
		px, py = at(60)
		fmt.Fprintf(&b, "%.2f %.2f l S\n", px, py)
	}
	return b.String() + "Q\n"
}

// Strokes that a note-taking program wrote into the page come off exactly; what only looks a
// little like them stays.
func TestStrokesComeOff(t *testing.T) {
	const print = "0.5 w 60 300 m 400 300 l S 0.9 0.9 1 rg 60 600 200 40 re f\n"
	graph := "q 1 J 1 j 1 w 60 500 m "
	for x := range 200 {
		graph += fmt.Sprintf("%d %.2f l ", 60+x, 500+40*math.Sin(float64(x)/20))
	}
	graph += "S Q\n"
	page := func(content string) []byte {
		return pdftest.Make(pdftest.Page{Text: "Printed words", Content: content})
	}
	for name, c := range map[string]struct {
		content string
		strokes int
		rest    string
	}{
		"strokes":                 {print + penned(false), 12, print},
		"strokes of many lines":   {print + penned(true), 12, print},
		"strokes below print":     {penned(false) + print, 0, penned(false) + print},
		"a graph":                 {print + graph + graph + graph, 0, print + graph + graph + graph},
		"strokes after the graph": {print + graph + "0 0 m 9 9 l S\n" + penned(false), 12, print + graph + "0 0 m 9 9 l S\n"},
	} {
		d := open(t, page(c.content))
		look, err := d.Look(t.Context(), 0)
		if err != nil || look.Strokes != c.strokes {
			t.Errorf("%s: %+v (%v), want %d strokes", name, look, err, c.strokes)
		}
		want := drawn(t, open(t, page(c.rest)), 0).Pixels
		again := open(t, written(t, d, pdf.Page{}))
		if !bytes.Equal(drawn(t, d, 0).Pixels.Pix, want.Pix) ||
			!bytes.Equal(drawn(t, again, 0).Pixels.Pix, want.Pix) {
			t.Errorf("%s: what is left is not the page", name)
		}
	}
}

func TestFilesThatCannotBeRead(t *testing.T) {
	whole := pdftest.Make(pdftest.Page{Scan: pdftest.Scan(400, 600, red)}, pdftest.Page{Text: "End"})
	many := make([]pdftest.Page, pdf.MaxPages+1)
	for name, c := range map[string]struct {
		data []byte
		want error
		says string
	}{
		"empty":     {nil, pdf.ErrNotPDF, "empty"},
		"picture":   {pdftest.Scan(50, 50, red), pdf.ErrNotPDF, ""},
		"encrypted": {pdftest.Encrypted("secret"), pdf.ErrPassword, "without one"},
		"cut":       {whole[:100], pdf.ErrBroken, "cut short"},
		"header":    {[]byte("%PDF-1.7\n"), pdf.ErrBroken, ""},
		"noise":     {append([]byte("%PDF-1.7\n"), bytes.Repeat([]byte("7 0 obj << "), 1000)...), pdf.ErrBroken, ""},
		"no pages":  {pdftest.Make(), pdf.ErrBroken, ""},
		"too many":  {pdftest.Make(many...), pdf.ErrTooLarge, "2000"},
	} {
		d, err := pdf.Open(t.Context(), c.data)
		if err == nil {
			d.Close()
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A password that only guards changes is none to a reader.
	open(t, pdftest.Encrypted(""))
}

func TestBadPageSpoilsNoOther(t *testing.T) {
	d := open(t, pdftest.Make(pdftest.Page{Width: 1, Height: 800}, pdftest.Page{Text: "Good"}))
	if _, err := d.Draw(t.Context(), 0); !errors.Is(err, pdf.ErrBroken) ||
		!strings.Contains(err.Error(), "1 × 800 points") {
		t.Errorf("a page of one point: %v", err)
	}
	drawn(t, d, 1)
	if _, err := d.Draw(t.Context(), 2); !errors.Is(err, pdf.ErrBroken) {
		t.Errorf("a page that is not there: %v", err)
	}
}

// It takes PDFium many seconds to draw this page.
func TestInterruptEndsDrawing(t *testing.T) {
	d := open(t, pdftest.Make(pdftest.Page{Content: strings.Repeat("0 0 500 800 re f 0 0 m 10 900 "+
		"500 900 5 5 c S\n", 300_000)}))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := d.Draw(ctx, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A form that draws itself twice uses up any memory; the next page is none the worse.
func TestMemoryIsBounded(t *testing.T) {
	const form = "<< /Type /XObject /Subtype /Form /BBox [0 0 600 900] /Resources << /XObject << " +
		"/Form 8 0 R >> >> /Length 22 >>\nstream\n/Form Do /Form Do     \nendstream"
	d := open(t, pdftest.Make(
		pdftest.Page{Content: "/Form Do", Form: form},
		pdftest.Page{Text: "Good"},
	))
	if _, err := d.Draw(t.Context(), 0); !errors.Is(err, pdf.ErrTooLarge) {
		t.Errorf("%v", err)
	}
	drawn(t, d, 1)
}

func pngOf(t *testing.T, m image.Image) io.Reader {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return &b
}

func written(t *testing.T, original *pdf.Document, pages ...pdf.Page) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pdf.Write(t.Context(), &b, original, pages); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPicturesBecomePages(t *testing.T) {
	paletted := image.NewPaletted(image.Rect(0, 0, 50, 100),
		color.Palette{color.White, red, color.Black})
	grey := image.NewGray(image.Rect(0, 0, 50, 100))
	colours := image.NewRGBA(image.Rect(0, 0, 50, 100))
	for y := range 100 {
		for x := range 50 {
			at := image.Pt(x, y)
			grey.SetGray(x, y, color.Gray{255})
			colours.Set(x, y, color.RGBA{uint8(5 * x), uint8(2 * y), 255, 255})
			if at.In(image.Rect(0, 0, 25, 50)) {
				paletted.Set(x, y, red)
				grey.SetGray(x, y, color.Gray{0})
				colours.Set(x, y, red)
			}
		}
	}
	a5 := pdf.Size{Width: 210, Height: 420}
	page := func(picture io.Reader, size pdf.Size) pdf.Page {
		return pdf.Page{Picture: picture, Pixels: image.Pt(50, 100), Size: size}
	}
	d := open(t, written(t, nil,
		page(pngOf(t, paletted), a5),
		page(pngOf(t, grey), a5),
		page(pngOf(t, colours), a5),
		page(bytes.NewReader(pdftest.Scan(100, 200, red)), a5),
		page(pngOf(t, paletted), pdf.Size{Width: 420, Height: 420}),
	))
	for n := range 5 {
		p := drawn(t, d, n)
		w, h := p.Pixels.Rect.Dx(), p.Pixels.Rect.Dy()
		inset := 0
		if n == 4 { // in the middle of a wider page
			inset = w / 4
			if p.Size.Width != 420 {
				t.Errorf("page 5 is %v", p.Size)
			}
		} else if p.Size != a5 {
			t.Errorf("page %d is %v", n+1, p.Size)
		}
		corner := p.Pixels.RGBAAt(inset+w/50+2, h/50+2)
		if n == 1 && corner.R > 50 || n != 1 && (corner.R < 150 || corner.G > 80) {
			t.Errorf("page %d has %v in the corner", n+1, corner)
		}
		if end := p.Pixels.RGBAAt(w-inset-w/50-2, h-h/50-2); isRed(p.Pixels, w-inset-5, h-5) ||
			end.B < 200 {
			t.Errorf("page %d has %v at the end", n+1, end)
		}
	}
	var b bytes.Buffer
	clear := image.NewNRGBA(image.Rect(0, 0, 5, 5))
	if err := pdf.Write(t.Context(), &b, nil,
		[]pdf.Page{page(pngOf(t, clear), a5)}); err == nil {
		t.Error("a transparent picture was written")
	}
}

// Pages that stay look as they did, and all else that the document holds stays with them; what a
// picture takes the place of is gone, but its text can be found.
func TestPagesStayAsTheyAre(t *testing.T) {
	original := open(t, pdftest.Make(
		pdftest.Page{Text: "First words"},
		pdftest.Page{Text: "Second words", Scan: pdftest.Scan(200, 300, red)},
		pdftest.Page{Text: "Third words", Rotate: 90, Crop: [4]int{0, 400, 500, 842}},
		pdftest.Page{Text: "Fourth words"},
	))
	before := map[int][]byte{}
	for _, n := range []int{0, 2} {
		before[n] = drawn(t, original, n).Pixels.Pix
	}
	picture := pdftest.Scan(100, 200, color.RGBA{0, 0, 200, 255})
	data := written(t, original,
		pdf.Page{Original: 0},
		pdf.Page{Original: 1, Picture: bytes.NewReader(picture), Pixels: image.Pt(100, 200),
			Corners: pdf.WholePage},
		pdf.Page{Original: 2},
	)
	d := open(t, data)
	if d.Pages() != 3 {
		t.Fatalf("%d pages", d.Pages())
	}
	for n, want := range before {
		if !bytes.Equal(drawn(t, d, n).Pixels.Pix, want) {
			t.Errorf("page %d looks other than it did", n+1)
		}
	}
	if m := drawn(t, d, 1).Pixels; m.RGBAAt(m.Rect.Dx()/4, m.Rect.Dy()/20).B < 150 {
		t.Error("the picture is not on its page")
	}
	for _, words := range []string{"First words", "Second words", "Third words"} {
		if !holds(data, words) {
			t.Errorf("%q is not to be found", words)
		}
	}
	if holds(data, "Fourth words") || bytes.Contains(data, pdftest.Scan(200, 300, red)) {
		t.Error("a page or a picture that is none of it is in the file")
	}
	if !bytes.Contains(data, []byte("(A title)")) {
		t.Error("the title is gone")
	}
}

// Where pages are left out, each of the others keeps the label that it had.
func TestPagesKeepTheirLabels(t *testing.T) {
	const preface = "0 << /S /r >> 2 << /S /D >>"
	for name, c := range map[string]struct {
		catalog string
		want    []string
	}{
		"none": {"", nil},
		"by themselves": {"/PageLabels << /Nums [" + preface + " 4 << /P (A \\(>) /S /D /St 7 >>] >>",
			[]string{"ii", "1", "A (>8"}},
		"elsewhere": {"/PageLabels 8 0 R /Lang (en)", []string{"", "§1", "4"}},
		"in parts": {"/PageLabels << /Kids [ << /Limits [0 2] /Nums [" + preface + "] >> " +
			"<< /Limits [4 4] /Nums [4 << /S /A >>] >> ] >>", []string{"ii", "1", "B"}},
	} {
		pages := make([]pdftest.Page, 6)
		pages[0].Form = // object 8
			"<< /Nums [0 << >> 2 << /P <FEFF00A7> /S /D >> 5 << /S /D /St 4 >>] >>"
		data := pdftest.MakeWith(c.catalog, pages...)
		data = written(t, open(t, data), pdf.Page{Original: 1},
			pdf.Page{Original: 2, Picture: bytes.NewReader(pdftest.Scan(100, 200, red)),
				Pixels: image.Pt(100, 200), Corners: pdf.WholePage},
			pdf.Page{Original: 5})
		got, err := open(t, data).Labels(t.Context())
		if err != nil || !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%s: %q (%v), want %q", name, got, err, c.want)
		}
		if strings.Contains(c.catalog, "Lang") && !bytes.Contains(data, []byte("/Lang(en)")) {
			t.Errorf("%s: the catalog's other entries are gone", name)
		}
		// Some viewers show what is not plain as it stands in the file.
		if slices.Contains(c.want, "ii") && !bytes.Contains(data, []byte("/P (ii)")) {
			t.Errorf("%s: a plain label is not written as it is", name)
		}
	}
}

// holds reports whether a file has words as text, as pdftest or as PDFium writes them.
func holds(file []byte, words string) bool {
	text := pdftest.Streams(file)
	return strings.Contains(text, words) || strings.Contains(text, fmt.Sprintf("<%X>", words))
}

// Wherever the sides of a page lie, a picture that takes its place is upright as displayed, and
// words that are gone from it are gone from the text.
func TestPictureTakesThePlaceOfAPage(t *testing.T) {
	for name, c := range map[string]struct {
		page pdftest.Page
		turn int
		want pdf.Size
	}{
		"upright": {pdftest.Page{Text: "Some words"}, 0, pdf.Size{Width: 595, Height: 842}},
		"turned":  {pdftest.Page{Text: "Some words", Rotate: 270}, 0, pdf.Size{Width: 842, Height: 595}},
		"cropped": {pdftest.Page{Text: "Some words", Crop: [4]int{40, 100, 300, 842}}, 0,
			pdf.Size{Width: 260, Height: 742}},
		"turned by the engine": {pdftest.Page{Text: "Some words"}, 90, pdf.Size{Width: 842, Height: 595}},
	} {
		t.Run(name, func(t *testing.T) {
			w, h := int(c.want.Width), int(c.want.Height)
			original := open(t, pdftest.Make(c.page))
			page := pdf.Page{Turned: c.turn, Corners: pdf.WholePage, Pixels: image.Pt(w, h),
				Picture: bytes.NewReader(pdftest.Scan(w, h, red))}
			if c.turn == 90 {
				page.Corners = pdf.Corners{{0, 1}, {0, 0}, {1, 0}, {1, 1}}
			}
			seen := 0
			under, err := original.TextUnder(t.Context(), 0, page.Corners,
				func(left, top, right, bottom float64) bool {
					seen++
					if !(0 <= left && left < right && right <= 1 && 0 <= top && top < bottom && bottom <= 1) {
						t.Errorf("the words are at %g, %g to %g, %g", left, top, right, bottom)
					}
					return true
				})
			if err != nil || seen != 1 || len(under) != 1 {
				t.Fatalf("%d texts, %v (%v)", seen, under, err)
			}
			for _, dropped := range [][]int{nil, under} {
				page.Dropped, page.Picture = dropped, bytes.NewReader(pdftest.Scan(w, h, red))
				data := written(t, original, page)
				p := drawn(t, open(t, data), 0)
				if p.Size != c.want {
					t.Errorf("the page is %v", p.Size)
				}
				pw, ph := p.Pixels.Rect.Dx(), p.Pixels.Rect.Dy()
				if !isRed(p.Pixels, pw/50, ph/50) || isRed(p.Pixels, pw-pw/50, ph-ph/50) {
					t.Error("the picture is not upright")
				}
				found := holds(data, "Some words")
				if found != (dropped == nil) {
					t.Errorf("with %v dropped, the words are there: %t", dropped, found)
				}
			}
		})
	}
}

// A page is drawn as fine as what is on it.
func TestResolution(t *testing.T) {
	strips := "q 595 0 0 421 0 0 cm /Scan Do Q q 595 0 0 421 0 421 cm /Scan Do Q"
	form := "<< /Type /XObject /Subtype /Form /BBox [0 0 1 1] " +
		"/Resources << /XObject << /Scan 7 0 R >> >> /Length 8 >>\nstream\n/Scan Do\nendstream"
	fine := pdftest.Scan(2480, 1754, red)
	for name, c := range map[string]struct {
		page pdftest.Page
		want float64
	}{
		"text on a coarse background": {pdftest.Page{Text: "Words", Scan: pdftest.Scan(150, 212, red)}, 200},
		"strips":                      {pdftest.Page{Scan: fine, Content: strips}, 300},
		"a scan in a form": {pdftest.Page{Content: "q 595 0 0 842 0 0 cm /Form Do Q", Form: form,
			Scan: pdftest.Scan(2066, 2924, red)}, 250},
		"a small fine picture": {pdftest.Page{Text: "Words",
			Content: "q 50 0 0 50 0 0 cm /Scan Do Q", Scan: nil}, 200},
	} {
		if got := drawn(t, open(t, pdftest.Make(c.page)), 0).DPI; got < c.want-1 || got > c.want+1 {
			t.Errorf("%s: %g dpi, want %g", name, got, c.want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	small := pdftest.Page{Width: 100, Height: 60, Text: "Words", Rotate: 90}
	f.Add(pdftest.Make(small, pdftest.Page{Width: 60, Height: 60, Scan: pdftest.Scan(60, 60, red)}))
	f.Add([]byte("%PDF-1.4\n1 0 obj<</Pages 2 0 R>>endobj 2 0 obj<</Kids[2 0 R]/Count 9>>endobj " +
		"trailer<</Root 1 0 R>>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// for speed: what is slow is no defect
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d, err := pdf.Open(ctx, data)
		if err != nil {
			return
		}
		defer d.Close()
		if p, err := d.Draw(ctx, 0); err == nil &&
			p.Pixels.Rect.Dx()*p.Pixels.Rect.Dy() > pdf.MaxPixels+pdf.MaxPixels/100 {
			t.Errorf("%v pixels", p.Pixels.Rect)
		}
		_ = pdf.Write(ctx, io.Discard, d, []pdf.Page{{Original: 0}})
	})
}
