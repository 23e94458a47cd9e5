package restore

import (
	"image"

	"unink/internal/raster"
)

// What tells a mark on a page from noise and from light that changes over it: how sharply the
// picture bends somewhere, against how much it bends where it is calmest. The bends of noise are
// all alike, and halving the picture takes most of them away; those of strokes, print and edges are
// many times larger, and stay. Every page of those that this was tried on has 10,000 and more of
// them.
const (
	sharpBend   = 12   // of 255: less is no mark
	sharperThan = 17   // times the first quartile of all bends; of Gaussian noise that is 5.4 sigma
	fewestBends = 40   // of one word, or
	bendsIn     = 50   // one in so many, where the picture is small
	largestSeen = 1024 // pixels of the longer side
	smallest    = 8    // pixels of the shorter side
	// each half of the one before: a picture that is not sharp shows its marks later
	scalesSeen = 3
)

// contentless reports whether a picture has nothing on it: one colour, a gradient, noise.
func contentless(src *image.RGBA, workers int) bool {
	g := halfGrey(src, workers)
	for max(g.Rect.Dx(), g.Rect.Dy()) > largestSeen && min(g.Rect.Dx(), g.Rect.Dy()) >= 2*smallest {
		g = halved(g, workers)
	}
	for range scalesSeen {
		if marked(g) {
			return false
		}
		g = halved(g, workers)
	}
	return true
}

// marked reports whether a grey picture has marks that are not noise.
func marked(g *image.Gray) bool {
	var bends [2*255 + 1]int // how many there are of each size
	w, h := g.Rect.Dx(), g.Rect.Dy()
	if min(w, h) < smallest {
		return false
	}
	for y := 1; y < h-1; y++ {
		above, row, below := g.Pix[(y-1)*g.Stride:], g.Pix[y*g.Stride:], g.Pix[(y+1)*g.Stride:]
		for x := 1; x < w-1; x++ {
			twice := 2 * int(row[x])
			bends[magnitude(int(row[x-1])-twice+int(row[x+1]))]++
			bends[magnitude(int(above[x])-twice+int(below[x]))]++
		}
	}
	all, calm, sharp := 2*(w-2)*(h-2), 0, 0
	for so := bends[0]; so < all/4; so += bends[calm] {
		calm++
	}
	for _, n := range bends[min(len(bends), max(sharpBend, sharperThan*calm)):] {
		sharp += n
	}
	return sharp >= min(fewestBends, 1+all/bendsIn)
}

func magnitude(n int) int { return max(n, -n) }

// halfGrey is the grey of a picture at half its size.
func halfGrey(src *image.RGBA, workers int) *image.Gray {
	grey := func(p []uint8) int { return (int(p[0]) + 2*int(p[1]) + int(p[2])) / 4 }
	to := image.NewGray(image.Rect(0, 0, src.Rect.Dx()/2, src.Rect.Dy()/2))
	raster.Rows(to.Rect.Dy(), workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			a, b := src.Pix[2*y*src.Stride:], src.Pix[(2*y+1)*src.Stride:]
			row := to.Pix[y*to.Stride:][:to.Rect.Dx()]
			for x := range row {
				p, q := (*[8]uint8)(a[8*x:]), (*[8]uint8)(b[8*x:])
				row[x] = uint8((grey(p[:4]) + grey(p[4:]) + grey(q[:4]) + grey(q[4:]) + 2) / 4)
			}
		}
	})
	return to
}

// halved is a picture at half its size, each pixel the mean of four.
func halved(g *image.Gray, workers int) *image.Gray {
	to := image.NewGray(image.Rect(0, 0, g.Rect.Dx()/2, g.Rect.Dy()/2))
	raster.Rows(to.Rect.Dy(), workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			a, b := g.Pix[2*y*g.Stride:], g.Pix[(2*y+1)*g.Stride:]
			row := to.Pix[y*to.Stride:][:to.Rect.Dx()]
			for x := range row {
				p, q := (*[2]uint8)(a[2*x:]), (*[2]uint8)(b[2*x:])
				row[x] = uint8((int(p[0]) + int(p[1]) + int(q[0]) + int(q[1]) + 2) / 4)
			}
		}
	})
	return to
}
