package cli

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"unink"
	"unink/internal/pdf"
	"unink/internal/pdf/pdftest"
)

// scriptBind is "bind FILE KIND...": it makes a PDF of pages: of text, with blue ink on it, lying
// on their side, blank, scanned, or tiny, which cannot be drawn. FILE may be made "encrypted" or
// "cut" instead.
func scriptBind(ts *testscript.TestScript, _ bool, args []string) {
	var pages []pdftest.Page
	var data []byte
	for i, kind := range args[1:] {
		p := pdftest.Page{Text: fmt.Sprintf("Words of page %d", i+1)}
		switch kind {
		case "text":
		case "ink":
			p.Content = "0 0 1 rg 100 100 50 50 re f"
		case "lying":
			p.Rotate = 90
		case "blank":
			p.Text = ""
		case "scanned":
			p = pdftest.Page{Width: 300, Height: 400, Scan: pdftest.Scan(600, 800, color.RGBA{0, 0, 255, 255})}
		case "tiny":
			p.Width, p.Height = 1, 400
		case "encrypted":
			data = pdftest.Encrypted("secret")
		case "cut":
			data = pdftest.Make(p)[:200]
		default:
			ts.Fatalf("there is no page %q", kind)
		}
		pages = append(pages, p)
	}
	if data == nil {
		data = pdftest.Make(pages...)
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[0])), 0o755))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// scriptLeaves is "leaves FILE PAGE...": the PDF has these pages, each WxH in points or, when its
// text is still there, WxH:N for the text of the original's page N.
func scriptLeaves(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	var got []string
	for _, size := range sizesOf(ts.Check, data) {
		got = append(got, fmt.Sprintf("%gx%g", size.Width, size.Height))
	}
	text := pdftest.Streams(data)
	var want []string
	for _, page := range args[1:] {
		size, words, kept := strings.Cut(page, ":")
		want = append(want, size)
		if kept && !strings.Contains(text, "(Words of page "+words+")") {
			ts.Fatalf("%s lacks the words of page %s", args[0], words)
		}
	}
	if !slices.Equal(got, want) {
		ts.Fatalf("%s has pages %v, want %v", args[0], got, want)
	}
	kept := strings.Count(strings.Join(args[1:], " "), ":")
	if n := strings.Count(text, "(Words of page "); n != kept {
		ts.Fatalf("%s has the words of %d pages, want %d", args[0], n, kept)
	}
}

func sizesOf(check func(error), data []byte) (sizes []pdf.Size) {
	d, err := pdf.Open(context.Background(), data)
	check(err)
	defer d.Close()
	for n := range d.Pages() {
		p, err := d.Draw(context.Background(), n)
		check(err)
		sizes = append(sizes, p.Size)
	}
	return sizes
}

// painter is an engine that cleans the pages of PDFs as a function does.
type painter struct {
	cleaning
	clean func(ctx context.Context, m image.Image) (*unink.Page, error)
}

func (p painter) CleanImage(ctx context.Context, m image.Image, _ unink.Options) (*unink.Page, error) {
	return p.clean(ctx, m)
}

// planOf plans a PDF whose page n is 100+n points wide.
func planOf(t *testing.T, pages int, c cleanCmd) (p *plan, out string) {
	t.Helper()
	var made []pdftest.Page
	for n := range pages {
		made = append(made, pdftest.Page{Width: 101 + n, Height: 100, Text: "x"})
	}
	in := filepath.Join(t.TempDir(), "exam.pdf")
	if err := os.WriteFile(in, pdftest.Make(made...), 0o600); err != nil {
		t.Fatal(err)
	}
	out = filepath.Join(t.TempDir(), "clean.pdf")
	c.Inputs, c.Out = []string{in}, out
	p, err := c.plan(&environment{ctx: t.Context()}, unink.Auto)
	if err != nil {
		t.Fatal(err)
	}
	return p, out
}

