package cli

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"unink/internal/pdf"
	"unink/internal/pdf/pdftest"
)

// scriptBind is "bind FILE KIND...": it makes a PDF of pages: of text, with blue ink on it, marked
// in a PDF program, lying on their side, blank, scanned, or tiny, which cannot be drawn. FILE may
// be made "encrypted" or "cut" instead.
func scriptBind(ts *testscript.TestScript, _ bool, args []string) {
	var pages []pdftest.Page
	var data []byte
	for i, kind := range args[1:] {
		p := pdftest.Page{Text: fmt.Sprintf("Words of page %d", i+1)}
		switch kind {
		case "text":
		case "ink":
			p.Content = "0 0 1 rg 100 100 m 150 101 l 151 151 l 99 149 l f"
		case "marked":
			p.Extra = "/Annots [<< /Type /Annot /Subtype /Ink /Rect [90 90 210 210] " +
				"/InkList [[100 100 200 120 110 140 200 200]] /C [0 0 1] >>]"
		case "lying":
			p.Rotate = 90
		case "blank":
			p.Text = ""
		case "scanned":
			p = pdftest.Page{Width: 300, Height: 400,
				Scan: pdftest.Scan(600, 800, color.RGBA{0, 0, 255, 255})}
		case "tiny":
			p.Width, p.Height, p.Content = 1, 400, "0 0 m 1 300 l S"
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
	debug.SetGCPercent(50) // as the program does
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
		fmt.Fprintf(&content, "BT /F 12 Tf 60 %d Td (The quick brown fox jumps over the lazy dog, and "+
			"line %d of the page follows it.) Tj ET\n", y, y)
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
		env := &environment{ctx: b.Context(), stdin: strings.NewReader(""), stdout: &log, stderr: &log,
			open: openEngine}
		if code := run(env, []string{"clean", in, "-o", out, "-j",
			strconv.Itoa(jobs)}); code != exitDone {
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
