package pdf

import (
	"bufio"
	"bytes"
	"context"
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

// Page is a page to write: a picture, or a page of an original as it is.
type Page struct {
	// Picture is a JPEG, or a PNG without transparency and interlacing; nil for the original's page.
	Picture io.Reader
	// Fax is the size in pixels of a picture that is the code of ITU-T T.6 (Group 4) alone; else zero.
	Fax image.Point
	// Size is the page's; the picture stands in the middle, as large as fits. It is not looked at
	// without a picture.
	Size Size
	// Original is the number of the page, from 0, that stays as it is.
	Original int
}

// Write writes a PDF. The original may be nil when none of its pages stays.
//
// The pages that stay are written by PDFium, as a file that is then continued as the format has
// it, with objects that are new or take the place of old ones (ISO 32000-1, 7.5.6).
func Write(ctx context.Context, to io.Writer, original *Document, pages []Page) error {
	w := &writer{to: bufio.NewWriter(to), offsets: map[int]int64{}, next: firstObject}
	kept, err := w.begin(ctx, original, pages)
	if err != nil {
		return err
	}
	var kids []byte
	for _, p := range pages {
		var number int
		if p.Picture == nil {
			number, kept = kept[0], kept[1:]
		} else if number, err = w.page(p); err != nil {
			return err
		}
		kids = fmt.Appendf(kids, "%d 0 R ", number)
	}
	w.object(catalogObject, "<< /Type /Catalog /Pages %d 0 R >>", pagesObject)
	w.object(pagesObject, "<< /Type /Pages /Count %d /Kids [ %s] >>", len(pages), kids)
	w.end()
	return w.to.Flush()
}

// Objects that every PDF here has; PDFium numbers them like this in a new document.
const (
	catalogObject = 1
	pagesObject   = 2
	firstObject   = 3
)

// writer writes objects and remembers where. What cannot be written is told by the last Flush.
type writer struct {
	to       *bufio.Writer
	at       int64
	offsets  map[int]int64 // by object, of those written here
	next     int           // the first number that is free
	previous int64         // where the earlier table of objects stands; 0 for none
}

func (w *writer) print(format string, args ...any) {
	n, _ := fmt.Fprintf(w.to, format, args...)
	w.at += int64(n)
}

func (w *writer) object(number int, format string, args ...any) {
	w.offsets[number] = w.at
	w.print("%d 0 obj\n", number)
	w.print(format, args...)
	w.print("\nendobj\n")
}

func (w *writer) add(format string, args ...any) (number int) {
	number = w.next
	w.next++
	w.object(number, format, args...)
	return number
}

func (w *writer) stream(dictionary string, data []byte) int {
	return w.add("<< %s /Length %d >>\nstream\n%s\nendstream", dictionary, len(data), data)
}

// begin writes the pages that stay, and returns their objects in order.
func (w *writer) begin(ctx context.Context, original *Document, pages []Page) ([]int, error) {
	var stay []int
	for _, p := range pages {
		if p.Picture == nil {
			stay = append(stay, p.Original)
		}
	}
	if stay == nil {
		w.print("%%PDF-1.7\n%%\xe2\xe3\xcf\xd3\n") // the second line says that the file is binary
		return nil, nil
	}
	file, err := original.extract(ctx, stay)
	if err != nil {
		return nil, err
	}
	w.print("%s\n", file)
	kids, size, err := w.readTables(file)
	if err == nil && len(kids) != len(stay) {
		err = errTables
	}
	w.next = size
	return kids, err
}

var (
	errTables = errors.New("PDFium wrote a file that is not understood")

	kidsPattern = regexp.MustCompile(`^2 0 obj\s*<</Count \d+/Kids\[([0-9R ]*)\]/Type/Pages>>`)
	endPattern  = regexp.MustCompile(
		`/Size (\d+)[^>]*(?:<[^>]*>)*[^>]*>>\s*startxref\s*(\d+)\s*%%EOF\s*$`,
	)
)

// readTables finds what has to be known of a file that PDFium wrote: the objects of its pages, and
// how many objects there are.
func (w *writer) readTables(file []byte) (kids []int, size int, err error) {
	tail := file[max(0, len(file)-1024):]
	end := endPattern.FindSubmatch(tail)
	if end == nil {
		return nil, 0, errTables
	}
	size, _ = strconv.Atoi(string(end[1])) // too large a number fails below
	w.previous, _ = strconv.ParseInt(string(end[2]), 10, 64)
	if w.previous <= 0 || w.previous >= int64(len(file)) {
		return nil, 0, errTables
	}
	// The table's third line, after "xref" and "0 SIZE", is object 0; every line has 20 bytes.
	table := file[w.previous:]
	for range 2 {
		_, table, _ = bytes.Cut(table, []byte("\n"))
	}
	const line = 20
	if size <= pagesObject || len(table) < size*line {
		return nil, 0, errTables
	}
	at, err := strconv.Atoi(string(table[pagesObject*line:][:10]))
	if err != nil || at >= len(file) {
		return nil, 0, errTables
	}
	list := kidsPattern.FindSubmatch(file[at:])
	if list == nil {
		return nil, 0, errTables
	}
	fields := bytes.Fields(list[1])
	for kid := range slices.Chunk(fields, 3) { // such as 4 0 R
		number, err := strconv.Atoi(string(kid[0]))
		if err != nil {
			return nil, 0, errTables
		}
		kids = append(kids, number)
	}
	return kids, size, nil
}

// page writes a page that a picture makes.
func (w *writer) page(p Page) (int, error) {
	data, err := io.ReadAll(p.Picture)
	if err != nil {
		return 0, err
	}
	e := fax(p.Fax, data)
	if p.Fax == (image.Point{}) {
		if e, err = embed(data); err != nil {
			return 0, err
		}
	}
	picture := w.stream(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d "+
		"/BitsPerComponent %d /ColorSpace %s %s",
		e.width, e.height, e.depth, e.colours, e.filter), e.data)
	scale := min(p.Size.Width/float64(e.width), p.Size.Height/float64(e.height))
	width, height := scale*float64(e.width), scale*float64(e.height)
	content := w.stream("", fmt.Appendf(nil, "q %.4f 0 0 %.4f %.4f %.4f cm /P Do Q",
		width, height, (p.Size.Width-width)/2, (p.Size.Height-height)/2))
	return w.add("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 %.4f %.4f] /Resources << /XObject << "+
		"/P %d 0 R >> >> /Contents %d 0 R >>",
		pagesObject, p.Size.Width, p.Size.Height, picture, content), nil
}

// end writes where the objects are.
func (w *writer) end() {
	start := w.at
	w.print("xref\n")
	if w.previous == 0 {
		w.print("0 1\n0000000000 65535 f \n")
	}
	for number := catalogObject; number < w.next; {
		if _, ok := w.offsets[number]; !ok {
			number++
			continue
		}
		run := number
		for w.offsets[run] != 0 {
			run++
		}
		w.print("%d %d\n", number, run-number)
		for ; number < run; number++ {
			w.print("%010d 00000 n \n", w.offsets[number])
		}
	}
	w.print("trailer\n<< /Size %d /Root %d 0 R", w.next, catalogObject)
	if w.previous != 0 {
		w.print(" /Prev %d", w.previous)
	}
	w.print(" >>\nstartxref\n%d\n%%%%EOF\n", start)
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

// embed takes a picture over without decoding it: PDF knows both ways of compression.
func embed(data []byte) (embedded, error) {
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
