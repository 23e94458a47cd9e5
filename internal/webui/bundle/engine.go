package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// engineFiles are what cleaning in the browser loads: its worker, the engine with its networks, and
// ONNX Runtime.
var engineFiles = []string{"engine.worker.js", "engine.wasm", "runtime.worker.js", "runtime.wasm"}

// engineSize is how much of it is WebAssembly.
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
	parts := map[string][]byte{"engine.wasm": b.wasm}
	for name, file := range map[string]string{
		"runtime.wasm": runtime + ".wasm", "runtime.worker.js": runtime + ".mjs",
	} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		parts[name] = content
	}
	for name, content := range parts {
		b.add(name, content)
		if strings.HasSuffix(name, ".wasm") {
			b.Engine.Bytes += len(content)
			b.Engine.Packed += len(compress(content))
		}
	}
	return b.engineWorker()
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
