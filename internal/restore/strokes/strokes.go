// Package strokes decides of each region of ink whether it was written: by its own evidence, by its
// neighbours and by what the page's writing and print look like.
package strokes

import (
	"context"
	"image"
	"slices"
	"sync"

	"unink/internal/nn"
	"unink/internal/raster"
	"unink/internal/restore/ink"
	"unink/internal/restore/segment"
)

// Mark is writing that takes away the printed box or bubble that it lies in, or the dot that it
// covers, which is then drawn anew. In working pixels.
type Mark struct {
	Empty image.Rectangle // an empty box, or a dot, of the same kind elsewhere on the page
	At    image.Point     // corner of the marked one
}

// Decide makes up for what the network mistook: after it the scores have whole strokes that go, of
// the inks to be removed, and whole print that stays. It returns the page's printed lines, to be
// continued through the strokes, and the marks whose boxes and dots are to be drawn anew.
func Decide(ctx context.Context, judge nn.Runner, s *segment.Scores, plane *ink.Plane,
	remove ink.Set, workers int) ([]Rule, []Mark, error) {
	rules, onForm, err := decide(ctx, judge, s, plane, workers)
	if err != nil {
		return nil, nil, err
	}
	if remove != 0 {
		keepOthers(s, remove, plane, linePixels(s, rules))
	}
	tidy(s, rules)
	keepUnwritten(s)
	return rules, onForm.hidden(s), nil
}

// decide has each region of ink judged in view of its neighbours and of the page, so that no half
// strokes remain and no specks of print go: once by the inks that the segmenter tells of, and once
// by those of what was then found to be written. Curves that a machine drew are print each time:
// the second judgement goes by it, and may not undo it. Marks in tick boxes and bubbles are found
// apart and have the last word. It returns the page's printed lines and what it has of a form.
func decide(ctx context.Context, judge nn.Runner, s *segment.Scores, plane *ink.Plane,
	workers int) ([]Rule, *form, error) {
	var onForm form
	var stay certain
	var search sync.WaitGroup
	var inTable []bubbleCells
	search.Go(func() { inTable = findBubbleCells(plane) })
	g := groundOf(s, plane)
	search.Wait()
	for _, c := range inTable {
		c.keep(s) // before the judge sees them, or the table's lines would go with them
	}
	v := g.survey(s, plane, workers)
	// The judge has one thread: meanwhile others look for what does not depend on it.
	search.Go(func() { onForm = readForm(s, plane) })
	search.Go(func() { stay = findCertain(s, plane) })
	odds, err := v.Judge(ctx, judge)
	search.Wait()
	if err != nil {
		return nil, nil, err
	}
	onForm.inTable = inTable
	v.settle(odds, s)
	stay.keep(s, plane)
	plane.Weigh(workers)
	v = g.survey(s, plane, workers)
	if odds, err = v.Judge(ctx, judge); err != nil {
		return nil, nil, err
	}
	v.settle(odds, s)
	stay.keep(s, plane)
	onForm.settle(s, plane)
	clearRules(s, plane, g.lines, g.pieces)
	return printedRules(s, plane, g.lines, g.pieces), &onForm, nil
}

// certain is what is print by its shape and colour, whatever the networks say.
type certain struct {
	seals  []seal
	links  []link
	curves curves
}

func findCertain(s *segment.Scores, plane *ink.Plane) certain {
	of, w := byColour(plane), plane.Scores.W
	c := certain{findSeals(of, w), findLinks(of, w), curves{}}
	c.curves.find(s, plane)
	return c
}

// keep makes print of it. Curves are looked for anew where ink now seems written.
func (c certain) keep(s *segment.Scores, plane *ink.Plane) {
	c.curves.find(s, plane)
	c.curves.keep(s)
	for _, l := range c.seals {
		l.keep(s)
	}
	for _, l := range c.links {
		l.keep(s)
	}
}

// tidy puts right, once it is known which strokes go, what lies along and under them: printed lines
// that they touch, specks, and print that is none.
func tidy(s *segment.Scores, rules []Rule) {
	lines := linePixels(s, rules)
	takeCrossings(s, rules)
	joinSpecks(s, lines)
	dropFalsePrint(s, lines)
	dropFragments(s, lines)
}

// keepOthers takes the strokes whose ink is not in the set out of the scores: they are then kept
// like print. A stroke is what is connected and of one ink, so that a word is told apart from the
// line that it touches; its ink is its mean colour, weighted by darkness. The feet of strokes on a
// printed line are as dark as the line.
func keepOthers(s *segment.Scores, remove ink.Set, plane *ink.Plane, lines []bool) {
	inks := inkOfEach(s, plane)
	runs, components := raster.Connected(inks, s.W, 1)
	labels := make([]int32, len(inks))
	raster.Paint(labels, runs)
	regions := measureRegions(s, labels, runs, components, plane)
	bonds := findBonds(nearestInk(inks, s.W), labels, s.W, components)
	const foot = 12 // working pixels: a region's height at most
	feet := make([]bool, len(components))
	for _, r := range runs {
		if c := components[r.Label-1]; c.Height() <= foot && !feet[r.Label-1] {
			feet[r.Label-1] = slices.Contains(lines[r.From:r.To], true)
		}
	}
	keep := make([]bool, len(components))
	for i := range regions {
		keep[i] = ink.Of(regions[likest(regions, bonds, i, feet[i])].ink)&remove == 0
	}
	for _, r := range runs {
		for i := int(r.From); keep[r.Label-1] && i < int(r.To); i++ {
			s.Relabel(i, false)
		}
	}
}

// likest is the region whose ink a region has: its own, but where it is dark, and so small or so
// tinted that it is a part of a coloured stroke near it, such as a dot or what crosses a line, or
// the foot of a coloured stroke on a line.
func likest(regions []region, bonds [][]bond, i int, foot bool) int {
	const small, tinted = 150, 0.15 // working pixels; share of the light taken that is taken unevenly
	r := regions[i]
	if ink.Of(r.ink)&(ink.Black|ink.Pencil) == 0 {
		return i
	}
	low, high := min(r.ink[0], r.ink[1], r.ink[2]), max(r.ink[0], r.ink[1], r.ink[2])
	for _, b := range bonds[i] {
		other := regions[b.to]
		if ink.Of(other.ink)&(ink.Black|ink.Pencil) == 0 && (foot && b.touch ||
			other.Area > r.Area && (r.Area < small || b.touch && high-low > tinted*(1-low))) {
			return int(b.to)
		}
	}
	return i
}

// inkOfEach is the ink of each pixel that was written: by the colour of those about it, since the
// edges of a stroke are fainter and of other tints than its middle. It is 0 of all others.
func inkOfEach(s *segment.Scores, plane *ink.Plane) []uint8 {
	const reach = 3 // working pixels
	inks := make([]uint8, len(s.Hand))
	for i := range raster.Positive(s.Hand) {
		var sum [3]float64
		total := 0.0
		x, y := i%s.W, i/s.W
		for ny := max(0, y-reach); ny <= min(s.H-1, y+reach); ny++ {
			for nx := max(0, x-reach); nx <= min(s.W-1, x+reach); nx++ {
				n := ny*s.W + nx
				if s.Hand[n] <= 0 {
					continue
				}
				t := float64(plane.Taken(n))
				k := t*t + 1e-4
				total += k
				for ch := range sum {
					sum[ch] += k * float64(plane.Light[ch][n]) / 255
				}
			}
		}
		for ch := range sum {
			sum[ch] /= total
		}
		inks[i] = uint8(ink.Of(sum))
	}
	return inks
}
