// Command bundle makes what the web pages load.
//
//	go run ./internal/webui/bundle
//
// It installs the npm packages of package-lock.json, bundles the TypeScript and the style sheet
// with esbuild, compiles the engine for browsers and writes all of it, compressed and named by its
// content, to internal/webui/dist, where package webui embeds it. The networks go to models/packed,
// where package models does. It does nothing when these folders are already right.
//
//	go run ./internal/webui/bundle -npm DIR
//
// writes the npm package to a folder, out of what is in internal/webui/dist.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"unink/internal/imagefile/codec"
)

const (
	root = "internal/webui"
	dist = root + "/dist"

	networks       = "models"
	packedNetworks = networks + "/packed"
	codecs         = "internal/imagefile/codec"
)

func main() {
	target := flag.String("npm", "", "write the npm package to this folder, and do nothing else")
	flag.Parse()
	work := bundle
	if *target != "" {
		work = func() error { return npmPackage(*target) }
	}
	if err := work(); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// manifest says what is in the folder; package webui reads it.
type manifest struct {
	Inputs string              `json:"inputs"` // hash of all that the folder was made of
	Files  map[string]string   `json:"files"`  // by source name, such as "front.ts": the name in the folder
	Loads  map[string][]string `json:"loads"`  // by page: the scripts that its own imports at once
	Engine engineSize          `json:"engine"`
}

func bundle() error {
	if _, err := os.Stat(root); err != nil {
		return errors.New("run this in the root of the source tree")
	}
	engine, err := compileEngine()
	if err != nil {
		return err
	}
	inputs, err := hashInputs(engine)
	if err != nil {
		return err
	}
	if err := install(); err != nil {
		return err
	}
	if text, err := os.ReadFile(dist + "/manifest.json"); err == nil {
		var made manifest
		if json.Unmarshal(text, &made) == nil && made.Inputs == inputs && networksPacked() {
			return nil
		}
	}
	b := &builder{
		manifest: manifest{Inputs: inputs, Files: map[string]string{}, Loads: map[string][]string{}},
		files:    map[string][]byte{},
		wasm:     engine,
	}
	for _, step := range []func() error{b.icons, b.static, b.pdf, b.scripts, b.engine,
		b.serviceWorker} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.write()
}

// hashInputs tells whether anything changed that the folder is made of.
func hashInputs(engine []byte) (string, error) {
	sum := sha256.New()
	sum.Write(engine)
	var inputs []string
	for _, pattern := range []string{networks + "/*.onnx", codecs + "/*.wasm.gz"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		inputs = append(inputs, found...)
	}
	for _, name := range []string{"bundle", "src", "static", "locales", "style.css",
		"package-lock.json", "tsconfig.json"} {
		inputs = append(inputs, filepath.Join(root, name))
	}
	for _, input := range inputs {
		err := filepath.WalkDir(input,
			func(file string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				text, err := os.ReadFile(file)
				fmt.Fprintf(sum, "%s %d\n%s", filepath.ToSlash(file), len(text), text)
				return err
			})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// install fetches the npm packages, unless they are those of the lock file already.
func install() error {
	lock, err := os.ReadFile(root + "/package-lock.json")
	if err != nil {
		return err
	}
	mark := root + "/node_modules/.installed" // a copy of the lock file that the folder was made from
	if made, err := os.ReadFile(mark); err == nil && bytes.Equal(made, lock) {
		return nil
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--omit=optional", "--no-audit", "--no-fund",
		"--loglevel=error")
	npm.Dir, npm.Stdout, npm.Stderr = root, os.Stderr, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("npm ci in %s: %w", root, err)
	}
	return os.WriteFile(mark, lock, 0o644)
}

// builder gathers the files of the folder.
type builder struct {
	manifest
	files map[string][]byte // by name in the folder
	later []string          // scripts of the front page, those with it and those it loads when needed
	wasm  []byte            // the engine
}

// add keeps a file under a name that tells its content.
func (b *builder) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	hashed := strings.TrimSuffix(name, ext) + "-" + strings.ToUpper(hex.EncodeToString(sum[:4])) + ext
	b.Files[name] = hashed
	b.files[hashed] = content
}

// static keeps pictures as they are.
func (b *builder) static() error {
	entries, err := os.ReadDir(root + "/static")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(root, "static", entry.Name()))
		if err != nil {
			return err
		}
		b.add(entry.Name(), content)
	}
	return nil
}

// pdf keeps what pdf.js loads by itself: its worker, fonts that files leave out, and decoders. They
// lie in a folder named by the version, under the names that pdf.js knows.
func (b *builder) pdf() error {
	const from = root + "/node_modules/pdfjs-dist"
	var about struct{ Version string }
	text, err := os.ReadFile(from + "/package.json")
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &about); err != nil {
		return err
	}
	folder := "pdf-" + about.Version
	b.Files["pdfjs"] = folder
	for _, pattern := range []string{"legacy/build/pdf.worker.min.mjs", "cmaps/*.bcmap",
		"standard_fonts/*.pfb", "wasm/*.wasm", "wasm/*.js", "iccs/*.icc"} {
		found, err := filepath.Glob(filepath.Join(from, pattern))
		if err != nil || len(found) == 0 {
			return fmt.Errorf("pdfjs-dist has no %s (%v)", pattern, err)
		}
		for _, file := range found {
			if strings.Contains(file, "quickjs") { // programs in PDFs are not run
				continue
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			name := strings.Replace(filepath.Base(file), ".mjs", ".js", 1) // not every web server knows .mjs
			b.files[path.Join(folder, filepath.Base(filepath.Dir(file)), name)] = content
		}
	}
	return nil
}

