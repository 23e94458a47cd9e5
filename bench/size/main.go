// Command size tells what the program's bytes are.
//
//	go run ./bench/size
//
// It builds the program for Linux as "make build" does, but with its symbols, which the figures
// leave out. The files that are built in are counted by package, as "go list" knows them, and the
// Go code by module, as the symbols tell. The code's tables, by which the runtime finds its way,
// belong to no symbol.
package main

import (
	"cmp"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "size:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "unink-size-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "unink")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/unink")
	build.Env = append(os.Environ(), "GOOS=linux")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", build, err, out)
	}
	files, modules, err := packages()
	if err != nil {
		return err
	}
	file, err := elf.Open(program)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	code, err := symbols(file, modules)
	if err != nil {
		return err
	}
	all := loaded(file)
	rest := all - sum(files) - sum(code)
	fmt.Printf("%6.2f MB  the program\n\n%6.2f MB  files, by package\n", mega(all), mega(sum(files)))
	list(files, 8)
	fmt.Printf("\n%6.2f MB  Go code and its data, by module\n", mega(sum(code)))
	list(code, 20)
	fmt.Printf("\n%6.2f MB  tables of the Go code\n", mega(rest))
	return nil
}

// packages returns the bytes of files that each package embeds, and each package's module.
func packages() (files map[string]uint64, modules map[string]string, err error) {
	const each = "{{.ImportPath}}\t{{with .Module}}{{.Path}}{{end}}\t{{.Dir}}\t" +
		`{{join .EmbedFiles "\t"}}`
	out, err := exec.Command("go", "list", "-deps", "-f", each, "./cmd/unink").Output()
	if err != nil {
		return nil, nil, err
	}
	files, modules = map[string]uint64{}, map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 3 {
			continue
		}
		name, dir := fields[0], fields[2]
		modules[name] = cmp.Or(fields[1], "the standard library")
		for _, file := range fields[3:] {
			info, err := os.Stat(filepath.Join(dir, file))
			if err != nil {
				return nil, nil, err
			}
			files[name] += uint64(info.Size()) //nolint:gosec // not negative
		}
	}
	return files, modules, nil
}

// symbols returns the bytes of symbols by module, without the files, which have symbols only when
// they are slices of bytes.
func symbols(file *elf.File, modules map[string]string) (map[string]uint64, error) {
	all, err := file.Symbols()
	if err != nil {
		return nil, err
	}
	code := map[string]uint64{}
	for _, s := range all {
		inFile := int(s.Section) < len(file.Sections) && file.Sections[s.Section].Type != elf.SHT_NOBITS
		if inFile && !strings.Contains(s.Name, "..gobytes.") {
			code[cmp.Or(modules[packageOf(s.Name)], "shared by several")] += s.Size
		}
	}
	return code, nil
}

// packageOf is the import path in a symbol's name: all before the first dot after the last slash.
func packageOf(symbol string) string {
	name, _, _ := strings.Cut(symbol, "[") // of a generic function's types
	last := strings.LastIndex(name, "/") + 1
	element, _, _ := strings.Cut(name[last:], ".")
	return strings.ReplaceAll(name[:last]+element, "%2e", ".")
}

// loaded is what is left in the file without symbols.
func loaded(file *elf.File) (bytes uint64) {
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_ALLOC != 0 && s.Type != elf.SHT_NOBITS {
			bytes += s.Size
		}
	}
	return bytes
}

func list(sizes map[string]uint64, most int) {
	names := slices.SortedFunc(maps.Keys(sizes), func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(most, len(names))] {
		fmt.Printf("%9.2f  %s\n", mega(sizes[name]), name)
	}
}

func sum(sizes map[string]uint64) (all uint64) {
	for _, size := range sizes {
		all += size
	}
	return all
}

func mega(bytes uint64) float64 { return float64(bytes) / 1e6 }
