package raster

import (
	"image"
	"math"
	"slices"
)

// Warp says where each pixel of a straightened picture comes from: the places at the nodes of a
// grid, bilinear between them. It holds for a picture of any size that shows the same scene.
type Warp struct {
	SrcW, SrcH int // size of the picture it was found on
	W, H       int // size of the straightened one at the same scale
	cols, rows int
	x, y       []float32 // places in the picture it was found on, pixel centres at whole numbers
}

const warpCell = 16 // pixels of the straightened picture between nodes

// NewWarp makes the warp to w × h pixels, from a picture of srcW × srcH, whose pixel at x, y
// comes from at(x, y).
func NewWarp(srcW, srcH, w, h int, at func(x, y float64) (float64, float64)) *Warp {
	m := &Warp{SrcW: srcW, SrcH: srcH, W: w, H: h, cols: (w-1)/warpCell + 2,
		rows: (h-1)/warpCell + 2}
	m.x, m.y = make([]float32, m.cols*m.rows), make([]float32, m.cols*m.rows)
	for i := range m.x {
		x, y := at(float64(i%m.cols*warpCell), float64(i/m.cols*warpCell))
		m.x[i], m.y[i] = float32(x), float32(y)
	}
	return m
}

// Rotation is the warp that turns a picture of w × h pixels anticlockwise about its middle. It
// shows as much as there is across and down through the middle, and at least as far as reach.
func Rotation(w, h int, degrees float64, reach [2]float64) *Warp {
	s, c := math.Sincos(degrees * math.Pi / 180)
	fw, fh := float64(w), float64(h)
	wide := max(math.Abs(c)*fw, math.Abs(s)*fh, 2*reach[0])
	high := max(math.Abs(s)*fw, math.Abs(c)*fh, 2*reach[1])
	return NewWarp(w, h, int(wide+0.5), int(high+0.5), func(x, y float64) (float64, float64) {
		x, y = x-(wide-1)/2, y-(high-1)/2
		return (fw-1)/2 + c*x - s*y, (fh-1)/2 + s*x + c*y
	})
}

// After is the warp that does both: the other one and then m, which was found on its result.
func (m *Warp) After(other *Warp) *Warp {
	sx, sy := float64(other.W)/float64(m.SrcW), float64(other.H)/float64(m.SrcH)
	w, h := m.Size(other.W, other.H)
	ux, uy := float64(m.W)/float64(w), float64(m.H)/float64(h)
	return NewWarp(other.SrcW, other.SrcH, w, h, func(x, y float64) (float64, float64) {
		x, y = m.At((x+0.5)*ux-0.5, (y+0.5)*uy-0.5)
		return other.At((x+0.5)*sx-0.5, (y+0.5)*sy-0.5)
	})
}

// At is where the pixel at x, y of the straightened picture comes from.
func (m *Warp) At(x, y float64) (float64, float64) {
	u, v := x/warpCell, y/warpCell
	i := min(max(int(u), 0), m.cols-2)
	j := min(max(int(v), 0), m.rows-2)
	fu, fv := u-float64(i), v-float64(j)
	k := j*m.cols + i
	mix := func(p []float32) float64 {
		top := float64(p[k]) + fu*float64(p[k+1]-p[k])
		low := float64(p[k+m.cols]) + fu*float64(p[k+m.cols+1]-p[k+m.cols])
		return top + fv*(low-top)
	}
	return mix(m.x), mix(m.y)
}

// Size is the size of the straightened picture of a page of w × h pixels.
func (m *Warp) Size(w, h int) (int, int) {
	scale := math.Sqrt(float64(w) * float64(h) / (float64(m.SrcW) * float64(m.SrcH)))
	return max(1, int(float64(m.W)*scale+0.5)), max(1, int(float64(m.H)*scale+0.5))
}

// Apply resamples an opaque picture with its origin at 0,0, bicubically (Keys 1981, a = -0.5).
// What lies beyond the picture gets the colour of the paper at the nearest border.
func (m *Warp) Apply(src *image.RGBA, workers int) *image.RGBA {
	sw, sh := src.Rect.Dx(), src.Rect.Dy()
	w, h := m.Size(sw, sh)
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	s := &warper{m: m, src: src, w: sw, h: sh, rim: newRim(src),
		ux: float64(m.W) / float64(w), uy: float64(m.H) / float64(h),
		sx: float64(sw) / float64(m.SrcW), sy: float64(sh) / float64(m.SrcH)}
	Rows(h, workers, func(y0, y1 int) {
		for y := y0; y < y1; y++ {
			s.row(dst.Pix[y*dst.Stride:][:4*w], y)
		}
	})
	return dst
}

