package imagefile

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math/bits"
	"slices"
)

// VP8L is the lossless kind of WebP (RFC 9649). Of what it has we use two transforms, green taken
// from red and blue, and a pixel predicted from those to the left and above, and copies of what
// lies one pixel before or one row above: a page is mostly paper.

// mostVP8L is the most pixels that a side may have.
const mostVP8L = 1 << 14

// encodeVP8L writes an opaque picture as the body of a VP8L chunk. It stops where the context ends.
func encodeVP8L(ctx context.Context, m *image.RGBA) ([]byte, error) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	if max(w, h) > mostVP8L {
		return nil, fmt.Errorf("%w: %d×%d is too large for WebP, which takes %d pixels a side; "+
			"choose PNG or JPEG", ErrDimensions, w, h, mostVP8L)
	}
	pixels, err := residuals(ctx, m)
	if err != nil {
		return nil, err
	}
	out := &bitWriter{}
	out.write(0x2f, 8)
	out.write(uint32(w-1), 14)
	out.write(uint32(h-1), 14)
	out.write(0, 4) // no alpha, version 0
	const predictor, subtractGreen = 0, 2
	out.write(1|subtractGreen<<1, 3)
	out.write(1|predictor<<1, 3)
	out.write(7, 3) // blocks of 512 × 512, all with the same predictor
	out.write(0, 1) // no colour cache
	for _, v := range [5]uint32{predictSelect, 0, 0, 0, 0} {
		out.writeOnly(v)
	}
	out.write(0, 3) // no other transform, no colour cache, one set of codes
	if err := writeTokens(ctx, out, pixels, w); err != nil {
		return nil, err
	}
	return out.bytes(), nil
}

// predictSelect is the predictor that takes the left pixel or the one above, whichever is nearer to
// left + above - corner, the corner being the pixel above the left one.
const predictSelect = 11

// residuals are what the pixels differ from what is predicted: green, red, blue, modulo 256, red
// and blue less green.
func residuals(ctx context.Context, m *image.RGBA) ([]uint32, error) {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	out := make([]uint32, w*h)
	above, row := make([][3]uint8, w), make([][3]uint8, w)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for x, px := 0, m.Pix[y*m.Stride:]; x < w; x, px = x+1, px[4:] {
			row[x] = [3]uint8{px[1], px[0] - px[1], px[2] - px[1]}
			var p [3]uint8
			switch {
			case x > 0 && y > 0:
				p = selected(row[x-1], above[x], above[x-1])
			case x > 0:
				p = row[x-1]
			case y > 0:
				p = above[0]
			}
			out[y*w+x] = uint32(row[x][0]-p[0]) | uint32(row[x][1]-p[1])<<8 | uint32(row[x][2]-p[2])<<16
		}
		above, row = row, above
	}
	return out, nil
}

func selected(left, top, corner [3]uint8) [3]uint8 {
	toLeft, toTop := 0, 0
	for i := range corner {
		toLeft += apart(top[i], corner[i])
		toTop += apart(left[i], corner[i])
	}
	if toLeft < toTop {
		return left
	}
	return top
}

func apart(a, b uint8) int { return int(max(a, b) - min(a, b)) }

// token is a pixel, or a copy of so many pixels before or above it.
type token struct {
	pixel  uint32
	copied uint16 // pixels
	above  bool
}

// eachToken visits a picture of rows of w pixels as tokens.
func eachToken(pixels []uint32, w int, visit func(t token)) {
	const worth, most = 3, 4096 // pixels
	copied := func(i, back int) (n int) {
		for i >= back && i+n < len(pixels) && n < most && pixels[i+n] == pixels[i+n-back] {
			n++
		}
		return n
	}
	for i := 0; i < len(pixels); {
		t := token{pixel: pixels[i]}
		before, above := copied(i, 1), copied(i, w)
		if n := max(before, above); n >= worth {
			t.copied, t.above = uint16(n), above > before
		}
		visit(t)
		i += max(int(t.copied), 1)
	}
}

// The distances, as the format numbers them, of a copy.
const oneRow, onePixel = 1, 2

func (t *token) distance() uint32 {
	if t.above {
		return oneRow
	}
	return onePixel
}

// prefix is the symbol of a length or distance, and its further bits.
func prefix(v uint32) (symbol, extra uint32, n int) {
	v--
	if v < 2 {
		return v, 0, 0
	}
	high := bits.Len32(v) - 1
	n = high - 1
	return uint32(2*high) + v>>n&1, v & (1<<n - 1), n
}

