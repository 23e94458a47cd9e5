// Package segment has the network tell of each pixel whether it is paper, print or writing.
package segment

import (
	"context"
	"image"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"unink/internal/nn"
	"unink/internal/raster"
)

// Networks tell the classes of pixels: one looks at the whole page, the other at its tiles.
type Networks struct {
	Overview, Tiles nn.Runner
	Em              float64 // of body text that they want, in pixels
}

// Picture is a page as the stages see it.
type Picture struct {
	Page        *image.RGBA
	Em          float64    // of the page's body text, in its pixels
	*raster.RGB            // the working picture
	Gain        [3]float32 // of its planes
}

// shown is the picture at the size that the networks want.
func (n Networks) shown(p Picture, workers int) Picture {
	w, h := sizeAt(p.Page.Rect.Dx(), p.Page.Rect.Dy(), p.Em, n.Em)
	if w != p.W || h != p.H {
		p.RGB = raster.Resize(p.Page, w, h, workers)
	}
	return p
}

// Probe runs an empty tile through the network.
func (n Networks) Probe(ctx context.Context) error {
	t := newPiece(nn.LargestTile)
	return t.ask(ctx, n.Tiles)
}

// Classify classifies every pixel of the working picture, so many tiles at once.
func (n Networks) Classify(ctx context.Context, p Picture, workers int) (*Scores, error) {
	s, err := n.look(ctx, n.shown(p, workers), workers)
	if err != nil {
		return nil, err
	}
	return s.resized(p.W, p.H, workers), nil
}

// look classifies every pixel of a picture at the networks' size. Blank margins are paper.
func (n Networks) look(ctx context.Context, p Picture, workers int) (*Scores, error) {
	s := &Scores{W: p.W, H: p.H, Hand: slices.Repeat([]int8{-Sure}, p.W*p.H),
		Print: slices.Repeat([]int8{-Sure}, p.W*p.H)}
	inked := extent(p, workers)
	if inked.Empty() {
		return s, nil
	}
	page, err := n.overview(ctx, p, workers)
	if err != nil {
		return nil, err
	}
	division := tilingOf(inked.Dx(), inked.Dy())
	shape := division.shape
	told := levelsOf(p.Gain, nn.TileBytes.Round)
	var tiles [][2]tileSpan
	for _, ty := range tileSpans(inked.Min.Y, inked.Dy(), shape.H, division.rows) {
		for _, tx := range tileSpans(inked.Min.X, inked.Dx(), shape.W, division.columns) {
			tiles = append(tiles, [2]tileSpan{tx, ty})
		}
	}
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for range min(workers, len(tiles)) {
		group.Go(func() error {
			t := newPiece(shape)
			for i := next.Add(1) - 1; i < int64(len(tiles)); i = next.Add(1) - 1 {
				if err := ctx.Err(); err != nil {
					return err
				}
				tx, ty := tiles[i][0], tiles[i][1]
				cut(t.squares, p.RGB, told, shape, tx.at, ty.at)
				page.under(t.context, shape, tx.at, ty.at)
				if err := t.ask(ctx, n.Tiles); err != nil {
					return err
				}
				s.paste(t, tx, ty)
			}
			return nil
		})
	}
	return s, group.Wait()
}

// piece is what the network is told of a part of the picture, and what it answers.
type piece struct {
	nn.Shape
	squares        []uint8
	context        []float32
	classes, under []uint8
}

func newPiece(s nn.Shape) *piece {
	n := s.Squares()
	return &piece{s, make([]uint8, n*nn.SquareInputs), make([]float32, nn.ContextPlanes*s.Cells()),
		make([]uint8, n*nn.SquareOutputs), make([]uint8, n*nn.SquareOutputs)}
}

func (p *piece) ask(ctx context.Context, network nn.Runner) error {
	return network.Run(ctx, nn.Tile(p.Shape, p.squares, p.context),
		nn.TileAnswer(p.Shape, p.classes, p.under))
}
