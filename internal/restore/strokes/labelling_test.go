package strokes

import "testing"

// Numbers of rows that are judged to be written stay where the network takes them for print and
// they have its ink: not those in another ink, nor what is written for the most part.
func TestNumbersBesideBubblesStay(t *testing.T) {
	sheet := newSheetOfBubbles(6, 6, bubblePitch, false)
	eachOfNumber := func(row int, visit func(x, y int)) {
		cx, cy := sheet.centre(row, 0)
		for y := int(cy) - 8; y < int(cy)+8; y++ {
			for x := int(cx) - 4; x < int(cx)+4; x++ {
				visit(x, y)
			}
		}
	}
	for row := range sheet.rows {
		sheet.blank(row, 0)
		eachOfNumber(row, func(x, y int) { sheet.Pix[sheet.PixOffset(x, y)] = 60 })
	}
	const scribbled, colourful = 2, 4 // rows
	s, _ := read(sheet.Form)
	_, cy := sheet.centre(scribbled, 0)
	eachOfNumber(scribbled, func(x, y int) {
		if y < int(cy) {
			s.Relabel(y*s.W+x, true)
		}
	})
	plane := planeOf(sheet.Form, s)
	for i := range plane.Evidence {
		plane.Evidence[i] = -1
	}
	eachOfNumber(colourful, func(x, y int) { plane.Evidence[y*s.W+x] = 1 })
	plane.Connect()
	onForm := readForm(s, plane)
	for i, ink := range plane.Solid { // a judge that takes all for writing
		if ink != 0 {
			s.Relabel(i, true)
		}
	}
	onForm.settle(s, plane)
	for row := range sheet.rows {
		gone := 0
		eachOfNumber(row, func(x, y int) {
			if s.Hand[y*s.W+x] > 0 {
				gone++
			}
		})
		switch all := 8 * 16; {
		case (row == scribbled || row == colourful) && gone != all:
			t.Errorf("of what somebody wrote in row %d, %d pixels go, want %d", row, gone, all)
		case row != scribbled && row != colourful && gone != 0:
			t.Errorf("of number %d, %d pixels go", row, gone)
		}
	}
}
