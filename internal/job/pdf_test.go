package job

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/pdf"
	"unink/internal/pdf/pdftest"
	"unink/internal/restore/restoretest"
)

// sizesOf are the sizes of a PDF's pages.
func sizesOf(t *testing.T, path string) (sizes []pdf.Size) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := pdf.Open(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for n := range d.Pages() {
		p, err := d.Draw(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, p.Size)
	}
	return sizes
}

// painter is an engine that cleans the pages of PDFs as a function does.
type painter struct {
	cleaning
	clean func(ctx context.Context, m image.Image) (*unink.Page, error)
}

func (p painter) CleanImage(ctx context.Context, m image.Image,
	_ unink.Options) (*unink.Page, error) {
	return p.clean(ctx, m)
}

// planOf plans a PDF whose page n is 100+n points wide.
func planOf(t *testing.T, pages int, r Request) (p *Plan, out string) {
	t.Helper()
	var made []pdftest.Page
	for n := range pages {
		w := 101 + n
		scan := pdftest.Scan(2*w, 200, color.Black)
		made = append(made, pdftest.Page{Width: w, Height: 100, Scan: scan})
	}
	in := filepath.Join(t.TempDir(), "exam.pdf")
	if err := os.WriteFile(in, pdftest.Make(made...), 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(t.TempDir(), "clean.pdf")
	r.Inputs, r.Out = []string{in}, out
	p, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func TestPagesOfPDFStayInOrder(t *testing.T) {
	const pages = 30
	p, out := planOf(t, pages, Request{})
	// Every second page waits for the one after it.
	var mu sync.Mutex
	seen := 0
	later := make(chan struct{})
	report := all(t, p, painter{clean: func(_ context.Context, m image.Image) (*unink.Page, error) {
		mu.Lock()
		seen++
		first := seen%2 == 1
		mine := later
		if !first {
			close(later)
			later = make(chan struct{})
		}
		mu.Unlock()
		if first {
			<-mine
		}
		return &unink.Page{Image: m.(*image.RGBA), Report: unink.Report{Removed: 0.1}}, nil
	}}, 2)
	for n, size := range sizesOf(t, out) {
		if want := (pdf.Size{Width: float64(101 + n), Height: 100}); size != want {
			t.Errorf("page %d is %v, want %v", n+1, size, want)
		}
	}
	if len(report.documents) != 1 || report.documents[0].Output != out ||
		report.documents[0].Pages != pages {
		t.Errorf("the report: %+v", report.documents)
	}
}

// A page that was turned upright takes its paper along.
func TestTurnedPageOfPDF(t *testing.T) {
	p, out := planOf(t, 1, Request{KeepClean: true}) // but it is corrected
	all(t, p, painter{clean: func(_ context.Context, m image.Image) (*unink.Page, error) {
		size := m.Bounds().Size()
		return &unink.Page{Image: image.NewRGBA(image.Rect(0, 0, size.Y, size.X)),
			Report: unink.Report{Turned: 90}}, nil
	}}, 1)
	sizes := sizesOf(t, out)
	if want := (pdf.Size{Width: 100, Height: 101}); len(sizes) != 1 || sizes[0] != want {
		t.Errorf("the page is %v, want %v", sizes, want)
	}
}

// masker is an engine that says that it removed what lies in the upper half of a page, or in the
// lower one.
type masker struct {
	painter
	upper bool
}

func (m masker) CleanImage(_ context.Context, picture image.Image,
	o unink.Options) (*unink.Page, error) {
	page := &unink.Page{Image: image.NewRGBA(picture.Bounds()), Report: unink.Report{Removed: 0.1}}
	draw.Draw(page.Image, page.Image.Rect, image.White, image.Point{}, draw.Src)
	if !o.Layers {
		return page, nil
	}
	part := page.Image.Rect
	if m.upper {
		part.Max.Y /= 2
	} else {
		part.Min.Y = part.Max.Y / 2
	}
	page.Mask = image.NewGray(page.Image.Rect)
	draw.Draw(page.Mask, part, image.White, image.Point{}, draw.Src)
	return page, nil
}

// What a scanner's program read of a page stays to be found, but for words that were removed.
func TestTextOfAScanStays(t *testing.T) {
	const words = "Words that were read"
	data := pdftest.Make(pdftest.Page{Scan: pdftest.Scan(600, 850, color.Black),
		Content: "BT 3 Tr /F 24 Tf 50 700 Td (" + words + ") Tj ET"})
	for _, upper := range []bool{false, true} {
		_, file := cleanedAlone(t, masker{upper: upper}, "scan.pdf", data)
		there := strings.Contains(pdftest.Streams(file), fmt.Sprintf("<%X>", words))
		if there == upper {
			t.Errorf("what is removed is in the upper half: %t; the words are there: %t", upper, there)
		}
	}
}

func TestInterruptLeavesNoPDF(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, out := planOf(t, 5, Request{})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	sum := p.Run(ctx, painter{clean: func(ctx context.Context, m image.Image) (*unink.Page, error) {
		if m.Bounds().Dx() > 205 { // page 3
			interrupt()
			return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Err: ctx.Err()}
		}
		return &unink.Page{Image: m.(*image.RGBA)}, nil
	}}, 1, &told{})
	if !sum.Interrupted {
		t.Errorf("%+v", sum)
	}
	if files, err := os.ReadDir(filepath.Dir(out)); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v (%v)", files, err)
	}
	if d := p.pages[0].document; d.source != nil || d.waits != nil {
		t.Error("the PDF was not closed")
	}
}

