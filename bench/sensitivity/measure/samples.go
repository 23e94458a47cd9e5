package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"
	"path/filepath"
	"strings"

	"unink/bench/labels"
	"unink/bench/picture"
	"unink/bench/sheet"
	"unink/bench/stage"
	"unink/internal/raster"
	"unink/internal/restore"
)

// sample is a page, and what is done to it.
type sample struct {
	name  string
	clean func(context.Context) (outcome, error)
	skip  []string // packages whose values other samples measure
}

// outcome is what came of a page: a hash, and how good it is, by the figures' names.
type outcome struct {
	sum     [sha256.Size]byte
	score   func() map[string]float64
	figures map[string]float64
}

// How many samples of each kind there are.
const (
	generated = 12
	labelled  = 12
	spoilt    = 10 // by their capture, one a class
	bent      = 24
	turned    = 8
)

// side is that of the square of a labelled page that is cleaned, in pixels: where most is written.
const side = 640

func (e *engine) samples(dir string) (all []sample, err error) {
	for _, list := range []func() ([]sample, error){
		e.generated, func() ([]sample, error) { return e.labelled(dir) }, e.spoilt, e.bent, e.turned,
	} {
		some, err := list()
		if err != nil {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}

// spread takes so many of a list, evenly.
func spread[T any](list []T, n int) (some []T) {
	for i := range min(n, len(list)) {
		some = append(some, list[i*len(list)/min(n, len(list))])
	}
	return some
}

func data(bench string) string { return filepath.Join("bench", bench, "data") }

// generated are pages of bench/quality.
func (e *engine) generated() (all []sample, err error) {
	masks, err := filepath.Glob(filepath.Join(data("quality"), "*.mask.png"))
	if err != nil {
		return nil, err
	}
	for _, path := range spread(masks, generated) {
		page, err := stage.Page(strings.TrimSuffix(path, ".mask.png") + ".jpg")
		if err != nil {
			return nil, err
		}
		mask, err := labels.Read(path)
		if err != nil {
			return nil, err
		}
		all = append(all, e.cleaned(path, page, truthOf(page, mask)))
	}
	return all, nil
}

// truth is that of a page, and, where it has ruled lines, of these alone.
type truth struct{ page, rules *labels.Truth }

// truthOf reads the masks of bench/quality: what a pixel is in steps of 80, and 4 more on a ruled
// line.
func truthOf(page *image.RGBA, mask *image.Gray) truth {
	const step, ruled, unlabelled, both = 80, 4, 251, 3
	whole, rules := image.NewGray(mask.Rect), image.NewGray(mask.Rect)
	any := false
	for i, v := range mask.Pix {
		rules.Pix[i] = both
		if v >= unlabelled {
			whole.Pix[i] = both
			continue
		}
		whole.Pix[i] = v / step
		if v/step == labels.Print && v%step == ruled {
			any, rules.Pix[i] = true, labels.Print
		}
	}
	t := truth{page: labels.Of(whole, picture.Of(page))}
	if any {
		t.rules = labels.Of(rules, picture.Of(page))
	}
	return t
}

// labelled are squares of labelled pages.
func (e *engine) labelled(dir string) (all []sample, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "pages", "*"))
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("no pages in %s", filepath.Join(dir, "pages"))
	}
	for _, path := range spread(paths, labelled) {
		page, err := stage.Page(path)
		if err != nil {
			return nil, err
		}
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		label, err := labels.Read(filepath.Join(dir, "labels", name+".png"))
		if err != nil {
			return nil, err
		}
		if label.Rect != page.Rect {
			return nil, fmt.Errorf("%s: page and labels differ in size", name)
		}
		at := mostWritten(label)
		size := image.Rectangle{Max: at.Size()}
		square, its := image.NewRGBA(size), image.NewGray(size)
		draw.Draw(square, square.Rect, page, at.Min, draw.Src)
		draw.Draw(its, its.Rect, label, at.Min, draw.Src)
		all = append(all, e.cleaned(path, square, truth{page: labels.Of(its, picture.Of(square))}))
	}
	return all, nil
}

// mostWritten is the square with the most writing.
func mostWritten(label *image.Gray) (at image.Rectangle) {
	const step = 64
	most := -1
	for y := 0; y == 0 || y+side <= label.Rect.Dy(); y += step {
		for x := 0; x == 0 || x+side <= label.Rect.Dx(); x += step {
			square := image.Rect(x, y, x+side, y+side).Intersect(label.Rect)
			n := 0
			for yy := square.Min.Y; yy < square.Max.Y; yy++ {
				for _, v := range label.Pix[yy*label.Stride+square.Min.X:][:square.Dx()] {
					if v == labels.Hand {
						n++
					}
				}
			}
			if n > most {
				most, at = n, square
			}
		}
	}
	return at
}

