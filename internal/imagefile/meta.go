package imagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image/jpeg"
	"image/png"
	"strings"

	"github.com/bep/imagemeta"
)

// maxProfile bounds a colour profile; real ones are a few kilobytes, the largest some two
// megabytes.
const maxProfile = 4 << 20

// Meta is what of a file's metadata is kept.
type Meta struct {
	DPI [2]float64 // horizontal and vertical, dots per inch; zero when not stated
	ICC []byte     // colour profile, of RGB or grey; nil when sRGB or not stated
}

// unsupportedError names what of a picture is not supported.
type unsupportedError string

func (e unsupportedError) Error() string { return string(e) }

func isUnsupported(err error) bool {
	var j jpeg.UnsupportedError
	var p png.UnsupportedError
	var u unsupportedError
	return errors.As(err, &j) || errors.As(err, &p) || errors.As(err, &u)
}

// sound is the metadata without what is damaged or says nothing: that is dropped, never an error,
// since the pixels are what matters.
func (m Meta) sound() Meta {
	if !keepProfile(m.ICC) {
		m.ICC = nil
	}
	for _, d := range m.DPI {
		if !(d >= 1 && d <= 1e5) {
			m.DPI = [2]float64{}
		}
	}
	return m
}

type exif struct {
	orientation int
	dpi         [2]float64
}

// exifIn reads the EXIF of files of one kind.
func exifIn(kind imagemeta.ImageFormat) func(data []byte) exif {
	return func(data []byte) exif { return readExif(kind, data) }
}

// readExif reads the orientation and the resolution tags; orientation is 1 when there is none.
func readExif(kind imagemeta.ImageFormat, data []byte) (e exif) {
	e.orientation = 1
	defer func() { _ = recover() }() // hostile EXIF must not stop a good picture
	unit := 1.0
	wanted := map[string]func(float64){
		"Orientation": func(v float64) {
			if v >= 1 && v <= 8 {
				e.orientation = int(v)
			}
		},
		"XResolution": func(v float64) { e.dpi[0] = v },
		"YResolution": func(v float64) { e.dpi[1] = v },
		"ResolutionUnit": func(v float64) {
			if v == 3 { // dots per centimetre
				unit = 2.54
			}
		},
	}
	_, _ = imagemeta.Decode(imagemeta.Options{
		R:           bytes.NewReader(data),
		ImageFormat: kind,
		Sources:     imagemeta.EXIF,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool {
			return t.Namespace == "IFD0" && wanted[t.Tag] != nil
		},
		HandleTag: func(t imagemeta.TagInfo) error {
			if v, ok := number(t.Value); ok {
				wanted[t.Tag](v)
			}
			return nil
		},
		LimitNumTags: 1000,
	})
	e.dpi[0] *= unit
	e.dpi[1] *= unit
	return e
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case uint16:
		return float64(v), true
	case uint32:
		return float64(v), true
	case interface{ Float64() float64 }:
		return v.Float64(), true
	}
	return 0, false
}

// keepProfile says that a profile has something to say of the decoded pixels: it is of RGB or
// grey, and not sRGB by its description. The pixels are RGB once decoded, so a CMYK profile no
// longer tells the truth.
func keepProfile(icc []byte) bool {
	if len(icc) < 132 || string(icc[36:40]) != "acsp" {
		return false
	}
	return isGreyProfile(icc) || string(icc[16:20]) == "RGB " &&
		!strings.Contains(profileName(icc), "sRGB")
}

func isGreyProfile(icc []byte) bool { return len(icc) >= 20 && string(icc[16:20]) == "GRAY" }

// profileName reads the description tag, which is ASCII ("desc") or UTF-16 ("mluc").
func profileName(icc []byte) string {
	n := int(binary.BigEndian.Uint32(icc[128:]))
	for i := 0; i < min(n, 100) && 132+12*i+12 <= len(icc); i++ {
		tag := icc[132+12*i:]
		at, size := int(binary.BigEndian.Uint32(tag[4:])), int(binary.BigEndian.Uint32(tag[8:]))
		if string(tag[:4]) == "desc" && at >= 0 && size >= 0 && size <= 1000 && at <= len(icc)-size {
			return strings.ReplaceAll(string(icc[at:at+size]), "\x00", "")
		}
	}
	return ""
}
