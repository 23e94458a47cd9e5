package pdf

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/zlib"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"regexp"
	"slices"
	"strconv"
)

// Page is a page to write.
type Page struct {
	// Original is the number, from 0, of the original's page that stays, or that the picture shows.
	// Numbers go up from page to page.
	Original int
	// Untouched says that the page stays as it is, with its marks.
	Untouched bool
	// Picture is a JPEG, or a PNG without transparency and interlacing, that takes the place of what
	// the page shows; nil for a page that stays as it is but for its marks.
	Picture io.Reader `json:"-"`
	// Pixels is the picture's size. It stands in the middle of the page, as large as fits.
	Pixels image.Point
	// Fax says that the picture is the code of ITU-T T.6 (Group 4) alone.
	Fax bool
	// Turned is by how many degrees clockwise, in quarters, the picture was turned against the page.
	Turned int
	// Corners are where the picture's corners lay on the page.
	Corners Corners
	// Dropped are the texts that do not stay (TextUnder).
	Dropped []int
	// Size is that of a page without an original.
	Size Size
}

// Write writes a PDF: the original's pages, some with a picture in the place of what they show, and
// all else that it holds, bookmarks and links for instance, decrypted. The original may be nil;
// then every page has a picture.
//
// PDFium writes a file with a stand-in for each picture. It is then continued as the format has it,
// with pictures that take the place of the stand-ins (ISO 32000-1, 7.5.6), so that they are never
// all in memory.
func Write(ctx context.Context, to io.Writer, original *Document, pages []Page) error {
	var err error
	made := original == nil
	if made {
		if original, err = blank(ctx, pages); err != nil {
			return err
		}
		defer original.Close()
	}
	mark := []byte(rand.Text())
	file, labels, err := original.frame(ctx, pages, mark)
	if err != nil {
		return err
	}
	t, err := trailerOf(file)
	if err != nil {
		return err
	}
	places, err := standInsOf(file, mark)
	if err != nil {
		return err
	}
	w := &writer{to: bufio.NewWriter(to)}
	w.print("%s\n", file)
	for i, p := range pages {
		if p.Picture == nil {
			continue
		}
		number, ok := places[i]
		if !ok {
			return errTables
		}
		if err := w.picture(number, p); err != nil {
			return err
		}
	}
	if labels != nil {
		w.relabel(file, t, labels)
	}
	w.end(t, made)
	return w.to.Flush()
}

// blank is a document of empty pages, whose numbers become those of the pages to write.
func blank(ctx context.Context, pages []Page) (*Document, error) {
	d := &Document{KeepMarks: true, pages: len(pages), off: map[int]off{}}
	err := d.with(ctx, func(ctx context.Context, g *guest) error {
		for i, p := range pages {
			page, err := g.Call(ctx, "FPDFPage_New", append([]uint64{g.document, uint64(i)},
				params(p.Size.Width, p.Size.Height)...)...)
			if err != nil {
				return err
			}
			if _, err := g.Call(ctx, "FPDF_ClosePage", page); err != nil {
				return err
			}
			pages[i].Original = i
		}
		return nil
	})
	return d, err
}

var (
	errTables = errors.New("PDFium wrote a file that is not understood")

	rowPattern = regexp.MustCompile(
		`(?s)(\d+) 0 obj\s*<<([^<>]*/Height 1/[^<>]*)>>\s*stream\r?\n`,
	)
	infoPattern    = regexp.MustCompile(`/Info \d+ \d+ R`)
	trailerPattern = regexp.MustCompile(
		`(?s)trailer\s*<<(.*)>>\s*startxref\s*(\d+)\s*%%EOF\s*$`,
	)
)

// trailer is what a file's end says.
type trailer struct {
	table   []byte // of where the objects are
	start   int    // of the table
	entries []byte
}

func trailerOf(file []byte) (t trailer, err error) {
	at := max(0, bytes.LastIndex(file, []byte("trailer")))
	found := trailerPattern.FindSubmatch(file[at:])
	if found == nil {
		return t, errTables
	}
	if t.start, err = strconv.Atoi(string(found[2])); err != nil || t.start > at {
		return t, errTables
	}
	t.table, t.entries = file[t.start:at], found[1]
	return t, nil
}

// standInsOf finds the stand-ins with this mark: the numbers of their objects, by page.
func standInsOf(file, mark []byte) (map[int]int, error) {
	places := map[int]int{}
	for _, at := range rowPattern.FindAllSubmatchIndex(file, -1) {
		z, err := zlib.NewReader(bytes.NewReader(file[at[1]:]))
		if err != nil {
			continue // another picture of one row
		}
		row := make([]byte, 3*(len(mark)+4))
		if _, err := io.ReadFull(z, row); err != nil {
			continue
		}
		for i := range len(row) / 3 {
			row[i] = row[3*i]
		}
		row = row[:len(row)/3]
		if page, ours := bytes.CutPrefix(row, mark); ours {
			number, err := strconv.Atoi(string(file[at[2]:at[3]]))
			if err != nil {
				return nil, errTables
			}
			places[int(binary.BigEndian.Uint32(page))] = number
		}
	}
	return places, nil
}

