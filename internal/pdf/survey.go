package pdf

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/tetratelabs/wazero/api"
)

// Objects by their type, as PDFium numbers them.
const (
	textObject  = 1
	pathObject  = 2
	imageObject = 3
	shadeObject = 4
	formObject  = 5
)

// Bounds of a survey. What lies beyond is not looked at, and the page is as if pictures were there.
const (
	mostObjects  = 20_000
	mostSegments = 200_000
	mostNested   = 8 // forms in forms
)

// Content is what is on a page, its marks and form fields apart.
type Content struct {
	Size Size
	// Marks is how many annotations were taken off the page.
	Marks int
	// Strokes is how many strokes of a stylus were taken off the page's own content.
	Strokes int
	// Printed says that there is nothing on it but text, shadings, and lines and areas along its
	// sides: nobody wrote that by hand.
	Printed bool
	// Text says that there is text on it, seen or unseen.
	Text bool
	// Unheld says that it has text in other than Latin letters whose font the file does not hold, so
	// that it cannot be drawn.
	Unheld bool
}

// Look looks at what is on a page, counted from 0.
func (d *Document) Look(ctx context.Context, n int) (c Content, err error) {
	err = d.page(ctx, n, func(ctx context.Context, g *guest, page uint64) error {
		s, err := g.survey(ctx, page)
		if err != nil {
			return err
		}
		if s.unheld {
			if c.Unheld, err = g.otherThanLatin(ctx, page); err != nil {
				return err
			}
		}
		c.Printed = s.whole && len(s.images) == 0 && !s.drawn
		c.Text, c.Marks, c.Strokes = s.text, d.off[n].marks, d.off[n].strokes
		c.Size, err = g.size(ctx, page)
		return err
	})
	return c, err
}

// survey is what a look at all objects of a page told.
type survey struct {
	images   []placed
	text     bool // there is text
	vectors  bool // there is text to be seen, or there are lines or areas
	drawn    bool // there are lines of other directions than the page's sides
	unheld   bool // there is text in a font that the file does not hold
	whole    bool // all of it was looked at
	objects  int
	segments int
}

// placed is a picture's resolution, and the share of the page that it covers.
type placed struct{ dpi, share float64 }

func (g *guest) survey(ctx context.Context, page uint64) (*survey, error) {
	size, err := g.size(ctx, page)
	if err != nil {
		return nil, err
	}
	out, err := g.Alloc(ctx, 24)
	if err != nil {
		return nil, err
	}
	s := &surveyor{guest: g, out: out, of: size.Width * size.Height}
	s.whole = true
	if err := s.objectsOf(ctx, page, "FPDFPage_CountObjects", "FPDFPage_GetObject", 1, 0); err != nil {
		return nil, err
	}
	_, err = g.Call(ctx, "free", uint64(out))
	return &s.survey, err
}

// surveyor goes through the objects of a page, and of the forms on it.
type surveyor struct {
	*guest
	survey
	out uint32  // 24 bytes
	of  float64 // the page's area, in square points
}

// objectsOf looks at the objects of a page or a form. Areas on it are so many times as large on
// the page.
func (s *surveyor) objectsOf(ctx context.Context, of uint64, count, get string, larger float64,
	nested int) error {
	n, err := s.Call(ctx, count, of)
	if err != nil {
		return err
	}
	for i := range uint64(max(0, int32(n))) {
		if s.objects++; s.objects > mostObjects {
			s.whole = false
			return nil
		}
		object, err := s.Call(ctx, get, of, i)
		if err != nil {
			return err
		}
		if err := s.object(ctx, object, larger, nested); err != nil {
			return err
		}
	}
	return nil
}

func (s *surveyor) object(ctx context.Context, object uint64, larger float64, nested int) error {
	kind, err := s.Call(ctx, "FPDFPageObj_GetType", object)
	if err != nil {
		return err
	}
	switch kind {
	case textObject:
		return s.lettering(ctx, object)
	case pathObject:
		return s.path(ctx, object)
	case imageObject:
		return s.image(ctx, object, larger)
	case shadeObject:
		s.vectors = true
	case formObject:
		if nested == mostNested {
			s.whole = false
			return nil
		}
		m, err := s.matrix(ctx, object, s.out)
		if err != nil {
			return err
		}
		return s.objectsOf(ctx, object, "FPDFFormObj_CountObjects", "FPDFFormObj_GetObject",
			larger*math.Abs(m.A*m.D-m.B*m.C), nested+1)
	default:
		s.whole = false
	}
	return nil
}

const (
	invisible = 3 // render mode of text that is only to be found, such as what was read of a scan
	clipping  = 7
)

