package imagefile

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
)

// What a decoder has to do grows with the picture, whose size is bounded. In some formats it also
// grows with how the file is cut up: such files are refused before they are decoded.

const (
	// mostPasses is how often the scans of a JPEG may go over its picture: once for each of a block's
	// coefficients. Encoders of progressive files need 6 to 12.
	mostPasses = 64
	// A TIFF's strips and tiles may hold so many times the picture's pixels, and a tile's rest beside.
	mostCovered = 4
	wholeTile   = 1 << 20
	// leastTile is how many pixels a strip or tile must have in the mean, beside one strip a row:
	// the format has no smaller tiles.
	leastTile = 16 * 16
)

// checkJPEG refuses a file whose scans go over the picture too often.
func checkJPEG(data []byte) error {
	var frame jpegSegment
	blocks := map[byte]int{} // of each component
	passed, all := 0, 0
	for part := range jpegParts(data) {
		switch part.marker {
		case markSOF0, markSOF0 + 1, markSOF2:
			frame = part
			blocks, all = jpegBlocks(frame)
		case markSOS:
			n := 0
			if len(part.body) > 0 {
				n = int(part.body[0])
			}
			for c := 1; c <= 2*n && c < len(part.body); c += 2 {
				passed += blocks[part.body[c]]
			}
		}
		if passed > mostPasses*all {
			return problem(fmt.Sprintf("its scans go over the picture more than %d times; save it anew",
				mostPasses))
		}
	}
	return nil
}

// jpegBlocks counts the blocks of each component of a frame, by the component's name, and all.
func jpegBlocks(frame jpegSegment) (of map[byte]int, all int) {
	height, width, _, err := frameSize(frame)
	if err != nil {
		return nil, 0
	}
	across, down := 1, 1 // the finest component's samples
	components := frame.body[6:]
	for c := 0; c < len(components); c += 3 {
		across = max(across, int(components[c+1]>>4))
		down = max(down, int(components[c+1]&15))
	}
	of = map[byte]int{}
	for c := 0; c < len(components); c += 3 {
		w := (width*int(components[c+1]>>4) + 8*across - 1) / (8 * across)
		h := (height*int(components[c+1]&15) + 8*down - 1) / (8 * down)
		of[components[c]] += w * h
		all += w * h
	}
	return of, all
}

// checkTIFF refuses a file that is cut into far more, or far larger, parts than its picture needs.
func checkTIFF(data []byte, size image.Config) error {
	d, ok := tiffFirst(data)
	if !ok {
		return nil
	}
	w, h := size.Width, d.number(tagRowsPerStrip)
	if h <= 0 || h > size.Height {
		h = size.Height
	}
	if d.number(tagTileWidth) > 0 {
		w, h = d.number(tagTileWidth), d.number(tagTileLength)
	}
	if w <= 0 || h <= 0 || size.Width <= 0 || size.Height <= 0 {
		return nil // the decoder says what is wrong
	}
	parts := ((size.Width + w - 1) / w) * ((size.Height + h - 1) / h)
	pixels := size.Width * size.Height
	if w > (mostCovered*pixels+wholeTile)/h/parts || parts > size.Height+pixels/leastTile {
		return problem(fmt.Sprintf("it is cut into %d parts of %d×%d pixels for a picture of %d×%d; "+
			"save it anew", parts, w, h, size.Width, size.Height))
	}
	return nil
}

// attentive reads what a decoder asks for, a little at a time, until the context ends. A decoder
// works for long on a few bytes.
type attentive struct {
	ctx context.Context
	*bytes.Reader
}

// attention is how many bytes are read between two looks at the context.
const attention = 512

func (r attentive) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p[:min(len(p), attention)])
}

func (r attentive) ReadAt(p []byte, at int64) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.ReadAt(p, at)
}

func reading(ctx context.Context, data []byte) attentive {
	return attentive{ctx, bytes.NewReader(data)}
}

// attentiveWriter passes on what an encoder writes until the context ends.
type attentiveWriter struct {
	ctx context.Context
	to  io.Writer
}

func (w attentiveWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}
