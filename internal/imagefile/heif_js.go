package imagefile

import (
	"context"
	"image"
)

// Accepted are the formats that are decoded.
const Accepted = "JPEG, PNG, WebP, BMP, TIFF and GIF"

// The decoders of HEIC and AVIF are WebAssembly, which only an interpreter could run inside of
// WebAssembly: a photo would take minutes.
var errNoDecoder = unsupportedError("its decoder is not built in; save it as JPEG")

func decodeHEIC(context.Context, []byte) (*image.RGBA, error) { return nil, errNoDecoder }

func decodeAVIF(context.Context, []byte) (*image.RGBA, error) { return nil, errNoDecoder }
