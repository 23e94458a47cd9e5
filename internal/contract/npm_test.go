package contract

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"unink/internal/browsertest"
)

// TestNpmPackage installs the npm package as its users do, and uses it in Node and in Chromium.
// Both make the same of a file as the program.
func TestNpmPackage(t *testing.T) {
	t.Parallel()
	dir := installPackage(t)
	run(t, "", program, "clean", filepath.Join(dir, "page.jpg"), "-o",
		filepath.Join(dir, "program.png"))
	there := read(t, filepath.Join(dir, "program.png"))
	t.Run("Node", func(t *testing.T) {
		run(t, dir, "node", "node.mjs")
		differ(t, "Node", read(t, filepath.Join(dir, "node.png")), there, 1)
	})
	t.Run("Node's command line", func(t *testing.T) {
		run(t, dir, "node", "--input-type=module", "--eval", `
			import { openAsBlob } from 'node:fs';
			import { clean } from 'unink';
			await clean(await openAsBlob('small.png'));`)
	})
	t.Run("Node with onnxruntime-node", func(t *testing.T) {
		other := filepath.Join(installPackage(t), "node_modules", "onnxruntime-node")
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		const asked = `exports.InferenceSession = { create: () => Promise.reject('it was asked') };`
		if err := os.WriteFile(filepath.Join(other, "index.js"), []byte(asked), 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, filepath.Join(other, "..", ".."), "node", "--input-type=module", "--eval", `
			import { openAsBlob } from 'node:fs';
			import { clean } from 'unink';
			const told = await clean(await openAsBlob('small.png')).catch(({ message }) => message);
			if (!String(told).includes('it was asked')) throw new Error(told);`)
	})
	t.Run("Chromium", func(t *testing.T) {
		server := httptest.NewServer(isolated(http.FileServer(http.Dir(dir))))
		t.Cleanup(server.Close)
		p := browsertest.Open(t, browsertest.Start(t), server.URL)
		p.Is(`crossOriginIsolated`, "true")
		p.UntilLong(`window.image`)
		here, err := base64.StdEncoding.DecodeString(p.Eval(`image`))
		if err != nil {
			t.Fatal(p.Eval(`image`))
		}
		differ(t, "Chromium", here, there, 1)
	})
}

// installPackage gives a folder with the package installed, what uses it, and pictures.
func installPackage(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/npm")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"page.jpg": read(t, "../../docs/before.jpg"), "small.png": picture(220, 120),
		"photo.heic":   read(t, "../imagefile/testdata/plain.heic"),
		"package.json": []byte("{}"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	folder := t.TempDir()
	run(t, "../..", "go", "run", "./internal/webui/bundle", "-npm", folder)
	run(t, dir, "npm", "pack", "--silent", folder)
	packed, err := filepath.Glob(filepath.Join(dir, "unink-*.tgz"))
	if err != nil || len(packed) != 1 {
		t.Fatalf("npm pack made %v (%v)", packed, err)
	}
	run(t, dir, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", packed[0])
	return dir
}

// isolated lets pages have threads.
func isolated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		next.ServeHTTP(w, r)
	})
}

// run runs a command in a folder.
func run(t *testing.T, dir, name string, arguments ...string) {
	t.Helper()
	command := exec.Command(name, arguments...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", command, err, out)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
