package pdf

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
)

// What a stylus leaves in a page's own content, as note-taking programs write it: lines with round
// ends and corners through many points that lie close together, which turn back and forth, and are
// drawn after everything else. Curves of graphs run one way, and figures are drawn of few points.
// The front page has the same rule and numbers, in internal/webui/src/front/ink.ts.
const (
	fewestStrokes = 3
	fewestPoints  = 5   // of a stroke that is looked at
	closest       = 4.0 // points: the median of the steps from sample to sample is at most that
	turningShare  = 0.3 // of the strokes looked at that turn back in both directions
	round         = 1   // ends and corners of lines, as PDFium numbers them
	checkSide     = 600 // pixels of the longer side of the drawings that are compared
)

// verdict is what is known of the ink in a page's content.
type verdict uint8

const (
	unseen verdict = iota
	comesOff
	stays
)

// errLossy says that a page's content cannot be written without its ink as it is with it.
var errLossy = errors.New("the page's content does not come out as it was")

// stroke is the way of a pen.
type stroke struct {
	points [][2]float64
	larger float64 // times as large on the page
}

// takeInkOff takes the strokes of a stylus off a page's content and says how many they were. The
// page is loaded anew where there were some. Unless that is known to do, what is left is drawn
// before and after it is written; where that differs, the error is errLossy.
func (g *guest) takeInkOff(ctx context.Context, page *uint64, n int, known bool) (int, error) {
	objects, strokes, err := g.lastStrokes(ctx, *page)
	if err != nil || !written(strokes) {
		return 0, err
	}
	for _, object := range objects {
		if _, err := g.Call(ctx, "FPDFPage_RemoveObject", *page, object); err != nil {
			return 0, err
		}
		if _, err := g.Call(ctx, "FPDFPageObj_Destroy", object); err != nil {
			return 0, err
		}
	}
	var before, after []byte
	if !known {
		if before, err = g.sketch(ctx, *page); err != nil {
			return 0, err
		}
	}
	done, err := g.Call(ctx, "FPDFPage_GenerateContent", *page)
	if err != nil {
		return 0, err
	}
	if _, err := g.Call(ctx, "FPDF_ClosePage", *page); err != nil {
		return 0, err
	}
	*page, err = g.Call(ctx, "FPDF_LoadPage", g.document, uint64(n))
	switch {
	case err != nil:
		return 0, err
	case done == 0 || *page == 0:
		return 0, errLossy
	case known:
		return len(strokes), nil
	}
	if after, err = g.sketch(ctx, *page); err == nil && !bytes.Equal(before, after) {
		err = errLossy
	}
	return len(strokes), err
}

// sketch is a small drawing of the page.
func (g *guest) sketch(ctx context.Context, page uint64) ([]byte, error) {
	size, err := g.size(ctx, page)
	if err != nil {
		return nil, err
	}
	scale := checkSide / max(size.Width, size.Height)
	w, h := max(1, int(scale*size.Width)), max(1, int(scale*size.Height))
	m, err := g.render(ctx, page, w, h)
	if err != nil {
		return nil, err
	}
	return m.Pix, nil
}

// lastStrokes are the pen's lines at the end of a page's content, with other things before them,
// and the strokes that they make: some programs write a stroke as many lines that follow each
// other.
func (g *guest) lastStrokes(ctx context.Context, page uint64) (objects []uint64, strokes []stroke,
	err error) {
	n, err := g.Call(ctx, "FPDFPage_CountObjects", page)
	if err != nil || int32(n) > mostObjects {
		return nil, nil, err
	}
	out, err := g.Alloc(ctx, 24)
	if err != nil {
		return nil, nil, err
	}
	points := 0
	i := int(int32(n)) - 1
	for ; i >= 0 && points < mostSegments; i-- {
		object, err := g.Call(ctx, "FPDFPage_GetObject", page, uint64(i))
		if err != nil {
			return nil, nil, err
		}
		s, ok, err := g.stroke(ctx, object, out)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			break
		}
		points += len(s.points)
		objects = append(objects, object)
		if last := len(strokes) - 1; last >= 0 && s.points[len(s.points)-1] == strokes[last].points[0] {
			strokes[last].points = append(s.points, strokes[last].points[1:]...)
		} else {
			strokes = append(strokes, s)
		}
	}
	if i < 0 || points >= mostSegments { // nothing was written on, or there is no end of it
		objects, strokes = nil, nil
	}
	_, err = g.Call(ctx, "free", uint64(out))
	return objects, strokes, err
}

