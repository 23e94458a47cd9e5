// Command quality measures the program on pages with exact truth.
//
//	go run ./bench/quality [-data bench/quality/data] [-json]
//
// The pages are made by training/segment/benchmark.py from fonts, hands and layouts that training
// never sees, or by training/segment/pairs.py from real pages and real writing. Each is cleaned in
// the colour finish and held against the same capture with nothing written on it:
//
//	psnr    peak signal-to-noise ratio of the cleaned page, in dB
//	ssim    structural similarity of its luminance (Wang et al., 2004; 8x8 windows)
//	iou     of the removed pixels and the handwriting (intersection over union)
//	left    handwriting left, of what was there (difference to the truth, over the strokes)
//	lost    printed pixels that lost over half of what sets them off from the paper
//	rules   the same, of the pixels of long ruled lines
//	crossed the same, of the pixels that writing lies on
//
// and, of the pages with no handwriting, the share on which nothing at all was erased.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	_ "image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"unink"
	"unink/bench/picture"
)

func main() {
	data := flag.String("data", filepath.Join("bench", "quality", "data"), "folder of the cases")
	asJSON := flag.Bool("json", false, "print JSON")
	flag.Parse()
	if err := run(*data, *asJSON); err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func run(dir string, asJSON bool) error {
	masks, err := filepath.Glob(filepath.Join(dir, "*.mask.png"))
	if err != nil {
		return err
	}
	if len(masks) == 0 {
		return fmt.Errorf("no cases (NN.mask.png) in %s", dir)
	}
	cleaner, err := unink.New(unink.Config{})
	if err != nil {
		return err
	}
	defer func() { _ = cleaner.Close() }()
	var s summary
	for _, mask := range masks {
		stem := strings.TrimSuffix(mask, ".mask.png")
		c, err := load(stem)
		if err != nil {
			return fmt.Errorf("%s: %w", stem, err)
		}
		f, err := c.measure(cleaner)
		if err != nil {
			return fmt.Errorf("%s: %w", stem, err)
		}
		f.Case = filepath.Base(stem)
		s.add(f)
	}
	return s.print(asJSON)
}

// figures of one case; shares are from 0 to 1.
type figures struct {
	Case    string  `json:"case"`
	Blank   bool    `json:"blank"` // nothing was written on it
	PSNR    float64 `json:"psnr"`
	SSIM    float64 `json:"ssim"`
	IoU     float64 `json:"iou"`
	Left    float64 `json:"left"`
	Lost    float64 `json:"lost"`
	Rules   float64 `json:"rules"`
	Crossed float64 `json:"crossed"`
	crossed share   // its pixels; pages have few, so the mean is over the pixels of all pages
	Removed float64 `json:"removed"` // of the page's pixels
}

type summary struct {
	Cases         []figures `json:"cases"`
	Written       figures   `json:"written"` // means
	BlankLost     float64   `json:"blank_lost"`
	NothingErased float64   `json:"nothing_erased"`
}

func (s *summary) add(f figures) { s.Cases = append(s.Cases, f) }

func (s *summary) print(asJSON bool) error {
	var written, blank, untouched float64
	var crossed share
	w := &s.Written
	for _, f := range s.Cases {
		if f.Blank {
			blank++
			s.BlankLost += f.Lost
			if f.Removed == 0 {
				untouched++
			}
			continue
		}
		written++
		w.PSNR, w.SSIM, w.IoU = w.PSNR+f.PSNR, w.SSIM+f.SSIM, w.IoU+f.IoU
		w.Left, w.Lost, w.Rules = w.Left+f.Left, w.Lost+f.Lost, w.Rules+f.Rules
		w.Removed += f.Removed
		crossed.lost, crossed.all = crossed.lost+f.crossed.lost, crossed.all+f.crossed.all
	}
	w.Case = "MEAN"
	for _, v := range []*float64{&w.PSNR, &w.SSIM, &w.IoU, &w.Left, &w.Lost, &w.Rules, &w.Removed} {
		*v /= max(written, 1)
	}
	w.Crossed = crossed.of()
	s.BlankLost /= max(blank, 1)
	s.NothingErased = untouched / max(blank, 1)
	if asJSON {
		return json.NewEncoder(os.Stdout).Encode(s)
	}
	fmt.Printf("%-6s %7s %7s %7s %7s %7s %7s %8s %8s\n", "case", "psnr", "ssim", "iou", "left%",
		"lost%", "rules%", "crossed%", "removed%")
	for _, f := range append(s.Cases, *w) {
		note := ""
		if f.Blank {
			note = "  nothing written"
		}
		fmt.Printf("%-6s %7.2f %7.4f %7.3f %7.2f %7.2f %7.2f %8.2f %8.2f%s\n", f.Case, f.PSNR, f.SSIM,
			f.IoU, 100*f.Left, 100*f.Lost, 100*f.Rules, 100*f.Crossed, 100*f.Removed, note)
	}
	fmt.Printf("of %.0f pages nobody wrote on: nothing erased on %.0f %%, print lost %.2f %%\n", blank,
		100*s.NothingErased, 100*s.BlankLost)
	return nil
}

// testCase is a page written on, the same capture of it with nothing written, and what each
// pixel is.
type testCase struct {
	data    []byte
	written *picture.RGB
	clean   *picture.RGB
	class   []class
	ruled   []bool
}

type class uint8

const (
	paper class = iota
	printed
	hand
	both
	unlabelled
)

func load(stem string) (*testCase, error) {
	c := &testCase{}
	var err error
	if c.data, err = os.ReadFile(stem + ".jpg"); err != nil {
		return nil, err
	}
	if c.written, err = picture.Decode(c.data); err != nil {
		return nil, err
	}
	clean, err := os.ReadFile(stem + ".clean.jpg")
	if err != nil {
		return nil, err
	}
	if c.clean, err = picture.Decode(clean); err != nil {
		return nil, err
	}
	mask, err := os.ReadFile(stem + ".mask.png")
	if err != nil {
		return nil, err
	}
	m, err := png.Decode(bytes.NewReader(mask))
	if err != nil {
		return nil, err
	}
	grey, ok := m.(*image.Gray)
	if !ok || grey.Rect.Dx() != c.written.W || grey.Rect.Dy() != c.written.H {
		return nil, fmt.Errorf("the mask must be 8-bit grey and of the page's size")
	}
	c.class, c.ruled = make([]class, len(grey.Pix)), make([]bool, len(grey.Pix))
	for i, v := range grey.Pix {
		c.ruled[i] = v%80 == 4 || v == 255
		c.class[i] = unlabelled
		if v < 251 {
			c.class[i] = class(v / 80)
		}
	}
	return c, nil
}

func (c *testCase) measure(cleaner *unink.Cleaner) (f figures, err error) {
	r, err := cleaner.Clean(context.Background(), c.data, unink.Options{
		Finish: unink.Colour, Format: unink.PNG, Layers: true, KeepOrientation: true,
		KeepDistortion: true,
	})
	if err != nil {
		return f, err
	}
	after, err := picture.Decode(r.Data)
	if err != nil {
		return f, err
	}
	m, err := png.Decode(bytes.NewReader(r.Mask))
	if err != nil {
		return f, err
	}
	f.Blank = true
	for _, k := range c.class {
		f.Blank = f.Blank && k != hand && k != both
	}
	f.PSNR, f.SSIM = picture.PSNR(after, c.clean), picture.SSIM(after, c.clean)
	f.IoU = c.iou(m)
	f.Left = c.left(after)
	c.countLost(&f, after)
	f.Removed = r.Removed
	return f, nil
}

// iou leaves unlabelled pixels out, which are the soft edges of strokes, and counts removed paper
// within edge pixels of a stroke for neither side: a stroke's rim has to go with it.
func (c *testCase) iou(mask image.Image) float64 {
	const edge = 3
	near := c.near(edge)
	var inter, union float64
	for i, k := range c.class {
		v, _, _, _ := mask.At(i%c.clean.W, i/c.clean.W).RGBA()
		removed, written := v > 0x7fff, k == hand || k == both
		switch {
		case k == unlabelled || !written && near[i]:
		case removed && written:
			inter++
			union++
		case removed || written:
			union++
		}
	}
	if union == 0 {
		return 1
	}
	return inter / union
}

// near marks the pixels within d (by rows and columns) of handwriting.
func (c *testCase) near(d int) []bool {
	w, h := c.clean.W, c.clean.H
	out := make([]bool, w*h)
	for i, k := range c.class {
		if k != hand && k != both {
			continue
		}
		for y := max(i/w-d, 0); y <= min(i/w+d, h-1); y++ {
			for x := max(i%w-d, 0); x <= min(i%w+d, w-1); x++ {
				out[y*w+x] = true
			}
		}
	}
	return out
}

// left compares the strokes with the truth; differences up to tolerance are noise and compression.
func (c *testCase) left(after *picture.RGB) float64 {
	const tolerance = 12
	var was, is float64
	for i, k := range c.class {
		if k == hand {
			was += float64(max(difference(c.written, c.clean, i)-tolerance, 0))
			is += float64(max(difference(after, c.clean, i)-tolerance, 0))
		}
	}
	if was == 0 {
		return 0
	}
	return min(is/was, 1)
}

// difference is the largest difference of the channels at pixel i.
func difference(p, q *picture.RGB, i int) int {
	d := 0
	for ch := range 3 {
		d = max(d, abs(int(p.Pix[3*i+ch])-int(q.Pix[3*i+ch])))
	}
	return d
}

// countLost looks at the printed pixels that stand out from the paper by at least visible.
func (c *testCase) countLost(f *figures, after *picture.RGB) {
	const visible, window = 30, 12
	truth, now := c.clean.Luminance(), after.Luminance()
	light := maxFilter(truth, c.clean.W, c.clean.H, window)
	var all, ruled share
	for i, k := range c.class {
		depth := light[i] - truth[i]
		if k != printed && k != both || depth < visible {
			continue
		}
		lost := now[i]-truth[i] > depth/2
		all.count(true, lost)
		ruled.count(c.ruled[i], lost)
		f.crossed.count(k == both, lost)
	}
	f.Lost, f.Rules, f.Crossed = all.of(), ruled.of(), f.crossed.of()
}

// share is how many of some pixels are lost.
type share struct{ lost, all float64 }

func (s *share) count(counts, lost bool) {
	if counts {
		s.all++
	}
	if counts && lost {
		s.lost++
	}
}

func (s *share) of() float64 { return s.lost / max(s.all, 1) }

// maxFilter is the largest value within d rows and columns.
func maxFilter(v []float64, w, h, d int) []float64 {
	rows, out := make([]float64, len(v)), make([]float64, len(v))
	for i := range v {
		y, x := i/w, i%w
		for j := max(x-d, 0); j <= min(x+d, w-1); j++ {
			rows[i] = max(rows[i], v[y*w+j])
		}
	}
	for i := range v {
		y, x := i/w, i%w
		for j := max(y-d, 0); j <= min(y+d, h-1); j++ {
			out[i] = max(out[i], rows[j*w+x])
		}
	}
	return out
}

func abs(v int) int { return max(v, -v) }
