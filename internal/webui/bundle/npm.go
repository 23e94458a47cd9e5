package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/evanw/esbuild/pkg/api"

	"unink/internal/imagefile/codec"
)

// npmSource is where what only the npm package has lies.
const npmSource = root + "/npm"

// npmPackage writes the npm package to a folder, with the engine as the pages have it.
func npmPackage(target string) error {
	text, err := os.ReadFile(dist + "/manifest.json")
	if err != nil {
		return fmt.Errorf("%w (make deps makes it)", err)
	}
	var made manifest
	if err := json.Unmarshal(text, &made); err != nil {
		return err
	}
	files, err := npmFiles(made)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(target, name), content, 0o644); err != nil {
			return err
		}
	}
	return npmScripts(target, made.Engine.Bytes)
}

// npmFiles are the package's files but for its scripts: the engine, the networks, the decoders, and
// the licences.
func npmFiles(made manifest) (files map[string][]byte, err error) {
	files = map[string][]byte{}
	for name, from := range map[string]string{
		"engine.wasm": "engine.wasm", "runtime.wasm": "runtime.wasm", "runtime.js": "runtime.worker.js",
	} {
		if files[name], err = readPacked(made.Files[from]); err != nil {
			return nil, err
		}
	}
	for _, name := range codec.Names {
		if files[name+".wasm"], err = codec.Module(name); err != nil {
			return nil, err
		}
	}
	copied, err := filepath.Glob(codecs + "/LICENSE.*")
	if err != nil {
		return nil, err
	}
	copied = append(copied, npmSource+"/package.json", npmSource+"/README.md",
		npmSource+"/unink.d.ts", "LICENSE", "THIRD_PARTY.md")
	for _, name := range slices.Concat(engineFiles, laterNetworks) {
		if isNetwork(name) {
			copied = append(copied, filepath.Join(networks, name))
		}
	}
	for _, file := range copied {
		if files[filepath.Base(file)], err = os.ReadFile(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// readPacked reads what a file of dist/ holds.
func readPacked(name string) ([]byte, error) {
	packed, err := os.ReadFile(filepath.Join(dist, packedName(name)))
	if err != nil {
		return nil, err
	}
	if isLarge(name) {
		return unbrotli(packed)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// npmScripts bundles the scripts for browsers and those for Node, where ONNX Runtime is another.
func npmScripts(target string, size int) error {
	wasmExec, err := goWasmExec()
	if err != nil {
		return err
	}
	runtimes := map[api.Platform]string{
		api.PlatformBrowser: "ort.wasm.min.mjs",
		api.PlatformNode:    "ort.node.min.mjs",
	}
	scripts := map[api.Platform][]string{
		api.PlatformBrowser: {npmSource + "/browser.ts", npmSource + "/worker.ts"},
		api.PlatformNode:    {npmSource + "/node.ts", npmSource + "/worker.node.ts"},
	}
	for platform, entries := range scripts {
		options := esbuild(entries)
		options.Outdir, options.Platform, options.Write = target, platform, true
		options.Define = map[string]string{"BYTES": fmt.Sprint(size)}
		options.Alias = map[string]string{
			"go-wasm-exec":         wasmExec,
			"onnxruntime-web/wasm": "./" + root + "/node_modules/onnxruntime-web/dist/" + runtimes[platform],
		}
		if len(api.Build(options).Errors) > 0 {
			return errors.New("esbuild refuses the npm package's scripts")
		}
	}
	return nil
}
