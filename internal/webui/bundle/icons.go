package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"

	"golang.org/x/image/vector"
)

// icons draws static/icon.svg, which some systems do not read, as PNGs for a phone's home screen.
// The ground goes to the edges, because systems cut it to shapes of their own.
func (b *builder) icons() error {
	for name, size := range map[string]int{"icon-192.png": 192, "icon-512.png": 512} {
		var file bytes.Buffer
		if err := png.Encode(&file, icon(size)); err != nil {
			return err
		}
		b.add(name, file.Bytes())
	}
	return nil
}

type point struct{ x, y float64 }

var (
	blue  = color.NRGBA{0x1d, 0x4e, 0xd8, 0xff}
	faint = color.NRGBA{0x1d, 0x4e, 0xd8, 0x59}
	white = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	print = color.NRGBA{0x1b, 0x1f, 0x24, 0xff}
)

func icon(size int) image.Image {
	d := &drawing{image.NewNRGBA(image.Rect(0, 0, size, size)), float64(size) / 48}
	d.fill(blue, []point{{0, 0}, {48, 0}, {48, 48}, {0, 48}})
	d.fill(white, []point{{13, 8}, {29, 8}, {36, 15}, {36, 40}, {13, 40}})
	d.stroke(print, []point{{18, 20}, {30, 20}})
	d.stroke(print, []point{{18, 26}, {30, 26}})
	var wave []point
	for x := 17.0; x <= 28; x += 0.25 {
		wave = append(wave, point{x, 34.5 - 2.2*math.Sin((x-17)*math.Pi/2.75)*(1-(x-17)/16)})
	}
	d.stroke(blue, wave)
	for x := 29.0; x < 33; x += 2 {
		d.stroke(faint, []point{{x, 34.5}, {x + 0.5, 34.5}})
	}
	return d.img
}

type drawing struct {
	img   *image.NRGBA
	scale float64
}

func (d *drawing) fill(c color.Color, outline []point) {
	r := vector.NewRasterizer(d.img.Rect.Dx(), d.img.Rect.Dy())
	for i, p := range outline {
		x, y := float32(p.x*d.scale), float32(p.y*d.scale)
		if i == 0 {
			r.MoveTo(x, y)
		} else {
			r.LineTo(x, y)
		}
	}
	r.ClosePath()
	r.Draw(d.img, d.img.Rect, image.NewUniform(c), image.Point{})
}

// stroke draws a line two units wide as one outline: there along its left side, back along its
// right.
func (d *drawing) stroke(c color.Color, line []point) {
	left, right := make([]point, len(line)), make([]point, len(line))
	for i, p := range line {
		before, after := line[max(i-1, 0)], line[min(i+1, len(line)-1)]
		dx, dy := after.x-before.x, after.y-before.y
		n := math.Hypot(dx, dy)
		left[i] = point{p.x + dy/n, p.y - dx/n}
		right[len(line)-1-i] = point{p.x - dy/n, p.y + dx/n}
	}
	d.fill(c, append(left, right...))
}
