package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"github.com/andybalholm/brotli"
	"golang.org/x/sync/errgroup"
)

// packedName is the name under which a file is kept compressed: by Brotli where that saves
// megabytes, else by gzip, which browsers also take by plain HTTP.
func packedName(name string) string {
	if isLarge(name) {
		return name + ".br"
	}
	return name + ".gz"
}

// pack compresses all files.
func (b *builder) pack() (map[string][]byte, error) {
	sources := map[string]string{} // names by which the folder of networks has them
	for source, name := range b.Files {
		if isNetwork(source) {
			sources[name] = filepath.Join(packedNetworks, packedName(source))
		}
	}
	var mu sync.Mutex
	packed := map[string][]byte{}
	var work errgroup.Group
	work.SetLimit(runtime.NumCPU())
	for _, name := range slices.Sorted(maps.Keys(b.files)) {
		if b.isDecoder(name) {
			continue
		}
		work.Go(func() error {
			old := sources[name]
			if old == "" {
				old = filepath.Join(dist, packedName(name))
			}
			content := compress(name, b.files[name], old)
			mu.Lock()
			defer mu.Unlock()
			packed[name] = content
			return nil
		})
	}
	return packed, work.Wait()
}

// compress packs a file. What Brotli made of the same content before is taken again, since it takes
// a minute.
func compress(name string, content []byte, old string) []byte {
	if !isLarge(name) {
		return gzipped(content)
	}
	if made, err := os.ReadFile(old); err == nil {
		if was, err := unbrotli(made); err == nil && bytes.Equal(was, content) {
			return made
		}
	}
	var b bytes.Buffer
	w := brotli.NewWriterOptions(&b, brotli.WriterOptions{Quality: 10, LGWin: 24})
	_, _ = w.Write(content) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

func unbrotli(packed []byte) ([]byte, error) {
	return io.ReadAll(brotli.NewReader(bytes.NewReader(packed)))
}

func gzipped(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		panic(err) // never: the level is a constant
	}
	_, _ = w.Write(content) // a bytes.Buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// networksPacked tells whether all networks are in their folder.
func networksPacked() bool {
	for _, name := range slices.Concat(engineFiles, laterNetworks) {
		if !isNetwork(name) {
			continue
		}
		if _, err := os.Stat(filepath.Join(packedNetworks, packedName(name))); err != nil {
			return false
		}
	}
	return true
}
