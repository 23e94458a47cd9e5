//go:build cgo

package raster

// #cgo CFLAGS: -O3
// #include <stddef.h>
// #include <stdint.h>
// void unink_weigh_rows(uint32_t *line, const uint8_t *first, ptrdiff_t stride,
//                       const uint32_t *weights, int rows, int n);
// void unink_weigh_pixels(uint8_t *red, uint8_t *green, uint8_t *blue, const uint32_t *line,
//                         const int32_t *from, const int32_t *taps, const uint32_t *weights,
//                         uint32_t half, int shift, int n);
// void unink_interpolate(float *to, const float *way, const int32_t *from, const float *columns,
//                        int n);
// void unink_add_pixels(uint32_t *sums, const uint8_t *row, const uint8_t *weights, int n);
// void unink_darkness(uint8_t *to, const uint8_t *row, const float *red, const float *green,
//                     const float *blue, int n);
// void unink_larger(float *to, const float *a, const float *b, int n);
// void unink_lack(uint8_t *to, const uint8_t *from, const float *paper, int n);
// void unink_share(uint8_t *to, const uint8_t *from, const float *paper, int n);
import "C"

import (
	"image"
	"unsafe"

	"golang.org/x/sys/cpu"
)

func init() {
	if cpu.X86.HasAVX2 {
		loops = vectorLoops
	}
}

var vectorLoops = loopSet{resizeVector, interpolateVector, addPixelsVector, darknessVector,
	largerVector, lackVector, shareVector}

func resizeVector(dst *RGB, src *image.RGBA, xs, ys *taps, y0, y1 int) {
	line := make([]uint32, 4*src.Rect.Dx()) // source rows of one target row
	for y := y0; y < y1; y++ {
		from, weight := ys.of(y)
		rows := src.Pix[from*src.Stride:][:(len(weight)-1)*src.Stride+len(line)]
		C.unink_weigh_rows(words(line), bytesAt(rows), C.ptrdiff_t(src.Stride), words(weight),
			C.int(len(weight)), C.int(len(line)))
		C.unink_weigh_pixels(bytesAt(dst.Pix[0][y*dst.W:]), bytesAt(dst.Pix[1][y*dst.W:]),
			bytesAt(dst.Pix[2][y*dst.W:]), words(line), integers(xs.from), integers(xs.first),
			words(xs.weight), weightHalf, 2*weightBits, C.int(dst.W))
	}
}

func interpolateVector(to, way, columns []float32, from []int32) {
	if len(to) > 0 {
		C.unink_interpolate(floats(to), floats(way), integers(from), floats(columns),
			C.int(len(columns)))
	}
}

func addPixelsVector(sums []uint32, row, weights []uint8) {
	if len(weights) > 0 {
		C.unink_add_pixels(words(sums), bytesAt(row), bytesAt(weights), C.int(len(weights)))
	}
}

func darknessVector(to, row []uint8, paper *[3][]float32) {
	if len(to) > 0 {
		C.unink_darkness(bytesAt(to), bytesAt(row), floats(paper[0]), floats(paper[1]),
			floats(paper[2]), C.int(len(to)))
	}
}

func largerVector(dst, a, b []float32) {
	if len(dst) > 0 {
		C.unink_larger(floats(dst), floats(a), floats(b), C.int(len(dst)))
	}
}

func lackVector(to, from []uint8, paper []float32) {
	if len(to) > 0 {
		C.unink_lack(bytesAt(to), bytesAt(from), floats(paper), C.int(len(to)))
	}
}

func shareVector(to, from []uint8, paper []float32) {
	if len(to) > 0 {
		C.unink_share(bytesAt(to), bytesAt(from), floats(paper), C.int(len(to)))
	}
}

func bytesAt(v []uint8) *C.uint8_t  { return (*C.uint8_t)(unsafe.SliceData(v)) }
func words(v []uint32) *C.uint32_t  { return (*C.uint32_t)(unsafe.SliceData(v)) }
func integers(v []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(v)) }
func floats(v []float32) *C.float   { return (*C.float)(unsafe.SliceData(v)) }