// cleaned is a page that is cleaned in the colour finish.
func (e *engine) cleaned(name string, page *image.RGBA, t truth) sample {
	return sample{name: name, clean: func(ctx context.Context) (o outcome, err error) {
		after, err := e.clean(ctx, page, restore.Options{Finish: restore.Colour})
		if err != nil {
			return o, err
		}
		o.sum = sha256.Sum256(after.Pix)
		o.score = func() map[string]float64 {
			after := picture.Of(after)
			out := map[string]float64{}
			f := t.page.Measure(after)
			if f.Hand {
				out["left"], out["seen"] = 100*f.Left, 100*f.Seen
			}
			if f.Print {
				out["lost"], out["hurt"] = 100*f.Lost, 100*f.Hurt
			}
			if t.rules != nil {
				out["rules"] = 100 * t.rules.Measure(after).Lost
			}
			return out
		}
		return o, nil
	}}
}

// clean cleans a page; one that is refused as empty stays as it is.
func (e *engine) clean(ctx context.Context, page *image.RGBA, o restore.Options) (*image.RGBA,
	error) {
	p, err := e.Clean(ctx, page, o)
	if errors.Is(err, restore.ErrNoContent) {
		return page, nil
	}
	if err != nil {
		return nil, err
	}
	return p.Image, nil
}

// erasing are the packages that the colour finish measures, too.
var erasing = []string{
	"restore/segment", "restore/highlight", "restore/ink", "restore/strokes", "restore/erase",
}

// spoilt are pages of bench/finish, in the scan finish.
func (e *engine) spoilt() (all []sample, err error) {
	paths, err := filepath.Glob(filepath.Join(data("finish"), "*.jpg"))
	if err != nil {
		return nil, err
	}
	for _, path := range spread(paths, spoilt) {
		page, err := stage.Page(path)
		if err != nil {
			return nil, err
		}
		captured, err := stage.Page(strings.TrimSuffix(path, ".jpg") + ".png")
		if err != nil {
			return nil, err
		}
		o := restore.Options{Finish: restore.Scan, KeepOrientation: true, KeepDistortion: true}
		want := picture.Of(captured)
		all = append(all, sample{name: path, clean: func(ctx context.Context) (out outcome, err error) {
			after, err := e.clean(ctx, page, o)
			if err != nil {
				return out, err
			}
			out.sum = sha256.Sum256(after.Pix)
			out.score = func() map[string]float64 {
				return map[string]float64{"psnr": picture.PSNR(picture.Of(after), want)}
			}
			return out, nil
		}, skip: erasing})
	}
	return all, nil
}

// bent are pages of bench/flatten.
func (e *engine) bent() (all []sample, err error) {
	cases, err := stage.Cases[sheet.Case](data("flatten"))
	if err != nil {
		return nil, err
	}
	for _, c := range spread(cases, bent) {
		page, err := stage.Page(filepath.Join(data("flatten"), c.Name+".jpg"))
		if err != nil {
			return nil, err
		}
		all = append(all, sample{name: c.Name, clean: func(ctx context.Context) (o outcome, err error) {
			flat, err := restore.Flatten(ctx, e.Flattener, page, e.Threads)
			if err != nil {
				return o, err
			}
			shift := c.Place(flat.Warp, page.Rect.Dx()).Shift
			o.sum = sha256.Sum256(fmt.Append(nil, math.Float64bits(shift)))
			o.score = func() map[string]float64 { return map[string]float64{"shift": shift} }
			return o, nil
		}})
	}
	return all, nil
}

// turned are pages of bench/orient that lie on a side.
func (e *engine) turned() (all []sample, err error) {
	paths, err := filepath.Glob(filepath.Join(data("orient"), "*.jpg"))
	if err != nil {
		return nil, err
	}
	for i, path := range spread(paths, turned) {
		page, err := stage.Page(path)
		if err != nil {
			return nil, err
		}
		quarters := i % 4
		page = raster.Turn(page, quarters)
		all = append(all, sample{name: path, clean: func(ctx context.Context) (o outcome, err error) {
			back, sure, err := restore.Upright(ctx, e.Orienter, page, e.Threads)
			if err != nil {
				return o, err
			}
			o.sum = sha256.Sum256(fmt.Append(nil, back, math.Float64bits(sure)))
			o.score = func() map[string]float64 {
				upright := 0.0
				if (quarters+back)%4 == 0 {
					upright = 100
				}
				return map[string]float64{"upright": upright}
			}
			return o, nil
		}})
	}
	return all, nil
}