func TestPagesOfPDFStayInOrder(t *testing.T) {
	const pages = 30
	p, out := planOf(t, pages, cleanCmd{})
	// Every second page waits for the one after it.
	var mu sync.Mutex
	seen := 0
	later := make(chan struct{})
	b, log := batchOf(t.Context(), painter{clean: func(_ context.Context, m image.Image) (*unink.Page, error) {
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
	if err := b.run(p); err != nil {
		t.Fatalf("%v\n%s", err, log)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for n, size := range sizesOf(func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}, data) {
		if want := (pdf.Size{Width: float64(101 + n), Height: 100}); size != want {
			t.Errorf("page %d is %v, want %v", n+1, size, want)
		}
	}
	if !strings.Contains(log.String(), fmt.Sprintf("-> %s (%d pages", out, pages)) {
		t.Errorf("the report: %s", log)
	}
}

// A page that was turned upright takes its paper along.
func TestTurnedPageOfPDF(t *testing.T) {
	p, out := planOf(t, 1, cleanCmd{})
	b, _ := batchOf(t.Context(), painter{clean: func(_ context.Context, m image.Image) (*unink.Page, error) {
		size := m.Bounds().Size()
		return &unink.Page{Image: image.NewRGBA(image.Rect(0, 0, size.Y, size.X)), Report: unink.Report{Turned: 90}}, nil
	}}, 1)
	b.keepClean = true // but it was corrected
	if err := b.run(p); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	sizes := sizesOf(func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}, data)
	if want := (pdf.Size{Width: 100, Height: 101}); len(sizes) != 1 || sizes[0] != want {
		t.Errorf("the page is %v, want %v", sizes, want)
	}
}

func TestInterruptLeavesNoPDF(t *testing.T) {
	defer goleak.VerifyNone(t)
	p, out := planOf(t, 5, cleanCmd{})
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	b, _ := batchOf(ctx, painter{clean: func(ctx context.Context, m image.Image) (*unink.Page, error) {
		if m.Bounds().Dx() > 285 { // page 3
			interrupt()
			return nil, &unink.Error{Code: unink.ErrCanceled, Op: "clean", Err: ctx.Err()}
		}
		return &unink.Page{Image: m.(*image.RGBA)}, nil
	}}, 1)
	if err := b.run(p); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
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
		"": "1 2 3 4 5 ", "2-4": "2 3 4 ", "1,3,5-": "1 3 5 ", "-2": "1 2 ", "4, 2": "2 4 ", "3-9": "3 4 5 ", "7": "", "2-3,3-4": "2 3 4 ",
	} {
		ranges, err := parsePages(s)
		if err != nil {
			t.Errorf("%q: %v", s, err)
		}
		got := ""
		for _, page := range ranges.of(5) {
			got += strconv.Itoa(page) + " "
		}
		if got != want {
			t.Errorf("%q: pages %s, want %s", s, got, want)
		}
	}
	for _, s := range []string{"x", "0", "3-2", "-", ",", "1,", "2--3", "-0", "1-0", "1.5"} {
		if r, err := parsePages(s); err == nil {
			t.Errorf("%q is %v", s, r)
		}
	}
}

// cpuTime is what this process has had of the CPUs, which other work on the machine changes little.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkPDF cleans a PDF of 30 pages of A4, of text with a line written under each paragraph,
// with the real engine and two pages at once. It is drawn at 200 dpi.
func BenchmarkPDF(b *testing.B) {
	const pages, jobs = 30, 2
	var content strings.Builder
	for y := 760; y > 60; y -= 20 {
		if y%100 == 0 {
			fmt.Fprintf(&content, "0 0 0.7 RG 1.5 w 60 %d m", y)
			for x := 60; x < 500; x += 20 {
				fmt.Fprintf(&content, " %d %d %d %d %d %d c", x+5, y+18, x+12, y-12, x+20, y+3)
			}
			content.WriteString(" S\n")
			continue
		}
		fmt.Fprintf(&content, "BT /F 12 Tf 60 %d Td (The quick brown fox jumps over the lazy dog, and line %d of the page follows it.) Tj ET\n", y, y)
	}
	made := slices.Repeat([]pdftest.Page{{Content: content.String()}}, pages)
	dir := b.TempDir()
	in, out := filepath.Join(dir, "exam.pdf"), filepath.Join(dir, "clean.pdf")
	if err := os.WriteFile(in, pdftest.Make(made...), 0o600); err != nil {
		b.Fatal(err)
	}
	before := cpuTime(b)
	for b.Loop() {
		var log strings.Builder
		env := &environment{ctx: b.Context(), stdin: strings.NewReader(""), stdout: &log, stderr: &log, open: openEngine}
		if code := run(env, []string{"clean", in, "-o", out, "-j", strconv.Itoa(jobs)}); code != exitDone {
			b.Fatal(log.String())
		}
	}
	info, err := os.Stat(out)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N*pages), "ms/page")
	b.ReportMetric(float64((cpuTime(b)-before).Milliseconds())/float64(b.N*pages), "cpu-ms/page")
	b.ReportMetric(float64(procBytes("/proc/self/status", "VmHWM")>>20), "MiB-peak")
	b.ReportMetric(float64(info.Size())/pages/1024, "KiB/page")
}