func TestPageRanges(t *testing.T) {
	for s, want := range map[string]string{
		"": "1 2 3 4 5 ", "2-4": "2 3 4 ", "1,3,5-": "1 3 5 ", "-2": "1 2 ", "4, 2": "2 4 ",
		"3-9": "3 4 5 ", "7": "", "2-3,3-4": "2 3 4 ",
	} {
		ranges, err := ParsePages(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		got := ""
		for _, page := range ranges.Of(5) {
			got += strconv.Itoa(page) + " "
		}
		if got != want {
			t.Errorf("%q: pages %s, want %s", s, got, want)
		}
	}
	for _, s := range []string{"x", "0", "3-2", "-", ",", "1,", "2--3", "-0", "1-0", "1.5"} {
		if r, err := ParsePages(s); err == nil {
			t.Errorf("%q is %v", s, r)
		}
	}
}

// A photo of a sheet on a desk comes out of a PDF as it comes out of a JPEG: flattened, the desk
// cut away, and what is printed in the same places.
func TestPhotoInPDFIsCleanedAsThePhoto(t *testing.T) {
	engine, err := unink.New(unink.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	page := restoretest.Picture(t, "../../docs/before.jpg")
	size := page.Rect.Size()
	seen := restoretest.OnDesk(page, restoretest.FromAbove(size.X, size.Y))
	photo, err := imagefile.Encode(t.Context(), seen, imagefile.JPEG, imagefile.Meta{})
	if err != nil {
		t.Fatal(err)
	}
	alone, result := cleanedAlone(t, engine, "photo.jpg", photo)
	if !alone.Flattened {
		t.Fatal("the photo is not flattened")
	}
	want, err := imagefile.Decode(t.Context(), result, imagefile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dpi, rotate int }{
		"as fine as it is drawn":   {150, 0},
		"finer than it is drawn":   {400, 0},
		"coarser than it is drawn": {80, 0},
		"lying on its side":        {150, 90},
	} {
		t.Run(name, func(t *testing.T) {
			sheet := size.Mul(72).Div(c.dpi)
			p := pdftest.Page{Width: sheet.X, Height: sheet.Y, Rotate: c.rotate, Scan: photo}
			report, result := cleanedAlone(t, engine, "photo.pdf", pdftest.Make(p))
			d, err := pdf.Open(t.Context(), result)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			got, err := d.Draw(t.Context(), 0)
			if err != nil {
				t.Fatal(err)
			}
			if !report.Flattened {
				t.Error("it is not flattened")
			}
			if share := restoretest.PrintIn(got.Pixels, want.Pixels, 3); share < 0.95 {
				t.Errorf("%.3f of the print lie in the same place", share)
			}
		})
	}
}

// cleanedAlone cleans one file of one page, and returns its report and its result.
func cleanedAlone(t *testing.T, engine Engine, name string, data []byte) (unink.Report, []byte) {
	t.Helper()
	in, out := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Request{Inputs: []string{in}, Out: out}.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	told := all(t, p, engine, 1)
	result, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return told.pages[0].Result.Report, result
}

// A page in black and white is stored as a fax is, and drawn in black and white when it comes
// again.
func TestBlackAndWhitePages(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 1000, 1400))
	draw.Draw(m, m.Rect, image.White, image.Point{}, draw.Src)
	r := rand.New(rand.NewPCG(1, 2))
	for y := 100; y < 1300; y += 40 {
		for x := 100; x < 900; x += 12 + r.IntN(24) {
			for line, at := y, x; line < y+24; line++ { // leaning strokes
				at += r.IntN(3) - 1
				draw.Draw(m, image.Rect(at, line, at+4, line+1), image.Black, image.Point{}, draw.Src)
			}
		}
	}
	data, err := imagefile.Encode(t.Context(), m, imagefile.PNG,
		imagefile.Meta{DPI: [2]float64{150, 150}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in := filepath.Join(dir, "scan.png")
	if err := os.WriteFile(in, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{"once.pdf", "twice.pdf"} {
		p, err := Request{Inputs: []string{in}, Out: filepath.Join(dir, out)}.Plan(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p.Run(t.Context(), painter{clean: unchanged}, 2, &told{})
		in = filepath.Join(dir, out)
		file, err := os.ReadFile(in)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(file, []byte("/CCITTFaxDecode")) || len(file) > len(data)+1000 {
			t.Errorf("%s is no fax, or its %d bytes are more than the PNG's %d", out, len(file), len(data))
		}
		d, err := pdf.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		drawn, err := d.Draw(t.Context(), 0)
		d.Close()
		if err != nil {
			t.Fatal(err)
		}
		if drawn.Pixels.Rect != m.Rect || !bytes.Equal(drawn.Pixels.Pix, m.Pix) {
			t.Errorf("%s: the page is not the picture: %v", out, drawn.Pixels.Rect)
		}
	}
}
