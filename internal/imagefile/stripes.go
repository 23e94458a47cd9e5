package imagefile

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/jpeg"
	"runtime"

	"golang.org/x/sync/errgroup"
)

const (
	jpegQuality = 92
	// stripeHeight is that of the stripes that are encoded at once: whole rows of JPEG's blocks, of
	// both sizes. The widest picture has no more blocks in one than the format can say.
	stripeHeight = 48
)

// sheet is a picture that can be cut.
type sheet interface {
	image.Image
	SubImage(r image.Rectangle) image.Image
}

// encodeJPEG encodes stripes of a picture side by side, on all CPUs, and joins them by restart
// markers (ITU-T T.81, section E.1.4). The file is the same however many CPUs there are.
func encodeJPEG(ctx context.Context, m sheet) ([]byte, error) {
	b := m.Bounds()
	stripes := make([]jpegStripe, (b.Dy()+stripeHeight-1)/stripeHeight)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range stripes {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			rows := image.Rect(b.Min.X, b.Min.Y+i*stripeHeight, b.Max.X, b.Min.Y+(i+1)*stripeHeight)
			stripes[i], err = encodeStripe(m.SubImage(rows))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return joinStripes(stripes, b.Dy()), nil
}

// jpegStripe is a JPEG of its own, and what is to be known of it.
type jpegStripe struct {
	data        []byte
	frame, scan jpegSegment
	blocks      int // that are coded together
}

func encodeStripe(m image.Image) (s jpegStripe, err error) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return s, err
	}
	s.data = b.Bytes()
	for part := range jpegParts(s.data) {
		switch part.marker {
		case markSOF0:
			s.frame = part
		case markSOS:
			s.scan = part
		}
	}
	across, down := 8*s.sampling(0), 8*s.sampling(1)
	size := m.Bounds().Size()
	s.blocks = (size.X + across - 1) / across * ((size.Y + down - 1) / down)
	return s, nil
}

// sampling is how many samples the first component has for one of the least, across or down. A
// component that is alone is coded block by block.
func (s *jpegStripe) sampling(way int) int {
	const components, first = 5, 7 // in the frame's header
	if s.frame.body[components] == 1 {
		return 1
	}
	return int(s.frame.body[first] >> (4 - 4*way) & 15)
}

// coded is the scan's data.
func (s *jpegStripe) coded() []byte {
	return s.data[s.scan.at+4+len(s.scan.body) : len(s.data)-2]
}

// joinStripes makes one JPEG of stripes that have all but their heights in common.
func joinStripes(stripes []jpegStripe, height int) []byte {
	first := &stripes[0]
	out := bytes.Clone(first.data[:first.scan.at])
	binary.BigEndian.PutUint16(out[first.frame.at+5:], uint16(height))
	if len(stripes) > 1 {
		out = append(out, 0xff, markDRI, 0, 4)
		out = binary.BigEndian.AppendUint16(out, uint16(first.blocks))
	}
	out = append(out, first.data[first.scan.at:first.scan.at+4+len(first.scan.body)]...)
	for i := range stripes {
		if i > 0 {
			out = append(out, 0xff, markRST0+byte(i-1)%8)
		}
		out = append(out, stripes[i].coded()...)
	}
	return append(out, 0xff, markEOI)
}
