// Package pdftest makes PDFs for tests.
package pdftest

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"crypto/md5"
	"crypto/rc4"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"strings"
)

// Page is a page to make.
type Page struct {
	Width, Height int    // points; 0 is A4
	Crop          [4]int // left, bottom, right, top; none when zero
	Rotate        int    // degrees clockwise
	Text          string // in Helvetica, near the top
	Content       string // more operators
	Scan          []byte // a JPEG that covers the page, unless Content or Form draws it by /Scan Do
	Form          string // an object of its own, drawn by /Form Do; page 1's is number 8
	Extra         string // more entries of the page's dictionary
}

// Make makes a PDF of pages. It has a title, which is to stay.
func Make(pages ...Page) []byte { return build("", "", pages) }

// MakeWith makes a PDF with more entries of its catalog.
func MakeWith(catalog string, pages ...Page) []byte { return build(catalog, "", pages) }

// Encrypted makes a PDF that needs a password, or none when it is empty: encrypted by the standard
// handler, revision 2 (ISO 32000-1, 7.6.3). What is on the pages comes out as noise.
func Encrypted(password string) []byte {
	const padding = "\x28\xbf\x4e\x5e\x4e\x75\x8a\x41\x64\x00\x4e\x56\xff\xfa" +
		"\x01\x08\x2e\x2e\x00\xb6\xd0\x68\x3e\x80\x2f\x0c\xa9\xfe\x64\x53\x69\x7a"
	const id, keyBytes = "0123456789abcdef", 5
	permissions := int32(-4)
	padded := func(s string) []byte { return []byte((s + padding)[:len(padding)]) }
	encrypt := func(key [md5.Size]byte, data []byte) []byte {
		c, err := rc4.NewCipher(key[:keyBytes])
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(data))
		c.XORKeyStream(out, data)
		return out
	}
	owner := encrypt(md5.Sum(padded("owner")), padded(password))
	seed := append(padded(password), owner...)
	seed = binary.LittleEndian.AppendUint32(seed, uint32(permissions))
	user := encrypt(md5.Sum(append(seed, id...)), []byte(padding))
	trailer := fmt.Sprintf("/ID [<%x> <%[1]x>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <%x> "+
		"/U <%x> /P %d >>", id, owner, user, permissions)
	return build("", trailer, []Page{{}})
}

func build(catalog, trailer string, pages []Page) []byte {
	var b bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&b, format, args...)
		b.WriteString("\nendobj\n")
	}
	stream := func(dictionary string, data []byte) {
		object("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(data), data)
	}
	b.WriteString("%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
	const first, each = 5, 4
	kids := ""
	for i := range pages {
		kids += fmt.Sprintf("%d 0 R ", first+each*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R %s >>", catalog)
	object("<< /Type /Pages /Kids [ %s] /Count %d >>", kids, len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	object("<< /Title (A title) /Author (Somebody) >>")
	for i, p := range pages {
		if p.Width == 0 {
			p.Width, p.Height = 595, 842
		}
		content, scan := "", "null"
		extra := p.Extra
		if p.Crop != [4]int{} {
			extra += fmt.Sprintf(" /CropBox [%d %d %d %d]", p.Crop[0], p.Crop[1], p.Crop[2], p.Crop[3])
		}
		config, err := jpeg.DecodeConfig(bytes.NewReader(p.Scan))
		if err == nil {
			if !strings.Contains(p.Content+p.Form, "/Scan Do") {
				content = fmt.Sprintf("q %d 0 0 %d 0 0 cm /Scan Do Q\n", p.Width, p.Height)
			}
			scan = fmt.Sprintf("%d 0 R", first+each*i+2)
		}
		if p.Text != "" {
			content += fmt.Sprintf("BT /F 24 Tf 50 %d Td (%s) Tj ET\n", p.Height-80, p.Text)
		}
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Rotate %d /Contents %d 0 R %s "+
			"/Resources << /Font << /F 3 0 R >> /XObject << /Scan %s /Form %d 0 R >> >> >>",
			p.Width, p.Height, p.Rotate, first+each*i+1, extra, scan, first+each*i+3)
		stream("", []byte(content+p.Content))
		stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB "+
			"/BitsPerComponent 8 /Filter /DCTDecode",
			config.Width, config.Height), p.Scan)
		object("%s", cmp.Or(p.Form, "null"))
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n",
		len(offsets)+1, trailer, start)
	return b.Bytes()
}

// Scan is a JPEG of so many pixels: paper, rows of marks, and a block of a colour in its upper left
// corner.
func Scan(w, h int, corner color.Color) []byte {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(m, m.Rect, image.NewUniform(color.RGBA{240, 235, 220, 255}), image.Point{}, draw.Src)
	for y := h / 4; y < h*9/10; y += h / 20 {
		for x := w / 10; x < w*9/10; x += w / 30 {
			draw.Draw(m, image.Rect(x, y, x+w/60, y+h/40), image.Black, image.Point{}, draw.Src)
		}
	}
	draw.Draw(m, image.Rect(0, 0, w/5, h/5), image.NewUniform(corner), image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Streams is what the file's compressed streams hold, one after the other.
func Streams(file []byte) string {
	var all bytes.Buffer
	for _, after := range bytes.SplitAfter(file, []byte("stream\r\n"))[1:] {
		if z, err := zlib.NewReader(bytes.NewReader(after)); err == nil {
			_, _ = io.Copy(&all, z) // what is no such stream ends in an error
		}
	}
	return all.String()
}
