package imagefile

import (
	"context"
	"errors"
	"fmt"
	"image"

	"golang.org/x/image/tiff"
)

const tagT4Options = 292

var tiffColours = map[int]string{
	4: "transparency mask", 5: "CMYK", 6: "YCbCr", 8: "CIELab", 9: "ICCLab", 10: "ITULab",
	32844: "LogLuv", 32845: "LogLuv",
}

// unsupported names what of a page the decoder does not know: some of it it would misread, and the
// rest it would refuse with less of a reason.
func (d directory) unsupported() string {
	colours, compression := d.number(tagPhotometric), d.number(tagCompression)
	if name := tiffColours[colours]; name != "" {
		return name + " colours"
	}
	_, samples, _ := d.find(tagBits)
	const separate, blackIsZero, fax, group3, group4 = 2, 1, 2, 3, 4
	switch {
	case compression == 6 || compression == 7:
		return "JPEG compression"
	case compression == 32766 || compression == 32809 || compression == 34676 || compression == 34677:
		return "its compression"
	case d.number(tagPlanar) == separate && samples > 1:
		return "colours in separate planes"
	case compression == fax,
		compression == group3 && d.number(tagT4Options) != 0,
		(compression == group3 || compression == group4) && colours == blackIsZero:
		return "this kind of fax"
	case d.number(tagBits) == 2, d.number(tagBits) == 4:
		return fmt.Sprintf("%d bits a pixel", d.number(tagBits))
	}
	return ""
}

// decodeTIFF decodes the first page as it is stored, by a decoder that knows fewer kinds of TIFF
// than that of the other programs.
func decodeTIFF(ctx context.Context, data []byte) (image.Image, error) {
	m, err := tiff.Decode(reading(ctx, data))
	if unknown := tiff.UnsupportedError(""); errors.As(err, &unknown) {
		err = errors.Join(unsupportedError("its kind of samples"+tiffHint), err)
	}
	return m, err
}
