package imagefile

import (
	"context"
	"image"
)

// The decoders of HEIC and AVIF are WebAssembly, which only an interpreter could run inside of
// WebAssembly: a photo would take minutes.
const heifUnread = true

var errNoDecoder = unsupportedError("its decoder is not built in; save it as JPEG")

func decodeHEIC(context.Context, still, []byte) (image.Image, error) { return nil, errNoDecoder }

func decodeAVIF(context.Context, still, []byte) (image.Image, error) { return nil, errNoDecoder }
