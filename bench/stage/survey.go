package stage

import (
	"io/fs"
	"runtime"

	"unink/internal/nn"
	"unink/internal/restore"
	"unink/models"
)

// Surveyor opens the networks that classify a page's pixels, segment.onnx and overview.onnx with
// their manifests: what they say is what later stages are trained on.
func Surveyor(from fs.FS) (*restore.Engine, error) {
	e := &restore.Engine{Threads: runtime.NumCPU()}
	for _, n := range []struct {
		name   string
		layout nn.Layout
		to     *nn.Runner
	}{
		{"overview", nn.Overviewing, &e.Overview},
		{"segment", nn.Segmenting, &e.Segmenter},
	} {
		onnx, m, err := models.Read(from, n.name)
		if err != nil {
			return nil, err
		}
		runner, err := nn.Open(nn.Config{
			Model: onnx, Inputs: m.Inputs, Output: m.Output, Layout: n.layout,
		})
		if err != nil {
			return nil, err
		}
		*n.to, e.Em = runner, m.Em
	}
	return e, nil
}
