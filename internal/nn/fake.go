package nn

import "context"

// Fake is a [Runner] for tests that goes by colour: dark and grey is print, dark and coloured is
// handwriting, light is paper.
type Fake struct{}

// Run implements [Runner].
func (Fake) Run(ctx context.Context, shape Shape, in, out []float32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	n := shape.Pixels() / 4
	for i := range shape.Pixels() {
		quarter, at := i/n, i%n
		r, g, b := in[quarter*n+at], in[(4+quarter)*n+at], in[(8+quarter)*n+at]
		light, colour := min(r, g, b), max(r, g, b)-min(r, g, b)
		class := Paper
		switch {
		case light < 0.7 && colour > 0.25:
			class = Handwriting
		case light < 0.7:
			class = Print
		}
		for c := range Classes {
			out[(4*c+quarter)*n+at] = -4
		}
		out[(4*class+quarter)*n+at] = 4
	}
	return nil
}

// Blind is a [Runner] for tests that says nothing of the whole page.
type Blind struct{}

// Run implements [Runner].
func (Blind) Run(ctx context.Context, _ Shape, _, out []float32) error {
	clear(out)
	return ctx.Err()
}

// Upright is a [Runner] for tests that takes every page for upright.
type Upright struct{}

// Run implements [Runner].
func (Upright) Run(ctx context.Context, _ Shape, _, out []float32) error {
	copy(out, []float32{9, 0, 0, 0, 0})
	return ctx.Err()
}

// Flat is a [Runner] for tests that takes every sheet for flat.
type Flat struct{}

// Run implements [Runner].
func (Flat) Run(ctx context.Context, _ Shape, _, out []float32) error {
	clear(out)
	return ctx.Err()
}

// Trusting is a judge of regions for tests that takes the segmenter's word.
type Trusting struct{}

// Run implements [Runner].
func (Trusting) Run(ctx context.Context, _ Shape, in, out []float32) error {
	hand := Trait("hand")
	for i := range out {
		out[i] = in[i*RegionTraits+hand]
	}
	return ctx.Err()
}