type warper struct {
	m      *Warp
	src    *image.RGBA
	w, h   int
	rim    *rim
	ux, uy float64 // pixels of the warp per pixel of the result
	sx, sy float64 // pixels of the picture per pixel that the warp was found on
}

const (
	phaseBits = 8
	phases    = 1 << phaseBits
	unitBits  = 11 // a weight of one
)

// cubic holds the four weights of each phase; they sum to 1<<unitBits.
var cubic = func() (out [phases][4]int32) {
	for i := range out {
		f := float64(i) / phases
		k := [4]float64{
			((-0.5*f+1)*f - 0.5) * f,
			(1.5*f-2.5)*f*f + 1,
			((-1.5*f+2)*f + 0.5) * f,
			(0.5*f - 0.5) * f * f,
		}
		left := int32(1 << unitBits)
		for j, v := range k {
			out[i][j] = int32(math.Round(v * (1 << unitBits)))
			left -= out[i][j]
		}
		out[i][1+i/(phases/2)] += left
	}
	return out
}()

// row resamples one row of the result. Between nodes the place moves on by equal steps.
func (s *warper) row(dst []uint8, y int) {
	n := len(dst) / 4
	v := (float64(y)+0.5)*s.uy - 0.5
	for x := 0; x < n; {
		u := (float64(x)+0.5)*s.ux - 0.5
		// The last pixel of this cell, and the places at both ends.
		cell := math.Floor(max(u, 0)/warpCell) + 1
		end := min(n, max(x+1, int(math.Ceil((cell*warpCell+0.5)/s.ux-0.5))))
		x0, y0 := s.m.At(u, v)
		x1, y1 := s.m.At(u+s.ux, v)
		px, py := (x0+0.5)*s.sx-0.5, (y0+0.5)*s.sy-0.5
		dx, dy := (x1-x0)*s.sx, (y1-y0)*s.sy
		s.run(dst[4*x:4*end], px, py, dx, dy)
		x = end
	}
}

// run resamples pixels from px, py on in steps of dx, dy.
func (s *warper) run(dst []uint8, px, py, dx, dy float64) {
	const one = 1 << 16
	n := len(dst) / 4
	within := func(x, y float64) bool {
		return x >= 1 && y >= 1 && x < float64(s.w-3) && y < float64(s.h-3)
	}
	if !within(px, py) || !within(px+dx*float64(n-1), py+dy*float64(n-1)) {
		for i := range n {
			s.rimPixel(dst[4*i:4*i+4:4*i+4], px+dx*float64(i), py+dy*float64(i))
		}
		return
	}
	rounding := one / (2 * phases)
	fx, fy := int(px*one)+rounding, int(py*one)+rounding
	stepX, stepY := int(math.Round(dx*one)), int(math.Round(dy*one))
	for ; len(dst) >= 4; dst = dst[4:] {
		s.pixel((*[4]uint8)(dst), fx>>16, fy>>16, &cubic[fx>>(16-phaseBits)&(phases-1)],
			&cubic[fy>>(16-phaseBits)&(phases-1)])
		fx, fy = fx+stepX, fy+stepY
	}
}

// pixel weighs 4 × 4 pixels around x, y, all within the picture.
func (s *warper) pixel(dst *[4]uint8, x, y int, kx, ky *[4]int32) {
	const rounding = 1 << (2*unitBits - 1)
	at, stride := (y-1)*s.src.Stride+4*(x-1), s.src.Stride
	pix := s.src.Pix
	a, b, c, d := kx[0], kx[1], kx[2], kx[3]
	r, g, bl := int32(rounding), int32(rounding), int32(rounding)
	for _, k := range ky {
		p := (*[16]uint8)(pix[at:])
		r += k * (a*int32(p[0]) + b*int32(p[4]) + c*int32(p[8]) + d*int32(p[12]))
		g += k * (a*int32(p[1]) + b*int32(p[5]) + c*int32(p[9]) + d*int32(p[13]))
		bl += k * (a*int32(p[2]) + b*int32(p[6]) + c*int32(p[10]) + d*int32(p[14]))
		at += stride
	}
	r, g, bl = r>>(2*unitBits), g>>(2*unitBits), bl>>(2*unitBits)
	if uint32(r|g|bl) > 255 {
		r, g, bl = min(max(r, 0), 255), min(max(g, 0), 255), min(max(bl, 0), 255)
	}
	dst[0], dst[1], dst[2], dst[3] = uint8(r), uint8(g), uint8(bl), 255
}

