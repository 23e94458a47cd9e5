package main

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// spinning has a function that never ends but pauses, and one that grows its memory of one page:
//
//	(import "host" "pause" (func))
//	(memory 1)
//	(func (export "spin") (loop (call 0) (br 0)))
//	(func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))
const spinning = "\x00asm\x01\x00\x00\x00" +
	"\x01\x09\x02\x60\x00\x00\x60\x01\x7f\x01\x7f" +
	"\x02\x0e\x01\x04host\x05pause\x00\x00" +
	"\x03\x03\x02\x00\x01" +
	"\x05\x03\x01\x00\x01" +
	"\x07\x18\x03\x04spin\x00\x01\x04grow\x00\x02\x06memory\x02\x00" +
	"\x0a\x12\x02\x09\x00\x03\x40\x10\x00\x0c\x00\x0b\x0b\x06\x00\x20\x00\x40\x00\x0b"

const boundsScript = `
import { sandbox } from './sandbox.mjs';
const module = new WebAssembly.Module(Buffer.from(process.argv[2], 'base64'));
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
		base64.StdEncoding.EncodeToString([]byte(spinning))).CombinedOutput()
	if err != nil || string(out) != "time memory\n" {
		t.Errorf("%s (%v), want time memory", out, err)
	}
}