// writer continues a file, and remembers where its objects are. What cannot be written is told by
// the last Flush.
type writer struct {
	to      *bufio.Writer
	at      int64
	objects []object
}

// object is where an object begins.
type object struct {
	number int
	at     int64
}

func (w *writer) print(format string, args ...any) {
	n, _ := fmt.Fprintf(w.to, format, args...)
	w.at += int64(n)
}

// picture writes a page's picture as the object of that number.
func (w *writer) picture(number int, p Page) error {
	data, err := io.ReadAll(p.Picture)
	if err != nil {
		return err
	}
	e := fax(p.Pixels, data)
	if !p.Fax {
		if e, err = embedCoded(data); err != nil {
			return err
		}
	}
	w.objects = append(w.objects, object{number, w.at})
	w.print("%d 0 obj\n<< /Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent %d "+
		"/ColorSpace %s %s /Length %d >>\nstream\n%s\nendstream\nendobj\n",
		number, e.width, e.height, e.depth, e.colours, e.filter, len(e.data), e.data)
	return nil
}

// end writes where the objects are, and what the file's own end says; of one that was made, not
// what PDFium says of itself.
func (w *writer) end(t trailer, made bool) {
	if made {
		t.entries = infoPattern.ReplaceAll(t.entries, nil)
	}
	start := w.at
	w.print("xref\n")
	slices.SortFunc(w.objects, func(a, b object) int { return cmp.Compare(a.number, b.number) })
	for _, o := range w.objects {
		w.print("%d 1\n%010d 00000 n \n", o.number, o.at)
	}
	w.print("trailer\n<<%s/Prev %d>>\nstartxref\n%d\n%%%%EOF\n", t.entries, t.start, start)
}

// embedded is a picture as a PDF has it.
type embedded struct {
	width, height, depth int
	colours, filter      string
	data                 []byte
}

func fax(size image.Point, data []byte) embedded {
	return embedded{width: size.X, height: size.Y, depth: 1, colours: "/DeviceGray", data: data,
		filter: fmt.Sprintf("/Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns %d /Rows %d >>",
			size.X, size.Y)}
}

var errPicture = errors.New("the picture is of a kind that cannot be put into a PDF")

// embedCoded takes a picture over without decoding it: PDF knows both ways of compression.
func embedCoded(data []byte) (embedded, error) {
	if bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) {
		return embedPNG(data)
	}
	config, err := jpeg.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return embedded{}, err
	}
	e := embedded{width: config.Width, height: config.Height, depth: 8, filter: "/Filter /DCTDecode",
		data: data}
	switch config.ColorModel {
	case color.GrayModel:
		e.colours = "/DeviceGray"
	case color.YCbCrModel:
		e.colours = "/DeviceRGB"
	default:
		return e, errPicture
	}
	return e, nil
}

func embedPNG(data []byte) (e embedded, err error) {
	const grey, rgb, indexed = 0, 2, 3
	const interlace, kind = 12, 9
	var header, palette []byte
	for chunk := data[8:]; len(chunk) >= 12; {
		n := int(binary.BigEndian.Uint32(chunk))
		if n > len(chunk)-12 {
			return e, io.ErrUnexpectedEOF
		}
		switch body := chunk[8 : 8+n]; string(chunk[4:8]) {
		case "IHDR":
			header = body
		case "PLTE":
			palette = body
		case "IDAT":
			e.data = append(e.data, body...)
		}
		chunk = chunk[12+n:]
	}
	if len(header) != 13 || header[interlace] != 0 {
		return e, errPicture
	}
	e.width, e.height = int(binary.BigEndian.Uint32(header)), int(binary.BigEndian.Uint32(header[4:]))
	e.depth = int(header[8])
	samples := 1
	switch header[kind] {
	case grey:
		e.colours = "/DeviceGray"
	case rgb:
		e.colours, samples = "/DeviceRGB", 3
	case indexed:
		e.colours = fmt.Sprintf("[/Indexed /DeviceRGB %d <%x>]", len(palette)/3-1, palette)
	default:
		return e, errPicture
	}
	e.filter = fmt.Sprintf("/Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors %d "+
		"/BitsPerComponent %d /Columns %d >>",
		samples, e.depth, e.width)
	return e, nil
}
