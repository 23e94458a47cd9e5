//go:build !js

package imagefile

import (
	"context"
	"image"
)

const tagSampleFormat = 339

var errTIFFKind = unsupportedError("its kind of samples" + tiffHint)

// unsupported names what of a page the decoder does not know.
func (d directory) unsupported() string {
	const fractions = 3
	if d.number(tagSampleFormat) == fractions {
		return "fractions as samples"
	}
	return ""
}

// decodeTIFF decodes the first page as it is stored.
func decodeTIFF(ctx context.Context, data []byte) (image.Image, error) {
	size, err := tiffConfig(data)
	if err != nil {
		return nil, err
	}
	decoder, err := tiffDecoder()
	if err != nil {
		return nil, err
	}
	pixels := size.Width * size.Height
	in, err := decoder.start(ctx, guestMemory(pixels, len(data)))
	if err != nil {
		return nil, err
	}
	defer in.close()
	file, err := in.put(data)
	if err != nil {
		return nil, err
	}
	out, err := in.alloc(4 * pixels)
	if err != nil {
		return nil, err
	}
	const done, unknown = 1, 2
	result, err := in.decode(file, uint32(len(data)), uint32(size.Width),
		uint32(size.Height), out)
	switch {
	case err != nil:
		return nil, err
	case result == unknown:
		return nil, errTIFFKind
	case result != done:
		return nil, errGuestFailed
	}
	m := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	copy(m.Pix, in.View(out, 4*pixels))
	return m, nil
}
