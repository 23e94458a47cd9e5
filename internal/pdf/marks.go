package pdf

import "context"

// Annotations by their subtype, as PDFium numbers them.
const (
	textMark      = 1 // a note's icon
	freeTextMark  = 3
	lineMark      = 4
	squareMark    = 5
	circleMark    = 6
	polygonMark   = 7
	polylineMark  = 8
	highlightMark = 9
	underlineMark = 10
	squigglyMark  = 11
	strikeOutMark = 12
	stampMark     = 13
	caretMark     = 14
	inkMark       = 15
	popupMark     = 16
)

// marks are the annotations that somebody puts on a page that is there already (ISO 32000-1,
// 12.5.6): its ink, highlights, shapes, stamps and notes. All others are of the document: links,
// form fields, attached files, watermarks.
var marks = map[uint64]bool{
	textMark: true, freeTextMark: true, lineMark: true, squareMark: true, circleMark: true,
	polygonMark: true, polylineMark: true, highlightMark: true, underlineMark: true,
	squigglyMark: true, strikeOutMark: true, stampMark: true, caretMark: true, inkMark: true,
	popupMark: true,
}

// takeMarksOff takes the marks off a page, and says how many they were, windows of notes apart.
// What lies under them is as it was.
func (g *guest) takeMarksOff(ctx context.Context, page uint64) (off int, err error) {
	n, err := g.Call(ctx, "FPDFPage_GetAnnotCount", page)
	if err != nil {
		return 0, err
	}
	for i := int(int32(n)) - 1; i >= 0; i-- {
		kind, err := g.annotation(ctx, page, i)
		if err != nil {
			return 0, err
		}
		if !marks[kind] {
			continue
		}
		if _, err := g.Call(ctx, "FPDFPage_RemoveAnnot", page, uint64(i)); err != nil {
			return 0, err
		}
		if kind != popupMark {
			off++
		}
	}
	return off, nil
}

// annotation is the subtype of a page's annotation.
func (g *guest) annotation(ctx context.Context, page uint64, i int) (kind uint64, err error) {
	annotation, err := g.Call(ctx, "FPDFPage_GetAnnot", page, uint64(i))
	if err != nil || annotation == 0 {
		return 0, err
	}
	if kind, err = g.Call(ctx, "FPDFAnnot_GetSubtype", annotation); err != nil {
		return 0, err
	}
	_, err = g.Call(ctx, "FPDFPage_CloseAnnot", annotation)
	return kind, err
}
