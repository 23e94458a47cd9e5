package imagefile

import (
	"image"
	"runtime"

	"unink/internal/raster"
)

// ycc turns luma and chroma into red, green and blue, by tables of 16 fraction bits.
type ycc struct {
	identity       bool // the planes are green, blue and red
	luma           [256]int32
	rv, gu, gv, bu [256]int32
}

// newYCC takes the matrix and the range that are stated; unstated, they are those of JPEG.
func newYCC(c *cicp) *ycc {
	if c == nil {
		c = &cicp{matrix: 6, full: true}
	}
	kr, kb := 0.299, 0.114
	switch c.matrix {
	case 1: // BT.709
		kr, kb = 0.2126, 0.0722
	case 4: // FCC
		kr, kb = 0.30, 0.11
	case 7: // SMPTE 240M
		kr, kb = 0.212, 0.087
	case 9: // BT.2020
		kr, kb = 0.2627, 0.0593
	}
	kg := 1 - kr - kb
	black, lumaScale, chromaScale := 0.0, 1.0, 1.0
	if !c.full {
		black, lumaScale, chromaScale = 16, 255.0/219, 255.0/224
	}
	const one = 1 << 16
	k := &ycc{identity: c.matrix == 0}
	for i := range 256 {
		l, d := lumaScale*(float64(i)-black), chromaScale*(float64(i)-128)
		k.luma[i] = int32(l*one) + one/2
		k.rv[i] = int32(d * 2 * (1 - kr) * one)
		k.bu[i] = int32(d * 2 * (1 - kb) * one)
		k.gu[i] = int32(-d * 2 * (1 - kb) * kb / kg * one)
		k.gv[i] = int32(-d * 2 * (1 - kr) * kr / kg * one)
	}
	return k
}

func (k *ycc) grey(y uint8) uint8 { return clamp(k.luma[y]) }

// row converts a row whose chroma is as wide as its luma.
func (k *ycc) row(dst, y, cb, cr []byte) {
	y = y[:len(dst)/4]
	cb, cr = cb[:len(y)], cr[:len(y)]
	for x, luma := range y {
		p, l, u, v := dst[4*x:4*x+4:4*x+4], k.luma[luma], cb[x], cr[x]
		p[3] = 255
		if k.identity {
			p[0], p[1], p[2] = clamp(k.luma[v]), clamp(l), clamp(k.luma[u])
			continue
		}
		p[0] = clamp(l + k.rv[v])
		p[1] = clamp(l + k.gu[u] + k.gv[v])
		p[2] = clamp(l + k.bu[u])
	}
}

// pixels writes a picture's opaque RGBA pixels. Chroma of half the width or height is interpolated
// as libjpeg does it; where each sample serves four pixels of a row, it is repeated.
func (k *ycc) pixels(dst []byte, m *image.YCbCr) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	right, down := shifts(m.SubsampleRatio)
	last := (h+1<<down-1)>>down - 1
	raster.Rows(h, runtime.GOMAXPROCS(0), func(y0, y1 int) {
		u, v := make([]byte, w), make([]byte, w)
		for y := y0; y < y1; y++ {
			near, far := y, y
			if down == 1 {
				near = y / 2
				far = min(max(near+y%2*2-1, 0), last)
			}
			cb := chromaRow(u, m.Cb[near*m.CStride:], m.Cb[far*m.CStride:], right)
			cr := chromaRow(v, m.Cr[near*m.CStride:], m.Cr[far*m.CStride:], right)
			k.row(dst[4*w*y:][:4*w], m.Y[y*m.YStride:], cb, cr)
		}
	})
}

// shifts are how much less wide and high chroma is than luma, as powers of two.
func shifts(ratio image.YCbCrSubsampleRatio) (right, down int) {
	switch ratio {
	case image.YCbCrSubsampleRatio422:
		return 1, 0
	case image.YCbCrSubsampleRatio420:
		return 1, 1
	case image.YCbCrSubsampleRatio440:
		return 0, 1
	case image.YCbCrSubsampleRatio411:
		return 2, 0
	case image.YCbCrSubsampleRatio410:
		return 2, 1
	}
	return 0, 0
}

// chromaRow is the chroma of a row of pixels, from the two rows of samples next to it, which are
// narrower by a shift. It may use dst.
func chromaRow(dst, near, far []byte, right int) []byte {
	switch {
	case right == 1:
		doubleChroma(dst, near, far)
	case right > 1:
		for x := range dst {
			dst[x] = near[x>>right]
		}
	case &near[0] == &far[0]:
		return near
	default:
		for x := range dst {
			dst[x] = uint8((3*int(near[x]) + int(far[x]) + 2) >> 2)
		}
	}
	return dst
}

// doubleChroma interpolates a row of half as many samples: nine parts of the nearest, three of each
// beside it and one of that across.
func doubleChroma(dst, near, far []byte) {
	near = near[:(len(dst)+1)/2]
	far = far[:len(near)]
	here := 3*int32(near[0]) + int32(far[0])
	before := here
	for i := range len(dst) / 2 {
		after := here
		if i+1 < len(near) {
			after = 3*int32(near[i+1]) + int32(far[i+1])
		}
		pair := dst[2*i : 2*i+2 : 2*i+2]
		pair[0] = uint8((3*here + before + 8) >> 4)
		pair[1] = uint8((3*here + after + 7) >> 4)
		before, here = here, after
	}
	if len(dst)%2 == 1 {
		dst[len(dst)-1] = uint8((3*here + before + 8) >> 4)
	}
}

// clamp rounds down 16 fraction bits, to 0 and 255 at most.
func clamp(v int32) uint8 {
	if uint32(v) < 256<<16 {
		return uint8(v >> 16)
	}
	return uint8(^(v >> 31))
}
