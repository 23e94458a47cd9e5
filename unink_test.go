package unink_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/raster"
	"unink/internal/restore/restoretest"
)

// page is a small sheet: black bars of print and a blue scrawl.
func page(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = 245
		if i%4 == 3 {
			m.Pix[i] = 255
		}
	}
	for y := 20; y < h-20; y += 30 {
		for x := 20; x < w-20; x++ {
			if x%14 < 4 {
				for d := range 16 {
					m.SetRGBA(x, y+d, color.RGBA{25, 25, 25, 255})
				}
			}
		}
	}
	for t := range 4 * w {
		x := float64(t) / 8
		y := float64(h)/2 + 9*math.Sin(x/4)
		m.SetRGBA(w/4+int(x), int(y), color.RGBA{20, 40, 190, 255})
		m.SetRGBA(w/4+int(x), int(y)+1, color.RGBA{20, 40, 190, 255})
	}
	return m
}

func jpegOf(t testing.TB, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func newCleaner(t testing.TB, l unink.Limits) *unink.Cleaner {
	t.Helper()
	c, err := unink.New(unink.Config{Limits: l})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func TestClean(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	if err := c.Probe(context.Background()); err != nil {
		t.Fatal(err)
	}
	data := jpegOf(t, page(300, 200))
	for _, o := range []unink.Options{
		{Format: unink.PNG, Layers: true},
		{Format: unink.JPEG, Finish: unink.Colour},
		{Format: unink.WebP, Remove: unink.Blue},
		{Finish: unink.Colour},
	} {
		r, err := c.Clean(context.Background(), data, o)
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		info, err := unink.Inspect(r.Data, unink.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if info.Format != r.Format || info.Width != 300 || info.Height != 200 || r.Width != 300 ||
			r.Height != 200 {
			t.Errorf("%+v: result %dx%d %s, its data %+v", o, r.Width, r.Height, r.Format, info)
		}
		if o.Format != unink.Auto && r.Format != o.Format {
			t.Errorf("asked for %s, got %s", o.Format, r.Format)
		}
		if o.Layers {
			checkLayers(t, r)
		} else if r.Handwriting != nil || r.Mask != nil {
			t.Error("layers that were not asked for")
		}
		if r.Timings.Total() < r.Timings["segment"] || r.Timings["segment"] <= 0 {
			t.Errorf("timings %+v", r.Timings)
		}
	}
}

func checkLayers(t *testing.T, r *unink.Result) {
	t.Helper()
	for name, data := range map[string][]byte{"handwriting": r.Handwriting, "mask": r.Mask} {
		m, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Bounds().Dx() != r.Width || m.Bounds().Dy() != r.Height {
			t.Errorf("%s is %v", name, m.Bounds())
		}
	}
}

// Many callers at once get what one alone gets.
func TestConcurrentUse(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	data := jpegOf(t, page(260, 180))
	var wg sync.WaitGroup
	results := make([][]byte, 4)
	for i := range results {
		wg.Go(func() {
			r, err := c.Clean(context.Background(), data, unink.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			results[i] = r.Data
		})
	}
	wg.Wait()
	for _, r := range results {
		if !bytes.Equal(r, results[0]) {
			t.Error("results differ")
		}
	}
}

func TestErrors(t *testing.T) {
	c := newCleaner(t, unink.Limits{MaxBytes: 200_000, MaxPixels: 100_000, MaxSide: 400})
	good := jpegOf(t, page(120, 90))
	stopped, stop := context.WithCancel(context.Background())
	stop()
	blank := image.NewGray(image.Rect(0, 0, 100, 100))
	for i := range blank.Pix {
		blank.Pix[i] = 250
	}
	for name, c2 := range map[string]struct {
		ctx  context.Context
		data []byte
		o    unink.Options
		want unink.Code
	}{
		"bytes":     {nil, make([]byte, 200_001), unink.Options{}, unink.ErrTooLarge},
		"pixels":    {nil, jpegOf(t, page(399, 399)), unink.Options{}, unink.ErrDimensions},
		"side":      {nil, jpegOf(t, page(401, 100)), unink.Options{}, unink.ErrDimensions},
		"tiny":      {nil, jpegOf(t, image.NewGray(image.Rect(0, 0, 1, 1))), unink.Options{}, unink.ErrDimensions},
		"format":    {nil, []byte("no picture at all"), unink.Options{}, unink.ErrFormat},
		"cut short": {nil, good[:len(good)/2], unink.Options{}, unink.ErrBroken},
		"blank":     {nil, jpegOf(t, blank), unink.Options{}, unink.ErrNoContent},
		"stopped":   {stopped, good, unink.Options{}, unink.ErrCanceled},
		"finish":    {nil, good, unink.Options{Finish: 9}, unink.ErrOption},
		"output":    {nil, good, unink.Options{Format: unink.GIF}, unink.ErrOption},
		"ink":       {nil, good, unink.Options{Remove: 0x80}, unink.ErrOption},
	} {
		ctx := c2.ctx
		if ctx == nil {
			ctx = context.Background()
		}
		_, err := c.Clean(ctx, c2.data, c2.o)
		var e *unink.Error
		if !errors.Is(err, c2.want) || !errors.As(err, &e) || e.Message == "" {
			t.Errorf("%s: %v, want %s", name, err, c2.want)
		}
	}
}

func TestUnusableConfig(t *testing.T) {
	if _, err := unink.New(unink.Config{Device: "cuda"}); !errors.Is(err, unink.ErrDevice) {
		t.Errorf("cuda: %v", err)
	}
	if _, err := unink.New(unink.Config{Threads: -1}); !errors.Is(err, unink.ErrOption) {
		t.Errorf("threads: %v", err)
	}
}

func TestParse(t *testing.T) {
	for s, want := range map[string]unink.Finish{
		"": unink.Scan, "scan": unink.Scan, "Colour": unink.Colour, "color": unink.Colour,
	} {
		if got, err := unink.ParseFinish(s); err != nil || got != want {
			t.Errorf("finish %q: %v, %v", s, got, err)
		}
	}
	for s, want := range map[string]unink.Format{
		"": unink.Auto, "PNG": unink.PNG, "jpg": unink.JPEG, "webp": unink.WebP,
	} {
		if got, err := unink.ParseFormat(s); err != nil || got != want {
			t.Errorf("format %q: %v, %v", s, got, err)
		}
	}
	ink, err := unink.ParseInk("blue, Red", "pencil")
	if err != nil || ink != unink.Blue|unink.Red|unink.Pencil || ink.String() != "blue,red,pencil" {
		t.Errorf("inks: %v, %v", ink, err)
	}
	for _, bad := range []func() error{
		func() error { _, err := unink.ParseFinish("glossy"); return err },
		func() error { _, err := unink.ParseFormat("gif"); return err },
		func() error { _, err := unink.ParseInk("blue,"); return err },
		func() error { _, err := unink.ParseInk("pink"); return err },
	} {
		if err := bad(); !errors.Is(err, unink.ErrOption) {
			t.Errorf("%v, want ErrOption", err)
		}
	}
}

func TestDescribe(t *testing.T) {
	d := newCleaner(t, unink.Limits{}).Describe()
	if d.Library == "" || d.Model == "" || d.ModelVersion == "" || len(d.ModelSHA256) != 64 ||
		d.Device != "cpu" || d.Threads < 1 {
		t.Errorf("%+v", d)
	}
}

// A page that lies on its side or head comes back upright, unless it is to stay as it lies.
func TestTurnsPagesUpright(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	data, err := os.ReadFile("docs/before.jpg")
	if err != nil {
		t.Fatal(err)
	}
	m, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	page := image.NewRGBA(m.Bounds())
	draw.Draw(page, page.Rect, m, image.Point{}, draw.Src)
	size := page.Rect.Size()
	for quarters := range 4 {
		turned := raster.Turn(page, quarters)
		got, err := c.CleanImage(context.Background(), turned, unink.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if want := (360 - 90*quarters) % 360; got.Turned != want || got.Image.Rect.Size() != size {
			t.Errorf("turned by %d°: turned back by %d° to %v, want %d° and %v", 90*quarters, got.Turned,
				got.Image.Rect.Size(), want, size)
		}
		got, err = c.CleanImage(context.Background(), turned, unink.Options{KeepOrientation: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Turned != 0 || got.Image.Rect != turned.Rect {
			t.Errorf("turned by %d° and to be kept: turned by %d°, %v", 90*quarters, got.Turned,
				got.Image.Rect)
		}
	}
}

// A page that was photographed upside down and askew is given before the erasing as well: what is
// printed lies there where it lies in the result.
func TestBeforeLiesAsTheResult(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	page := restoretest.Picture(t, "docs/before.jpg")
	askew := restoretest.TurnedBy(4, page.Rect.Dx(), page.Rect.Dy())
	came := raster.Turn(restoretest.Seen(page, askew), 2)
	r, err := c.Clean(context.Background(), jpegOf(t, came),
		unink.Options{Format: unink.PNG, Before: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Turned != 180 || !r.Flattened {
		t.Fatalf("turned by %d°, flattened: %t", r.Turned, r.Flattened)
	}
	after, before := pixelsOf(t, r.Data), pixelsOf(t, r.Before)
	if before.Rect != after.Rect {
		t.Fatalf("%v before, %v after", before.Rect, after.Rect)
	}
	if share := restoretest.PrintIn(before, after, 0); share < 0.97 {
		t.Errorf("%.3f of the print lie in the same place", share)
	}
	if share := restoretest.PrintIn(came, after, 0); share > 0.5 {
		t.Errorf("%.3f lie there in the photo, too: the page tells nothing", share)
	}
}

func pixelsOf(t *testing.T, data []byte) *image.RGBA {
	t.Helper()
	m, err := imagefile.Decode(t.Context(), data, imagefile.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return m.Pixels
}

// The engine works on the caller's own pixels, and changes none of them.
func TestCleanImageLeavesThePixels(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	page := restoretest.Picture(t, "docs/before.jpg")
	was := slices.Clone(page.Pix)
	for _, finish := range []unink.Finish{unink.Scan, unink.Colour} {
		got, err := c.CleanImage(t.Context(), page, unink.Options{Finish: finish, Layers: true})
		if err != nil {
			t.Fatal(err)
		}
		if got.Removed == 0 || !slices.Equal(page.Pix, was) {
			t.Errorf("finish %v: %g removed, and the caller's pixels are changed: %v", finish,
				got.Removed, !slices.Equal(page.Pix, was))
		}
	}
}

// Of a page that lies as it came there is no other picture, nor where none is asked for.
func TestBeforeIsGivenWhereItDiffers(t *testing.T) {
	c := newCleaner(t, unink.Limits{})
	page := restoretest.Picture(t, "docs/before.jpg")
	for name, o := range map[string]unink.Options{
		"as it lies":    {Before: true, KeepOrientation: true, KeepDistortion: true},
		"not asked for": {},
	} {
		p, err := c.CleanImage(context.Background(), raster.Turn(page, 1), o)
		if err != nil {
			t.Fatal(err)
		}
		if p.Before != nil {
			t.Errorf("%s: a picture of %v", name, p.Before.Rect)
		}
	}
}

// Yellow highlighter over a worksheet's print goes, and the print stays.
func TestHighlighterGoes(t *testing.T) {
	data, err := os.ReadFile("docs/after.jpg")
	if err != nil {
		t.Fatal(err)
	}
	was, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	page := image.NewRGBA(was.Bounds())
	draw.Draw(page, page.Rect, was, image.Point{}, draw.Src)
	strip := image.Rect(260, 330, 640, 370)
	for y := strip.Min.Y; y < strip.Max.Y; y++ {
		lean := (strip.Max.Y - y) / 3
		for x := strip.Min.X + lean; x < strip.Max.X+lean; x++ {
			px := page.Pix[page.PixOffset(x, y):][:3]
			px[0], px[1], px[2] = uint8(int(px[0])*252/255), uint8(int(px[1])*250/255),
				uint8(int(px[2])*90/255)
		}
	}
	r, err := newCleaner(t, unink.Limits{}).Clean(
		context.Background(), jpegOf(t, page), unink.Options{Finish: unink.Colour, Format: unink.PNG},
	)
	if err != nil {
		t.Fatal(err)
	}
	cleaned, err := png.Decode(bytes.NewReader(r.Data))
	if err != nil {
		t.Fatal(err)
	}
	sum, n := 0.0, 0.0
	for y := strip.Min.Y; y < strip.Max.Y; y++ {
		for x := strip.Min.X; x < strip.Max.X; x++ {
			a, b := was.At(x, y), cleaned.At(x, y)
			_, _, blue0, _ := a.RGBA()
			_, _, blue1, _ := b.RGBA()
			sum, n = sum+math.Abs(float64(blue0)-float64(blue1))/257, n+1
		}
	}
	if mean := sum / n; mean > 10 { // with all print gone as well it would be 19
		t.Errorf("blue differs by %.1f in the mean where the highlighter was", mean)
	}
}