// writeTokens writes the codes of a picture's tokens, and these.
func writeTokens(ctx context.Context, out *bitWriter, pixels []uint32, w int) error {
	const literals = 256
	green, red, blue := make([]uint32, literals+24), make([]uint32, literals), make([]uint32, literals)
	distance := make([]uint32, 40)
	eachToken(pixels, w, func(t token) {
		if t.copied > 0 {
			length, _, _ := prefix(uint32(t.copied))
			symbol, _, _ := prefix(t.distance())
			green[literals+length]++
			distance[symbol]++
			return
		}
		green[t.pixel&255]++
		red[t.pixel>>8&255]++
		blue[t.pixel>>16]++
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	greens, reds, blues := out.writeCode(green), out.writeCode(red), out.writeCode(blue)
	out.writeOnly(0) // alpha
	distances := out.writeCode(distance)
	eachToken(pixels, w, func(t token) {
		if t.copied > 0 {
			length, extra, n := prefix(uint32(t.copied))
			out.writeSymbol(greens, literals+length)
			out.write(extra, n)
			symbol, _, _ := prefix(t.distance())
			out.writeSymbol(distances, symbol)
			return
		}
		out.writeSymbol(greens, t.pixel&255)
		out.writeSymbol(reds, t.pixel>>8&255)
		out.writeSymbol(blues, t.pixel>>16)
	})
	return ctx.Err()
}

// code is the bits of each symbol, the first one lowest, and how many.
type code []struct {
	bits   uint32
	length int
}

const longest = 15 // bits of a symbol

// writeCode writes a code for symbols of these frequencies, and returns it.
func (b *bitWriter) writeCode(frequency []uint32) code {
	c := make(code, len(frequency))
	used := 0
	for _, f := range frequency {
		used += int(min(f, 1))
	}
	if used < 2 { // a symbol that is under 256: a picture begins with a pixel, and distances are few
		only := max(slices.IndexFunc(frequency, func(f uint32) bool { return f > 0 }), 0)
		b.writeOnly(uint32(only))
		return c
	}
	for s, n := range lengths(frequency) {
		c[s].length = n
	}
	b.write(0, 1)
	b.write(15, 4) // all nineteen lengths of the code of lengths:
	b.write(0, 3*2)
	for range 6 {
		b.write(4, 3) // 0 to 5
	}
	b.write(0, 3)
	for range 10 {
		b.write(4, 3) // 6 to 15
	}
	b.write(0, 1) // all symbols follow
	for _, s := range c {
		b.write(bits.Reverse32(uint32(s.length))>>28, 4)
	}
	c.assign()
	return c
}

// assign gives the symbols of each length the bits that follow on each other.
func (c code) assign() {
	next := uint32(0)
	for n := 1; n <= longest; n++ {
		next <<= 1
		for s := range c {
			if c[s].length == n {
				c[s].bits = bits.Reverse32(next) >> (32 - n)
				next++
			}
		}
	}
}

// lengths says how many bits each symbol has. Where the best code would give one more than 15, rare
// symbols count as more frequent than they are.
func lengths(frequency []uint32) []int {
	for shift := 0; ; shift++ {
		if found := depths(frequency, shift); slices.Max(found) <= longest {
			return found
		}
	}
}

// depths are the symbols' depths in the best tree (Huffman, 1952) for their frequencies divided by
// 2^shift, plus one; 0 of those that do not occur.
func depths(frequency []uint32, shift int) []int {
	type node struct {
		weight    uint64
		branches  [2]int // nodes; of a leaf none
		symbol    int    // of a leaf; else -1
		fromAbove int    // depth
	}
	var nodes []node
	var roots []int // by weight
	lighter := func(i, j int) int { return cmp.Compare(nodes[i].weight, nodes[j].weight) }
	for s, f := range frequency {
		if f > 0 {
			roots = append(roots, len(nodes))
			nodes = append(nodes, node{weight: uint64(f)>>shift + 1, symbol: s})
		}
	}
	slices.SortFunc(roots, lighter)
	for len(roots) > 1 {
		p, q := roots[0], roots[1]
		joined := len(nodes)
		nodes = append(nodes, node{weight: nodes[p].weight + nodes[q].weight,
			branches: [2]int{p, q}, symbol: -1})
		roots = roots[2:]
		at, _ := slices.BinarySearchFunc(roots, joined, lighter)
		roots = slices.Insert(roots, at, joined)
	}
	out := make([]int, len(frequency))
	for _, n := range slices.Backward(nodes) {
		if n.symbol >= 0 {
			out[n.symbol] = n.fromAbove
			continue
		}
		for _, i := range n.branches {
			nodes[i].fromAbove = n.fromAbove + 1
		}
	}
	return out
}

// bitWriter writes bits, the lowest first.
type bitWriter struct {
	done  []byte
	left  uint64
	count int
}

func (b *bitWriter) write(v uint32, n int) {
	b.left |= uint64(v) << b.count
	for b.count += n; b.count >= 8; b.count -= 8 {
		b.done = append(b.done, byte(b.left))
		b.left >>= 8
	}
}

// writeOnly writes the code of a single symbol under 256, which then takes no bits.
func (b *bitWriter) writeOnly(symbol uint32) {
	b.write(1|1<<2, 3) // simple, of one symbol of eight bits
	b.write(symbol, 8)
}

func (b *bitWriter) writeSymbol(c code, s uint32) { b.write(c[s].bits, c[s].length) }

func (b *bitWriter) bytes() []byte {
	if b.count > 0 {
		b.write(0, 8-b.count)
	}
	return b.done
}
