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

// row converts a row; each chroma sample serves 1<<right pixels.
func (k *ycc) row(dst, y, cb, cr []byte, right int) {
	for x, i := 0, 0; i+3 < len(dst); x, i = x+1, i+4 {
		u, v := cb[x>>right], cr[x>>right]
		p := dst[i : i+4 : i+4]
		p[3] = 255
		l := k.luma[y[x]]
		if k.identity {
			p[0], p[1], p[2] = clamp(k.luma[v]), clamp(l), clamp(k.luma[u])
			continue
		}
		p[0] = clamp(l + k.rv[v])
		p[1] = clamp(l + k.gu[u] + k.gv[v])
		p[2] = clamp(l + k.bu[u])
	}
}

// fromLimited writes the opaque RGBA pixels of a picture whose luma goes from 16 to 235, as a video
// frame's does, and whose chroma has half its size. Chroma is interpolated as libwebp does it.
func fromLimited(dst []byte, m *image.YCbCr) {
	k := newYCC(&cicp{matrix: 6})
	w, h := m.Rect.Dx(), m.Rect.Dy()
	last := (h+1)/2 - 1
	raster.Rows(h, runtime.GOMAXPROCS(0), func(y0, y1 int) {
		cb, cr := make([]byte, w), make([]byte, w)
		for y := y0; y < y1; y++ {
			near := y / 2
			far := min(max(near+y%2*2-1, 0), last)
			smoothChroma(cb, m.Cb[near*m.CStride:], m.Cb[far*m.CStride:])
			smoothChroma(cr, m.Cr[near*m.CStride:], m.Cr[far*m.CStride:])
			k.row(dst[4*w*y:][:4*w], m.Y[y*m.YStride:], cb, cr, 0)
		}
	})
}

// smoothChroma interpolates a row between the two rows of chroma next to it: nine parts of the
// nearest sample, three of each beside it and one of that across.
func smoothChroma(dst, near, far []byte) {
	last := (len(dst)+1)/2 - 1
	for x := range dst {
		i := x / 2
		j := min(max(i+x%2*2-1, 0), last)
		a, b, c, d := int(near[i]), int(near[j]), int(far[i]), int(far[j])
		dst[x] = uint8(((a+d+3*(b+c)+8)>>3 + a) >> 1)
	}
}

// clamp rounds down 16 fraction bits.
func clamp(v int32) uint8 { return uint8(min(max(v>>16, 0), 255)) }
