// Command finish measures the scan finish on pages that were spoilt by their capture.
//
//	go run ./bench/finish [-data bench/finish/data] [-out OUT]
//
// The pages are made by training/finish/benchmark.py; nobody has written on them. Each is cleaned
// in the scan finish and, as it came and as it went, held against the page that was captured.
// Pixels that were taken for handwriting are left out, since another benchmark measures that:
//
//	psnr      peak signal-to-noise ratio, in dB, before and after
//	ssim      structural similarity of the luminance (Wang et al., 2004; 8x8 windows)
//	white     share of the pixels of plain paper that are 250 or lighter in every channel
//	contrast  mean luminance of the paper less that of the print, before and after
//	hue       error of coloured print, in degrees; print that has become grey counts as 90
//	kB        of the result as PNG, were it an A4 page at 150 dpi, on pages of print alone
//	cer       share of the characters that tesseract, where that is installed, reads otherwise than
//	          in the page that was captured, before and after
//
// A figure that misses its bar is marked with an asterisk. OUT takes the results as PNG.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"unink"
	"unink/bench/picture"
	"unink/bench/reading"
	"unink/bench/stage"
)

func main() {
	data := flag.String("data", filepath.Join("bench", "finish", "data"), "folder of the cases")
	out := flag.String("out", "", "folder for the results")
	flag.Parse()
	if err := run(*data, *out); err != nil {
		fmt.Fprintln(os.Stderr, "finish:", err)
		os.Exit(1)
	}
}

// testCase is an entry of cases.json.
type testCase struct {
	Name, Class string
	Text        bool // print alone, no pictures or fills
	OCR         bool // in the Latin alphabet
}

func run(dir, out string) error {
	cases, err := stage.Cases[testCase](dir)
	if err != nil {
		return err
	}
	if out != "" {
		if err := os.MkdirAll(out, 0o755); err != nil {
			return err
		}
	}
	cleaner, err := unink.New(unink.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = cleaner.Close() }()
	b := bench{cleaner: cleaner, dir: dir, out: out, truths: map[string]string{}}
	b.reader, b.reads = reading.Find()
	var classes []string
	sums := map[string]*figures{}
	var all figures
	for _, c := range cases {
		f, err := b.measure(c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		if sums[c.Class] == nil {
			classes = append(classes, c.Class)
			sums[c.Class] = &figures{}
		}
		sums[c.Class].add(f)
		all.add(f)
	}
	fmt.Printf("%-12s %14s %15s %8s %13s %6s %6s %13s\n", "class", "psnr", "ssim", "white%",
		"contrast", "hue", "kB", "cer%")
	for _, class := range classes {
		sums[class].print(class)
	}
	all.print("MEAN")
	return nil
}

type bench struct {
	cleaner  *unink.Cleaner
	dir, out string
	reader   reading.Reader
	reads    bool
	truths   map[string]string // what the reader reads in the pages that were captured
}

func (b *bench) measure(c testCase) (f figures, err error) {
	stem := filepath.Join(b.dir, c.Name)
	data, err := os.ReadFile(stem + ".jpg")
	if err != nil {
		return f, err
	}
	r, err := b.cleaner.Clean(context.Background(), data, unink.Options{
		Finish: unink.Scan, Format: unink.PNG, Layers: true, KeepOrientation: true, KeepDistortion: true,
	})
	if err != nil {
		return f, err
	}
	truth, err := os.ReadFile(stem + ".png")
	if err != nil {
		return f, err
	}
	p := pair{}
	for _, d := range []struct {
		to   **picture.RGB
		data []byte
	}{{&p.before, data}, {&p.after, r.Data}, {&p.truth, truth}, {&p.erased, r.Mask}} {
		if *d.to, err = picture.Decode(d.data); err != nil {
			return f, err
		}
	}
	if p.before.W != p.truth.W || p.before.H != p.truth.H || p.after.W != p.truth.W ||
		p.after.H != p.truth.H {
		return f, fmt.Errorf("the pictures differ in size")
	}
	f = p.compare()
	if c.Text {
		const a4 = 1240 * 1754
		f.kB.add(float64(len(r.Data)) / 1000 * a4 / float64(p.truth.W*p.truth.H))
	}
	if c.OCR && b.reads {
		if err := b.read(&f, data, r.Data, truth); err != nil {
			return f, err
		}
	}
	if b.out != "" {
		err = os.WriteFile(filepath.Join(b.out, c.Name+".png"), r.Data, 0o644)
	}
	return f, err
}

// figures are sums over cases.
type figures struct {
	psnr, ssim, contrast, cer struct{ before, after mean }
	white, hue, kB            mean
}

type mean struct{ sum, n float64 }

func (m *mean) add(v float64)           { m.weigh(v, 1) }
func (m *mean) weigh(v, weight float64) { m.sum, m.n = m.sum+v*weight, m.n+weight }
func (m *mean) take(o mean)             { m.sum, m.n = m.sum+o.sum, m.n+o.n }
func (m mean) value() float64           { return m.sum / max(m.n, 1) }
func (m mean) empty() bool              { return m.n == 0 }

func (f *figures) add(o figures) {
	for i, m := range f.all() {
		m.take(*o.all()[i])
	}
}

func (f *figures) all() []*mean {
	return []*mean{
		&f.psnr.before, &f.psnr.after, &f.ssim.before, &f.ssim.after, &f.contrast.before,
		&f.contrast.after,
		&f.cer.before, &f.cer.after, &f.white, &f.hue, &f.kB,
	}
}

// The bars. A clean scan may lose a little, since it can hardly gain.
const (
	leastWhite  = 0.98
	mostHue     = 10
	mostKB      = 150
	clean       = "scan"
	cleanMargin = 0.5   // dB
	ssimMargin  = 0.005 // of a clean scan
)

func (f *figures) print(class string) {
	margin, likeness := 0.0, 0.0
	if class == clean {
		margin, likeness = cleanMargin, ssimMargin
	}
	var line strings.Builder
	fmt.Fprintf(&line, "%-12s", class)
	field := func(good bool, format string, v ...any) {
		mark := " "
		if !good {
			mark = "*"
		}
		line.WriteString(fmt.Sprintf(format, v...) + mark)
	}
	before, after := f.psnr.before.value(), f.psnr.after.value()
	field(after >= before-margin, " %6.2f→%5.2f", before, after)
	before, after = f.ssim.before.value(), f.ssim.after.value()
	field(after >= before-likeness, " %6.4f→%6.4f", before, after)
	field(f.white.value() >= leastWhite, " %6.2f", 100*f.white.value())
	before, after = f.contrast.before.value(), f.contrast.after.value()
	field(after > before, " %5.1f→%5.1f", before, after)
	if f.hue.empty() {
		line.WriteString("      -")
	} else {
		field(f.hue.value() <= mostHue, " %5.1f", f.hue.value())
	}
	if f.kB.empty() {
		line.WriteString("      -")
	} else {
		field(f.kB.value() <= mostKB, " %5.0f", f.kB.value())
	}
	if !f.cer.before.empty() {
		before, after = f.cer.before.value(), f.cer.after.value()
		field(after <= before, " %5.1f→%5.1f", 100*before, 100*after)
	}
	fmt.Println(strings.TrimRight(line.String(), " "))
}
