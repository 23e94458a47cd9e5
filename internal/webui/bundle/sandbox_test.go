package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

const boundsScript = `
import { readFileSync } from 'node:fs';
import { sandbox } from './sandbox.mjs';
const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const page = 65536;
const thrown = (exports) => {
	try {
		exports.spin();
	} catch ({ message }) {
		return message;
	}
};
const slow = sandbox(module, page, 1);
const large = sandbox(module, page, 60_000);
large.grow(1);
console.log(thrown(slow), thrown(large));
`

// A decoder on the device has no more time and memory than it is given.
func TestDecodersOnTheDeviceAreBounded(t *testing.T) {
	dir := t.TempDir()
	built := api.Build(api.BuildOptions{
		EntryPoints: []string{"../src/worker/sandbox.ts"}, Outfile: filepath.Join(dir, "sandbox.mjs"),
		Format: api.FormatESModule, TsconfigRaw: "{}", Write: true, LogLevel: api.LogLevelWarning,
	})
	if len(built.Errors) > 0 {
		t.Fatal("esbuild refuses sandbox.ts")
	}
	script := filepath.Join(dir, "bounds.mjs")
	if err := os.WriteFile(script, []byte(boundsScript), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("node", script,
		"../../sandbox/testdata/greedy.wasm").CombinedOutput()
	if err != nil || string(out) != "time memory\n" {
		t.Errorf("%s (%v), want time memory", out, err)
	}
}
