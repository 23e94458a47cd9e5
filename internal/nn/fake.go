package nn

import (
	"context"
	"slices"
)

// Fake is a [Runner] for tests that goes by colour: dark and grey is print, dark and coloured is
// handwriting, light is paper.
type Fake struct{}

// Run implements [Runner].
func (Fake) Run(ctx context.Context, in, out []Tensor) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	squares, classes := in[0].Bytes, out[0].Bytes
	no, yes := ClassBytes.Round(-4), ClassBytes.Round(4)
	fill(classes, no)
	fill(out[1].Bytes, UnderBytes.Round(-8))
	for i := range len(squares) / SquareInputs {
		square, answer := squares[i*SquareInputs:], classes[i*SquareOutputs:]
		for k := range SquarePixels {
			var light [3]float32
			for c := range light {
				light[c] = TileBytes.Value(square[c*SquarePixels+k]) + 0.5
			}
			darkest := slices.Min(light[:])
			class := Paper
			switch colour := slices.Max(light[:]) - darkest; {
			case darkest < 0.7 && colour > 0.25:
				class = Handwriting
			case darkest < 0.7:
				class = Print
			}
			answer[class*SquarePixels+k] = yes
		}
	}
	return nil
}

func fill(b []uint8, v uint8) {
	for i := range b {
		b[i] = v
	}
}

// Blind is a [Runner] for tests that says nothing of the whole page.
type Blind struct{}

// Run implements [Runner].
func (Blind) Run(ctx context.Context, _, out []Tensor) error {
	clear(out[0].Floats)
	return ctx.Err()
}

// Upright is a [Runner] for tests that takes every page for upright.
type Upright struct{}

// Run implements [Runner].
func (Upright) Run(ctx context.Context, _, out []Tensor) error {
	copy(out[0].Floats, []float32{9, 0, 0, 0, 0})
	return ctx.Err()
}

// Flat is a [Runner] for tests that takes every sheet for flat.
type Flat struct{}

// Run implements [Runner].
func (Flat) Run(ctx context.Context, _, out []Tensor) error {
	clear(out[0].Floats)
	return ctx.Err()
}

// Trusting is a judge of regions for tests that takes the segmenter's word.
type Trusting struct{}

// Run implements [Runner].
func (Trusting) Run(ctx context.Context, in, out []Tensor) error {
	hand := Trait("hand")
	for i := range out[0].Floats {
		out[0].Floats[i] = in[0].Floats[i*RegionTraits+hand]
	}
	return ctx.Err()
}
