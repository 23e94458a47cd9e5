package raster

import "image"

// Bilevel says that a picture has nothing but black and white.
func Bilevel(m *image.RGBA) bool {
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		for i := 0; i+3 < len(row); i += 4 {
			if v := row[i]; v != row[i+1] || v != row[i+2] || v != 0 && v != 255 {
				return false
			}
		}
	}
	return true
}

// ToBilevel makes a picture black and white, in place.
func ToBilevel(m *image.RGBA) {
	const middle = 3 * 128
	for y := range m.Rect.Dy() {
		row := m.Pix[y*m.Stride:][:4*m.Rect.Dx()]
		for i := 0; i+3 < len(row); i += 4 {
			v := uint8(0)
			if int(row[i])+int(row[i+1])+int(row[i+2]) >= middle {
				v = 255
			}
			row[i], row[i+1], row[i+2] = v, v, v
		}
	}
}
