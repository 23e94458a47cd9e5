package imagefile

import (
	"bytes"
	"context"
	"image"
	"image/gif"
)

var gifFormat = format{
	name: "GIF", endings: []string{".gif"}, mediaType: "image/gif",
	sniff: begins("GIF87a", "GIF89a"),
	open:  parts{size: gifConfig, pixels: decodeGIF}.open,
}

func gifConfig(data []byte) (image.Config, error) { return gif.DecodeConfig(bytes.NewReader(data)) }

// decodeGIF decodes the first frame, on white where it does not fill the canvas.
func decodeGIF(ctx context.Context, data []byte) (image.Image, error) {
	size, err := gifConfig(data)
	if err != nil {
		return nil, err
	}
	m, err := gif.Decode(reading(ctx, data))
	if err != nil {
		return nil, err
	}
	if canvas := image.Rect(0, 0, size.Width, size.Height); m.Bounds() != canvas {
		return onWhite(m, canvas), nil
	}
	return m, nil
}
