package httpapi

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"os"
	"strconv"
	"testing"

	xdraw "golang.org/x/image/draw"

	"unink"
	"unink/internal/browsertest"
)

// BenchmarkPageOverhead is the time from a photo's drop on the front page to its result on the
// screen, without the time of the cleaning: an A4 page at 300 dpi, as JPEG, with its layers.
// ms/request is the part from the first byte sent to the last received.
func BenchmarkPageOverhead(b *testing.B) {
	file, err := os.ReadFile("../../docs/before.jpg")
	if err != nil {
		b.Fatal(err)
	}
	small, err := jpeg.Decode(bytes.NewReader(file))
	if err != nil {
		b.Fatal(err)
	}
	const width, height = 2480, 3508
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	xdraw.CatmullRom.Scale(page, page.Rect, small, small.Bounds(), draw.Src, nil)
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, page, &jpeg.Options{Quality: 92}); err != nil {
		b.Fatal(err)
	}
	handwriting := image.NewNRGBA(page.Rect)
	mask := image.NewGray(page.Rect)
	for y := 1000; y < 3000; y += 100 {
		for x := 300; x < 2200; x++ {
			handwriting.SetNRGBA(x, y+x%40, color.NRGBA{30, 40, uint8(x), 255})
			mask.SetGray(x, y+x%40, color.Gray{255})
		}
	}
	answer := &unink.Result{
		Data: photo.Bytes(), Format: unink.JPEG, Width: width, Height: height,
		Handwriting: encodePNG(b, handwriting), Mask: encodePNG(b, mask),
	}
	s := start(b, &fakeCleaner{clean: func(context.Context, []byte, unink.Options) (
		*unink.Result, error,
	) {
		return answer, nil
	}})
	p := openFront(b, browsertest.Start(b), s.url)
	p.Eval(`window.photo = Uint8Array.from(atob("` + base64.StdEncoding.EncodeToString(photo.Bytes()) +
		`"), (c) => c.charCodeAt(0)), ''`)
	total, request := 0.0, 0.0
	for b.Loop() {
		p.Eval(`(() => {
			const transfer = new DataTransfer();
			transfer.items.add(new File([photo], 'photo.jpg', { type: 'image/jpeg' }));
			const after = document.querySelector('.after'), began = performance.now();
			window.took = undefined;
			const loaded = async () => {
				if (after.naturalWidth != 2480) return; // the example's, which comes late
				after.removeEventListener('load', loaded);
				await after.decode();
				requestAnimationFrame(() => { window.took = performance.now() - began; });
			};
			after.addEventListener('load', loaded);
			document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
		})()`)
		p.Until(`window.took > 0`)
		took, err := strconv.ParseFloat(p.Eval(`took`), 64)
		if err != nil {
			b.Fatal(err)
		}
		total += took
		asked, err := strconv.ParseFloat(
			p.Eval(
				`performance.getEntriesByType('resource').findLast(({ name }) => name.endsWith('/api/process-image')).duration`,
			), 64,
		)
		if err != nil {
			b.Fatal(err)
		}
		request += asked
		p.Press("Remove: photo.jpg")
		p.Until(
			`document.querySelector('#queue').hidden && document.querySelector('.after').naturalWidth == 720`,
		)
	}
	b.ReportMetric(total/float64(b.N), "ms/page")
	b.ReportMetric(request/float64(b.N), "ms/request")
	b.ReportMetric(0, "ns/op")
}
