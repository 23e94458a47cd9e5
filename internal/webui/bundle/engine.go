package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"unink/internal/imagefile/codec"
)

// engineFiles are what cleaning in the browser loads before the first page: its worker, the engine,
// ONNX Runtime, and the networks that see every page.
var engineFiles = []string{"engine.worker.js", "engine.wasm", "runtime.worker.js", "runtime.wasm",
	"segment.onnx", "overview.onnx", "judge.onnx"}

// laterNetworks are loaded when a page needs them, and so are the decoders of [codec.Names].
var laterNetworks = []string{"flatten.onnx", "orient.onnx"}

// engineSize is how much of engineFiles is WebAssembly and networks.
type engineSize struct {
	Bytes  int `json:"bytes"`
	Packed int `json:"packed"` // as they are sent, compressed
}

// compileEngine compiles the engine for browsers.
func compileEngine() ([]byte, error) {
	dir, err := os.MkdirTemp("", "unink-bundle-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	target := filepath.Join(dir, "engine.wasm")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o",
		target, "./internal/browser")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("compiling the engine for browsers: %w", err)
	}
	return os.ReadFile(target)
}

// engine keeps what cleaning in the browser loads.
func (b *builder) engine() error {
	const runtime = root + "/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded"
	b.add("engine.wasm", b.wasm)
	from := map[string]string{"runtime.wasm": runtime + ".wasm", "runtime.worker.js": runtime + ".mjs"}
	for _, name := range slices.Concat(engineFiles, laterNetworks) {
		if isNetwork(name) {
			from[name] = filepath.Join(networks, name)
		}
	}
	for name, file := range from {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		b.add(name, content)
	}
	for _, name := range codec.Names {
		content, err := codec.Module(name)
		if err != nil {
			return err
		}
		b.add(name+".wasm", content)
	}
	return b.engineWorker()
}

// isDecoder tells files, by their names in the folder, that package codec has compressed already.
func (b *builder) isDecoder(name string) bool {
	return slices.ContainsFunc(codec.Names, func(decoder string) bool {
		return b.Files[decoder+".wasm"] == name
	})
}

func isNetwork(name string) bool { return path.Ext(name) == ".onnx" }

// isLarge tells what Brotli is worth its time for.
func isLarge(name string) bool { return isNetwork(name) || path.Ext(name) == ".wasm" }

// measure sums what is loaded before the first page.
func (b *builder) measure(packed map[string][]byte) {
	for _, name := range engineFiles {
		if isLarge(name) {
			b.Engine.Bytes += len(b.files[b.Files[name]])
			b.Engine.Packed += len(packed[b.Files[name]])
		}
	}
}

// engineWorker bundles the worker that runs the engine, with what Go's compiler wants of a browser.
func (b *builder) engineWorker() error {
	wasmExec, err := goWasmExec()
	if err != nil {
		return err
	}
	options := esbuild([]string{root + "/src/worker/engine.ts"})
	options.Conditions = []string{"onnxruntime-web-use-extern-wasm"}
	options.Alias = map[string]string{"go-wasm-exec": wasmExec}
	options.EntryNames = "[name].worker-[hash]"
	options.Platform = api.PlatformBrowser
	outputs, err := b.run(options)
	if err != nil {
		return err
	}
	for name := range outputs {
		b.Files["engine.worker.js"] = name
	}
	return nil
}

// goWasmExec is the path of the script that Go's compiler ships to run its programs in browsers.
func goWasmExec() (string, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOROOT: %w", err)
	}
	return filepath.Join(strings.TrimSpace(string(goroot)), "lib/wasm/wasm_exec.js"), nil
}