func (s *surveyor) lettering(ctx context.Context, object uint64) error {
	s.text = true
	mode, err := s.Call(ctx, "FPDFTextObj_GetTextRenderMode", object)
	if err != nil || mode == invisible || mode == clipping {
		return err
	}
	s.vectors = true
	font, err := s.Call(ctx, "FPDFTextObj_GetFont", object)
	if err != nil || font == 0 {
		return err
	}
	held, err := s.Call(ctx, "FPDFFont_GetIsEmbedded", font)
	s.unheld = s.unheld || held == 0
	return err
}

// path looks at the directions of a path's lines.
func (s *surveyor) path(ctx context.Context, object uint64) error {
	s.vectors = true
	n, err := s.Call(ctx, "FPDFPath_CountSegments", object)
	if err != nil {
		return err
	}
	const along = 0.01
	var before [2]float64
	for i := range uint64(max(0, int32(n))) {
		if s.drawn {
			return nil
		}
		if s.segments++; s.segments > mostSegments {
			s.whole = false
			return nil
		}
		at, kind, err := s.segment(ctx, object, i, s.out)
		if err != nil {
			return err
		}
		switch kind {
		case lineTo:
			s.drawn = math.Abs(at[0]-before[0]) > along && math.Abs(at[1]-before[1]) > along
		case bezierTo:
			s.drawn = true
		}
		before = at
	}
	return nil
}

// image notes a picture's resolution.
func (s *surveyor) image(ctx context.Context, object uint64, larger float64) error {
	area, err := s.area(ctx, object, s.out)
	if err != nil {
		return err
	}
	if _, err := s.Call(ctx, "FPDFImageObj_GetImagePixelSize", object, uint64(s.out),
		uint64(s.out)+4); err != nil {
		return err
	}
	pixels := float64(s.Word(s.out)) * float64(s.Word(s.out+4))
	if area *= larger; area > 0 {
		s.images = append(s.images, placed{pointsPerInch * math.Sqrt(pixels/area), area / s.of})
	}
	return nil
}

// resolution is the one to draw the page at: the finest that a tenth of the page has.
func (s *survey) resolution() float64 {
	const enough = 0.1
	slices.SortFunc(s.images, func(a, b placed) int { return cmp.Compare(b.dpi, a.dpi) })
	dpi, covered := 0.0, 0.0
	for _, p := range s.images {
		if covered += p.share; covered >= enough {
			dpi = p.dpi
			break
		}
	}
	if dpi == 0 || s.vectors || !s.whole {
		dpi = max(dpi, vectorDPI)
	}
	return max(minScanDPI, min(dpi, maxScanDPI))
}

// otherThanLatin says whether a page has letters that are not Latin.
func (g *guest) otherThanLatin(ctx context.Context, page uint64) (bool, error) {
	text, err := g.Call(ctx, "FPDFText_LoadPage", page)
	if err != nil || text == 0 {
		return false, err
	}
	n, err := g.Call(ctx, "FPDFText_CountChars", text)
	if err != nil {
		return false, err
	}
	const firstGreek, lastPunctuation, firstPunctuation = 0x370, 0x2fff, 0x2000
	found := false
	for i := range uint64(max(0, int32(n))) {
		c, err := g.Call(ctx, "FPDFText_GetUnicode", text, i)
		if err != nil {
			return false, err
		}
		r := uint32(c)
		found = r >= firstGreek && (r < firstPunctuation || r > lastPunctuation)
		if found {
			break
		}
	}
	_, err = g.Call(ctx, "FPDFText_ClosePage", text)
	return found, err
}

// matrix maps a form's or a text's own places to those of what it is on (ISO 32000-1, 8.3.4).
type matrix struct{ A, B, C, D, E, F float64 }

// matrix is an object's. It uses 24 bytes at out.
func (g *guest) matrix(ctx context.Context, object uint64, out uint32) (matrix, error) {
	if _, err := g.Call(ctx, "FPDFPageObj_GetMatrix", object, uint64(out)); err != nil {
		return matrix{}, err
	}
	return matrix{g.real(out), g.real(out + 4), g.real(out + 8), g.real(out + 12), g.real(out + 16),
		g.real(out + 20)}, nil
}

// real reads a float of C.
func (g *guest) real(at uint32) float64 { return float64(math.Float32frombits(g.Word(at))) }

// params are numbers as PDFium's functions take them: C's double.
func params(v ...float64) []uint64 {
	out := make([]uint64, len(v))
	for i := range v {
		out[i] = api.EncodeF64(v[i])
	}
	return out
}