// scripts bundles an entry for each page, what they share, and the style sheet.
func (b *builder) scripts() error {
	entries, err := filepath.Glob(root + "/src/pages/*.ts")
	if err != nil {
		return err
	}
	options := esbuild(append(entries, root+"/src/site.ts", root+"/style.css"))
	options.Splitting = true
	options.EntryNames, options.ChunkNames = "[name]-[hash]", "[name]-[hash]"
	outputs, err := b.run(options)
	if err != nil {
		return err
	}
	for name, output := range outputs {
		if output.EntryPoint == "" || !strings.HasPrefix(output.EntryPoint, root) ||
			strings.Contains(output.EntryPoint, "node_modules") {
			continue
		}
		source := path.Base(output.EntryPoint)
		b.Files[source] = name
		if page, script := strings.CutSuffix(source, ".ts"); script {
			b.Loads[page] = imports(outputs, name, nil, "import-statement")[1:]
			if page == "front" {
				b.later = imports(outputs, name, nil, "import-statement", "dynamic-import")
			}
		}
	}
	return nil
}

// serviceWorker bundles the service worker, which knows what the front page is made of.
func (b *builder) serviceWorker() error {
	keep := append([]string{b.Files["front.ts"]}, b.Loads["front"]...)
	for _, name := range []string{"style.css", "icon.svg", "before.webp", "after.webp"} {
		keep = append(keep, b.Files[name])
	}
	slices.Sort(keep)
	list, err := json.Marshal(keep)
	if err != nil {
		return err
	}
	later := slices.DeleteFunc(slices.Clone(b.later), func(name string) bool {
		return slices.Contains(keep, name)
	})
	for name := range b.files {
		if strings.HasPrefix(name, b.Files["pdfjs"]+"/") {
			later = append(later, name)
		}
	}
	slices.Sort(later)
	var first []string // since a page may need them
	for _, name := range laterNetworks {
		first = append(first, b.Files[name])
	}
	for _, name := range codec.Names {
		first = append(first, b.Files[name+".wasm"])
	}
	later = slices.Concat(first, later)
	rest, err := json.Marshal(later)
	if err != nil {
		return err
	}
	var engine []string
	for _, name := range engineFiles {
		engine = append(engine, b.Files[name])
	}
	large, err := json.Marshal(engine)
	if err != nil {
		return err
	}
	options := esbuild([]string{root + "/src/worker/sw.ts"})
	options.Define = map[string]string{"KEEP": string(list), "ENGINE": string(large),
		"LATER":   string(rest),
		"VERSION": fmt.Sprintf("%q", b.Inputs[:12])}
	options.EntryNames = "[name]"
	_, err = b.run(options)
	return err
}

func esbuild(entries []string) api.BuildOptions {
	return api.BuildOptions{
		EntryPoints:       entries,
		Outdir:            dist,
		Bundle:            true,
		Format:            api.FormatESModule,
		Target:            api.ES2022,
		Charset:           api.CharsetUTF8,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone, // licences are in THIRD_PARTY.md
		Metafile:          true,
		LogLevel:          api.LogLevelWarning,
		TsconfigRaw:       `{}`,
	}
}

// output is one of esbuild's outputs, as its metafile has it.
type output struct {
	EntryPoint string
	Imports    []struct{ Path, Kind string }
}

func (b *builder) run(options api.BuildOptions) (map[string]output, error) {
	result := api.Build(options)
	if len(result.Errors) > 0 {
		return nil, errors.New("esbuild refuses the scripts")
	}
	for _, file := range result.OutputFiles {
		b.files[filepath.Base(file.Path)] = file.Contents
	}
	var meta struct{ Outputs map[string]output }
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return nil, err
	}
	named := map[string]output{}
	for file, o := range meta.Outputs {
		named[path.Base(file)] = o
	}
	return named, nil
}

// imports lists a script and all that it imports at once.
func imports(outputs map[string]output, name string, found []string, kinds ...string) []string {
	if slices.Contains(found, name) {
		return found
	}
	found = append(found, name)
	for _, i := range outputs[name].Imports {
		if slices.Contains(kinds, i.Kind) {
			found = imports(outputs, path.Base(i.Path), found, kinds...)
		}
	}
	return found
}

// write puts all files into a new folder, which takes the old one's place.
func (b *builder) write() error {
	packed, err := b.pack()
	if err != nil {
		return err
	}
	b.measure(packed)
	text, err := json.MarshalIndent(b.manifest, "", "  ")
	if err != nil {
		return err
	}
	site, models := map[string][]byte{"manifest.json": text}, map[string][]byte{}
	for name, content := range packed {
		if !isNetwork(name) {
			site[packedName(name)] = content
		}
	}
	for source, name := range b.Files {
		if isNetwork(source) {
			models[packedName(source)] = packed[name]
		}
	}
	if err := replace(packedNetworks, models); err != nil {
		return err
	}
	return replace(dist, site)
}

// replace makes a folder hold files, by their paths in it, and nothing else.
func replace(folder string, files map[string][]byte) error {
	fresh, old := folder+".new", folder+".old"
	for _, leftover := range []string{fresh, old} {
		if err := os.RemoveAll(leftover); err != nil {
			return err
		}
	}
	for name, content := range files {
		target := filepath.Join(fresh, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, content, 0o644); err != nil {
			return err
		}
	}
	if err := os.Rename(folder, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(fresh, folder); err != nil {
		return err
	}
	return os.RemoveAll(old)
}
