package nn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"unink/models"
)

func open(t testing.TB) *ONNX {
	t.Helper()
	o, err := Open(Config{Network: models.Segment()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	})
	return o
}

// The network gives the same answer here as it gave in PyTorch when it was exported. Its numbers
// are rounded to eight bits; the two round a few of them to different sides, so logits differ a
// little and a pixel on the brink may too.
func TestParity(t *testing.T) {
	const meanTolerance, agreement = 0.1, 0.998
	o := open(t)
	crops, err := filepath.Glob("../../models/parity/*.png")
	if err != nil || len(crops) == 0 {
		t.Fatalf("no parity vectors: %v", err)
	}
	for _, path := range crops {
		squares, shape := readCrop(t, path)
		told := readFloats(t, strings.TrimSuffix(path, ".png")+".context.bin")
		answer := newAnswer(shape)
		if err := o.Run(t.Context(), Tile(shape, squares, told), answer); err != nil {
			t.Fatal(err)
		}
		want := readFloats(t, strings.TrimSuffix(path, ".png")+".bin")
		got := logitsOf(answer)
		if len(got) != len(want) {
			t.Fatalf("%s: %d logits, want %d", path, len(got), len(want))
		}
		mean, same := 0.0, 0
		for i := range got {
			mean += math.Abs(float64(got[i]-want[i])) / float64(len(got))
		}
		for i := range shape.Pixels() {
			if class(got, i) == class(want, i) {
				same++
			}
		}
		share := float64(same) / float64(shape.Pixels())
		t.Logf("%s: logits differ by %.3f in the mean, %.2f %% of the pixels have the same class",
			filepath.Base(path), mean, 100*share)
		if mean > meanTolerance || share < agreement {
			t.Errorf("%s: logits differ by %g in the mean (at most %g), %g of the pixels have the same "+
				"class (at least %g)",
				path, mean, meanTolerance, share, agreement)
		}
	}
}

// class is the likeliest class of a pixel; they are counted quarter by quarter.
func class(logits []float32, i int) (best int) {
	plane := len(logits) / Classes
	for c := range Classes {
		if logits[c*plane+i] > logits[best*plane+i] {
			best = c
		}
	}
	return best
}

func newAnswer(s Shape) []Tensor {
	n := s.Squares() * SquareOutputs
	return TileAnswer(s, make([]uint8, n), make([]uint8, n))
}

// logitsOf are the logits that an answer stands for, as training has them: planes of the values of
// all squares.
func logitsOf(answer []Tensor) (logits []float32) {
	classes, under := answer[0].Bytes, answer[1].Bytes
	n := len(classes) / SquareOutputs
	logits = make([]float32, len(classes))
	for i := range n {
		for k := range SquarePixels {
			at := func(class int) *float32 { return &logits[(class*SquarePixels+k)*n+i] }
			for c := range Classes {
				*at(c) = ClassBytes.Value(classes[i*SquareOutputs+c*SquarePixels+k])
			}
			written, odds := max(*at(Handwriting), *at(Both)), UnderBytes.Value(under[i*SquareOutputs+k])
			*at(Handwriting), *at(Both) = written+min(-odds, 0), written+min(odds, 0)
		}
	}
	return logits
}

func readCrop(t *testing.T, path string) (squares []uint8, shape Shape) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	shape = Shape{m.Bounds().Dx(), m.Bounds().Dy()}
	squares = make([]uint8, shape.Squares()*SquareInputs)
	for y := range shape.H {
		for x := range shape.W {
			r, g, b, _ := m.At(x, y).RGBA()
			square := (y/SquareSide*(shape.W/SquareSide) + x/SquareSide) * SquareInputs
			for c, v := range [3]uint32{r, g, b} {
				squares[square+c*SquarePixels+y%SquareSide*SquareSide+x%SquareSide] =
					TileBytes.Round(float32(v>>8)/255 - 0.5)
			}
		}
	}
	return squares, shape
}

func readFloats(t *testing.T, path string) []float32 {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float32, len(raw)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
	}
	return out
}

