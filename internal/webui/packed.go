package webui

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/andybalholm/brotli"

	"unink/internal/imagefile/codec"
	"unink/models"
)

// packed is a file that pages load as the program holds it: compressed, in one way.
type packed struct {
	content []byte
	coding  string // the Content-Encoding
}

// codings are the ways and the endings of files in dist/.
var codings = map[string]string{"gzip": ".gz", "br": ".br"}

// packed finds a file by the name that tells its content. Networks and decoders are the engine's
// own.
func (u *UI) packed(name string) (packed, error) {
	source := u.sourceOf(name)
	if network, ok := strings.CutSuffix(source, ".onnx"); ok {
		content, err := models.Packed(network)
		return packed{content, "br"}, err
	}
	if isDecoder(source) {
		content, err := codec.Packed(strings.TrimSuffix(source, ".wasm"))
		return packed{content, "gzip"}, err
	}
	for coding, ending := range codings {
		content, err := built.ReadFile("dist/" + name + ending)
		if !errors.Is(err, fs.ErrNotExist) {
			return packed{content, coding}, err
		}
	}
	return packed{}, fs.ErrNotExist
}

// isDecoder says that a file, by its source's name, reads pictures that browsers do not.
func isDecoder(source string) bool {
	name, ok := strings.CutSuffix(source, ".wasm")
	return ok && slices.Contains(codec.Names, name)
}

// sourceOf is the source's name of a file, empty where there is none.
func (u *UI) sourceOf(name string) string {
	for source, file := range u.manifest.Files {
		if file == name {
			return source
		}
	}
	return ""
}

// names lists all files.
func (u *UI) names() (names []string, err error) {
	err = fs.WalkDir(built, "dist", func(file string, _ fs.DirEntry, err error) error {
		ending := path.Ext(file)
		if ending == codings["gzip"] || ending == codings["br"] {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(file, "dist/"), ending))
		}
		return err
	})
	for source, file := range u.manifest.Files {
		if path.Ext(source) == ".onnx" || isDecoder(source) {
			names = append(names, file)
		}
	}
	slices.Sort(names)
	return names, err
}

// read gives a file's content.
func (u *UI) read(name string) ([]byte, error) {
	p, err := u.packed(name)
	if err != nil {
		return nil, err
	}
	return p.expand()
}

func (p packed) expand() ([]byte, error) {
	if p.coding == "br" {
		return io.ReadAll(brotli.NewReader(bytes.NewReader(p.content)))
	}
	r, err := gzip.NewReader(bytes.NewReader(p.content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// accepts tells whether a browser can read a Content-Encoding.
func accepts(r *http.Request, wanted string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		coding, q, _ := strings.Cut(strings.TrimSpace(part), ";")
		if coding == wanted && strings.ReplaceAll(q, " ", "") != "q=0" {
			return true
		}
	}
	return false
}
