package restore

import "image"

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
func contentless(src *image.RGBA) bool {
	g := halved(greyOf(src))
	for max(g.Rect.Dx(), g.Rect.Dy()) > largestSeen && min(g.Rect.Dx(), g.Rect.Dy()) >= 2*smallest {
		g = halved(g)
	}
	for range scalesSeen {
		if marked(g) {
			return false
		}
		g = halved(g)
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

func greyOf(src *image.RGBA) *image.Gray {
	g := image.NewGray(image.Rect(0, 0, src.Rect.Dx(), src.Rect.Dy()))
	for y := range g.Rect.Dy() {
		from, to := src.Pix[y*src.Stride:], g.Pix[y*g.Stride:]
		for x := range g.Rect.Dx() {
			p := from[4*x : 4*x+3]
			to[x] = uint8((int(p[0]) + 2*int(p[1]) + int(p[2])) / 4)
		}
	}
	return g
}

// halved is a picture of half the size, each pixel the mean of four.
func halved(g *image.Gray) *image.Gray {
	to := image.NewGray(image.Rect(0, 0, g.Rect.Dx()/2, g.Rect.Dy()/2))
	for y := range to.Rect.Dy() {
		a, b := g.Pix[2*y*g.Stride:], g.Pix[(2*y+1)*g.Stride:]
		for x := range to.Rect.Dx() {
			to.Pix[y*to.Stride+x] = uint8(
				(int(a[2*x]) + int(a[2*x+1]) + int(b[2*x]) + int(b[2*x+1]) + 2) / 4,
			)
		}
	}
	return to
}