// rimPixel is the pixel at x, y at the picture's border or beyond it.
func (s *warper) rimPixel(dst []uint8, x, y float64) {
	const soft = 1.0 // pixels over which the picture goes over into the paper beyond
	beyond := max(-x, x-float64(s.w-1), -y, y-float64(s.h-1))
	share := min(max(beyond/soft, 0), 1)
	var near [4]float64
	if share < 1 {
		near = s.clamped(x, y)
	}
	if share > 0 {
		paper := s.rim.at(x, y)
		for c := range paper {
			near[c] += share * (paper[c] - near[c])
		}
	}
	for c := range 3 {
		dst[c] = uint8(min(max(near[c]+0.5, 0), 255))
	}
	dst[3] = 255
}

// clamped interpolates bicubically; pixels beyond the border are those at it.
func (s *warper) clamped(x, y float64) (out [4]float64) {
	fx, fy := math.Floor(x), math.Floor(y)
	kx, ky := &cubic[int((x-fx)*phases)], &cubic[int((y-fy)*phases)]
	for j, wy := range ky {
		row := s.src.Pix[min(max(int(fy)+j-1, 0), s.h-1)*s.src.Stride:]
		for i, wx := range kx {
			p := row[4*min(max(int(fx)+i-1, 0), s.w-1):]
			k := float64(wx) * float64(wy) / (1 << (2 * unitBits))
			for c := range 3 {
				out[c] += k * float64(p[c])
			}
		}
	}
	return out
}

// rim is the paper's colour along the borders of a picture, so that no print that is cut off at
// a border is drawn out beyond it.
type rim struct {
	w, h  int
	cell  int
	sides [4][][3]float64 // top, bottom, left, right
}

func newRim(src *image.RGBA) *rim {
	const cells = 20
	r := &rim{w: src.Rect.Dx(), h: src.Rect.Dy()}
	r.cell = max(1, max(r.w, r.h)/cells)
	for side := range r.sides {
		along, across := r.w, r.h
		if side >= 2 {
			along, across = r.h, r.w
		}
		depth := min(r.cell, across)
		for from := 0; from < along; from += r.cell {
			block := image.Rect(from, 0, min(from+r.cell, along), depth)
			switch side {
			case 1:
				block = block.Add(image.Pt(0, r.h-depth))
			case 2, 3:
				block = image.Rect(0, block.Min.X, depth, block.Max.X)
				block = block.Add(image.Pt((side-2)*(r.w-depth), 0))
			}
			r.sides[side] = append(r.sides[side], lightColour(src, block))
		}
	}
	return r
}

// lightColour is the colour that most of a block is no lighter than, channel by channel.
func lightColour(src *image.RGBA, block image.Rectangle) (out [3]float64) {
	const quantile, samples = 0.8, 32 // samples along each side of the block at most
	var v [3][]uint8
	step := 1 + max(block.Dx(), block.Dy())/samples
	for y := block.Min.Y; y < block.Max.Y; y += step {
		for x := block.Min.X; x < block.Max.X; x += step {
			for c := range v {
				v[c] = append(v[c], src.Pix[y*src.Stride+4*x+c])
			}
		}
	}
	for c := range v {
		slices.Sort(v[c])
		out[c] = float64(v[c][int(quantile*float64(len(v[c])-1))])
	}
	return out
}

// at is the paper's colour at the border nearest to x, y; near a corner both borders count.
func (r *rim) at(x, y float64) (out [3]float64) {
	beyond := [4]float64{-y, y - float64(r.h-1), -x, x - float64(r.w-1)}
	total := 0.0
	for side, d := range beyond {
		if d <= 0 {
			continue
		}
		along := x
		if side >= 2 {
			along = y
		}
		colours := r.sides[side]
		p := min(max((along+0.5)/float64(r.cell)-0.5, 0), float64(len(colours)-1))
		i := int(p)
		a, b := colours[i], colours[min(i+1, len(colours)-1)]
		for c := range out {
			out[c] += d * (a[c] + (p-float64(i))*(b[c]-a[c]))
		}
		total += d
	}
	for c := range out {
		out[c] /= total
	}
	return out
}