// stroke reads an object as a line that a pen could have left. It uses 24 bytes at out.
func (g *guest) stroke(ctx context.Context, object uint64, out uint32) (s stroke, ok bool,
	err error) {
	for _, ask := range []struct {
		name   string
		params []uint64
		want   uint64
	}{
		{"FPDFPageObj_GetType", []uint64{object}, pathObject},
		{"FPDFPageObj_GetLineCap", []uint64{object}, round},
		{"FPDFPageObj_GetLineJoin", []uint64{object}, round},
		{"FPDFPageObj_GetDashCount", []uint64{object}, 0},
		{"FPDFPath_GetDrawMode", []uint64{object, uint64(out), uint64(out) + 4}, 1},
	} {
		got, err := g.Call(ctx, ask.name, ask.params...)
		if err != nil || got != ask.want {
			return s, false, err
		}
	}
	if filled, lined := g.Word(out), g.Word(out+4); filled != 0 || lined == 0 {
		return s, false, nil
	}
	n, err := g.Call(ctx, "FPDFPath_CountSegments", object)
	if err != nil || int32(n) < 2 || int32(n) > mostSegments {
		return s, false, err
	}
	m, err := g.matrix(ctx, object, out)
	if err != nil {
		return s, false, err
	}
	s.larger = math.Sqrt(math.Abs(m.A*m.D - m.B*m.C))
	for i := range n {
		at, kind, err := g.segment(ctx, object, i, out)
		if err != nil || (kind == moveTo) != (i == 0) || kind == bezierTo {
			return s, false, err
		}
		s.points = append(s.points, at)
	}
	return s, true, nil
}

// How a path goes on, as PDFium numbers it.
const (
	lineTo   = 0
	bezierTo = 1
	moveTo   = 2
)

// segment is where a part of a path leads, and how. It uses 8 bytes at out.
func (g *guest) segment(ctx context.Context, object, i uint64, out uint32) (at [2]float64,
	kind uint64, err error) {
	segment, err := g.Call(ctx, "FPDFPath_GetPathSegment", object, i)
	if err != nil {
		return at, 0, err
	}
	if _, err := g.Call(ctx, "FPDFPathSegment_GetPoint", segment, uint64(out),
		uint64(out)+4); err != nil {
		return at, 0, err
	}
	at = [2]float64{g.real(out), g.real(out + 4)}
	kind, err = g.Call(ctx, "FPDFPathSegment_GetType", segment)
	return at, kind, err
}

// written says whether strokes are surely those of a hand.
func written(strokes []stroke) bool {
	if len(strokes) < fewestStrokes {
		return false
	}
	var steps []float64
	long, turning := 0, 0
	for _, s := range strokes {
		if len(s.points) < fewestPoints {
			continue
		}
		long++
		if s.turns(0) && s.turns(1) {
			turning++
		}
		for i, p := range s.points[1:] {
			steps = append(steps, s.larger*math.Hypot(p[0]-s.points[i][0], p[1]-s.points[i][1]))
		}
	}
	if long < fewestStrokes || float64(turning) < turningShare*float64(long) {
		return false
	}
	slices.Sort(steps)
	return steps[len(steps)/2] <= closest
}

// turns reports whether a stroke goes forth and back along an axis.
func (s stroke) turns(axis int) bool {
	forth, back := false, false
	for i, p := range s.points[1:] {
		d := p[axis] - s.points[i][axis]
		forth, back = forth || d > 0, back || d < 0
	}
	return forth && back
}
