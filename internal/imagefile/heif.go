package imagefile

import (
	"context"
	"encoding/binary"
	"image"
	"math"
)

var (
	errCodedSize   = problem("the coded size is not the one that the header states")
	errColourSpace = unsupportedError("its kind of colours; save it as JPEG")
)

// guestMemory is how much a decoder may use for a picture of so many pixels, coded in so many
// bytes. Measured: 7 bytes a pixel for HEIC, 20 for AVIF, 33 for AVIF of more than 8 bits.
func guestMemory(pixels, bytes int) int {
	const most = 4<<30 - 64<<10 // what 32-bit addresses reach
	return min(32<<20+3*bytes+40*pixels, most)
}

// decodeHEIC decodes the primary picture, cropped and turned upright.
func decodeHEIC(ctx context.Context, s still, data []byte) (image.Image, error) {
	decoder, err := heifDecoder()
	if err != nil {
		return nil, err
	}
	in, err := decoder.start(ctx, guestMemory(s.coded.X*s.coded.Y, len(data)))
	if err != nil {
		return nil, err
	}
	defer in.close()
	file, err := in.put(data)
	if err != nil {
		return nil, err
	}
	// The decoder looks at the major brand alone, which may be one that stands for several kinds.
	in.Write(file+8, []byte("heic"))

	const width, height, space, chroma, premultiplied, words = 0, 4, 8, 12, 16, 5
	info, err := in.alloc(4 * words)
	if err != nil {
		return nil, err
	}
	decode := func(headerOnly, out uint32) error {
		done, err := in.call("decode", file, uint32(len(data)), headerOnly,
			info+width, info+height, info+space, info+chroma, info+premultiplied, out)
		if err == nil && done == 0 {
			err = errGuestFailed
		}
		return err
	}
	if err := decode(1, 0); err != nil {
		return nil, err
	}
	size := s.upright()
	if int(in.Word(info+width)) != size.X || int(in.Word(info+height)) != size.Y {
		return nil, errCodedSize
	}
	planes, err := heifPlanes(size, in.Word(info+space), in.Word(info+chroma))
	if err != nil {
		return nil, err
	}
	out, err := in.alloc(planes.bytes())
	if err != nil {
		return nil, err
	}
	if err := decode(0, out); err != nil {
		return nil, err
	}
	return planes.picture(in.View(out, planes.bytes()), s.colour), nil
}

// upright is the size once cropped and turned.
func (s still) upright() image.Point {
	size := s.crop.Size()
	if s.orientation >= 5 {
		size.X, size.Y = size.Y, size.X
	}
	return size
}

// planes is how libheif lays out a decoded picture.
type planes struct {
	size           image.Point
	rgba, grey     bool
	ratio          image.YCbCrSubsampleRatio
	stride, cwidth int
}

// heifPlanes takes libheif's names of colour space and chroma.
func heifPlanes(size image.Point, space, chroma uint32) (planes, error) {
	const ycbcr, rgb, monochrome = 0, 1, 2
	p := planes{size: size}
	switch {
	case space == ycbcr && chroma >= 1 && chroma <= 3: // 4:2:0, 4:2:2, 4:4:4
		p.ratio = [...]image.YCbCrSubsampleRatio{1: image.YCbCrSubsampleRatio420,
			2: image.YCbCrSubsampleRatio422, 3: image.YCbCrSubsampleRatio444}[chroma]
	case space == monochrome, space == ycbcr && chroma == 0: // the latter of grey tiles
		p.grey = true
	case space == rgb:
		p.rgba = true
	default:
		return p, errColourSpace
	}
	p.stride = heifStride(size.X)
	if p.rgba {
		p.stride = 4 * p.stride
	}
	right, _ := shifts(p.ratio)
	p.cwidth = heifStride((size.X + 1<<right - 1) >> right)
	return p, nil
}

// heifStride is the length of a row in memory: even, at least 64, a multiple of 16.
func heifStride(width int) int { return (max(width+width&1, 64) + 15) &^ 15 }

func (p planes) chromaHeight() int {
	_, down := shifts(p.ratio)
	return (p.size.Y + 1<<down - 1) >> down
}

func (p planes) bytes() int {
	n := p.stride * p.size.Y
	if !p.rgba && !p.grey {
		n += 2 * p.cwidth * p.chromaHeight()
	}
	return n
}

func (p planes) picture(b []byte, c *cicp) *image.RGBA {
	dst := image.NewRGBA(image.Rectangle{Max: p.size})
	k := newYCC(c)
	luma := p.stride * p.size.Y
	if !p.rgba && !p.grey {
		chroma := p.cwidth * p.chromaHeight()
		k.pixels(dst.Pix, &image.YCbCr{
			Y: b[:luma], Cb: b[luma:][:chroma], Cr: b[luma+chroma:][:chroma],
			YStride: p.stride, CStride: p.cwidth, SubsampleRatio: p.ratio, Rect: dst.Rect,
		})
		return dst
	}
	for y := range p.size.Y {
		row := dst.Pix[y*dst.Stride:][:4*p.size.X]
		src := b[y*p.stride:][:p.stride]
		if p.rgba {
			copy(row, src)
			continue
		}
		for x := range p.size.X {
			v := k.grey(src[x])
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = v, v, v, 255
		}
	}
	return dst
}

// decodeAVIF decodes the (first) picture as it is stored: neither cropped nor turned.
func decodeAVIF(ctx context.Context, s still, data []byte) (image.Image, error) {
	decoder, err := avifDecoder()
	if err != nil {
		return nil, err
	}
	pixels := s.coded.X * s.coded.Y
	in, err := decoder.start(ctx, guestMemory(pixels, len(data)))
	if err != nil {
		return nil, err
	}
	defer in.close()
	file, err := in.put(data)
	if err != nil {
		return nil, err
	}
	const width, height, depth, count, words = 0, 4, 8, 12, 4
	info, err := in.alloc(4 * words)
	if err != nil {
		return nil, err
	}
	decode := func(headerOnly, duration, out uint32) error {
		const all = 0
		done, err := in.call("decode", file, uint32(len(data)), headerOnly, all,
			info+width, info+height, info+depth, info+count, duration, out)
		if err == nil && done == 0 {
			err = errGuestFailed
		}
		return err
	}
	if err := decode(1, 0, 0); err != nil {
		return nil, err
	}
	if int(in.Word(info+width)) != s.coded.X || int(in.Word(info+height)) != s.coded.Y {
		return nil, errCodedSize
	}
	deep := in.Word(info+depth) > 8
	size := 4 * pixels
	if deep {
		size *= 2
	}
	// The duration is written with the pixels: if it is not, there are none, which the decoder
	// does not say.
	const unwritten = math.MaxUint64
	out, err := in.alloc(8 + size)
	if err != nil {
		return nil, err
	}
	in.Write(out, binary.LittleEndian.AppendUint64(nil, unwritten))
	if err := decode(0, out, out+8); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint64(in.View(out, 8)) == unwritten {
		return nil, errGuestFailed
	}
	m := image.NewRGBA(image.Rectangle{Max: s.coded})
	if pix := in.View(out+8, size); deep {
		for i := range m.Pix {
			m.Pix[i] = pix[2*i+1] // the upper byte of a little-endian pair
		}
	} else {
		copy(m.Pix, pix)
	}
	shown := m.SubImage(s.crop).(*image.RGBA)
	shown.Rect = shown.Rect.Sub(s.crop.Min)
	return shown, nil
}