// The same tile gives the same answer, also when several run at once.
func TestRunIsDeterministic(t *testing.T) {
	o := open(t)
	in := emptyTile()
	for i := range in[0].Bytes {
		in[0].Bytes[i] = uint8(i % 251)
	}
	answers := make(chan []Tensor, 3)
	for range cap(answers) {
		go func() {
			out := newAnswer(LargestTile)
			if err := o.Run(context.Background(), in, out); err != nil {
				t.Error(err)
			}
			answers <- out
		}()
	}
	first := <-answers
	for range cap(answers) - 1 {
		for k, other := range <-answers {
			if !bytes.Equal(other.Bytes, first[k].Bytes) {
				t.Fatalf("output %d is not the same again", k)
			}
		}
	}
}

// emptyTile is the inputs for the largest tile.
func emptyTile() []Tensor {
	s := LargestTile
	return Tile(s, make([]uint8, s.Squares()*SquareInputs), make([]float32, ContextPlanes*s.Cells()))
}

func TestRunStopsBeforeItBegins(t *testing.T) {
	o := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := o.Run(ctx, emptyTile(), newAnswer(LargestTile)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}

// A device that is asked for and not there is an error, not a silent fall back.
func TestUnusableDevice(t *testing.T) {
	for _, device := range []string{"cuda", "abacus"} {
		_, err := Open(Config{Network: models.Segment(), Device: device})
		if !errors.Is(err, ErrDevice) || !strings.Contains(err.Error(), "cpu") {
			t.Errorf("%s: %v", device, err)
		}
	}
}

func TestLibraryIsUnpackedOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var path string
	if err := withLibrary(func(p string) error { path = p; return nil }); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := withLibrary(func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(path); err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("unpacked again: %v", err)
	}
	// A damaged copy is replaced, never loaded.
	if err := os.WriteFile(path, []byte("not a library"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := withLibrary(func(string) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if repaired, err := os.Stat(path); err != nil || repaired.Size() != before.Size() {
		t.Errorf("the damaged library is still there: %v", err)
	}
}

func TestLibraryWithoutCacheFolder(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	t.Setenv("HOME", "/dev/null")
	t.Setenv("TMPDIR", t.TempDir())
	err := withLibrary(func(p string) error {
		_, err := os.Stat(p)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// What the library makes of a network is kept, is used again, and comes to the same. A damaged copy
// is not used, and replaced.
func TestPreparedNetworkIsKept(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	network := models.Orient()
	in, out := Look(make([]float32, Window.Pixels())), LookAnswer(make([]float32, Votes))
	for i := range in[0].Floats {
		in[0].Floats[i] = float32(i%29) / 29
	}
	answer := func() []float32 {
		o, err := Open(Config{Network: network})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(o.Run(t.Context(), in, out), o.Close()); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(out[0].Floats)
	}
	first := answer()
	files, err := filepath.Glob(filepath.Join(cache, "*", "network-*"))
	if more, _ := filepath.Glob(filepath.Join(cache, "*", "*", "network-*")); err == nil {
		files = append(files, more...) // macOS has its caches deeper
	}
	if len(files) != 1 {
		t.Fatalf("kept: %v", files)
	}
	kept, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if again := answer(); !slices.Equal(first, again) {
		t.Errorf("as kept it says %v, at first %v", again, first)
	}
	damaged := slices.Clone(kept)
	damaged[len(damaged)/2] ^= 1
	for name, content := range map[string][]byte{
		"damaged": damaged, "empty": {}, "cut short": kept[:99],
	} {
		if err := os.WriteFile(files[0], content, 0o600); err != nil {
			t.Fatal(err)
		}
		if again := answer(); !slices.Equal(first, again) {
			t.Errorf("%s: it says %v, at first %v", name, again, first)
		}
		if now, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(now, kept) {
			t.Errorf("%s: it is not replaced: %d bytes for %d, %v", name, len(now), len(kept), err)
		}
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(files[0]), ".prepare-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// Where nothing can be kept it works all the same.
	t.Setenv("XDG_CACHE_HOME", "/dev/null")
	t.Setenv("HOME", "/dev/null")
	if again := answer(); !slices.Equal(first, again) {
		t.Errorf("without a cache it says %v, at first %v", again, first)
	}
}

func BenchmarkTile(b *testing.B) {
	o := open(b)
	in, out := emptyTile(), newAnswer(LargestTile)
	for b.Loop() {
		if err := o.Run(context.Background(), in, out); err != nil {
			b.Fatal(err)
		}
	}
	megapixels := float64(LargestTile.Pixels()) / 1e6
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/megapixels, "ms/MP")
}
