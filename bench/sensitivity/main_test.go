package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// Whatever the engine's constants are used for, it compiles with them made variable.
func TestEngineCompilesWithItsValuesVariable(t *testing.T) {
	t.Chdir(filepath.Join("..", ".."))
	m, err := instrument(engine)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := m.overlay(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", overlay, "-o", os.DevNull,
		"./bench/sensitivity/measure")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range arithmetic {
		if !slices.ContainsFunc(m.fixed, func(f fixed) bool { return f.Label() == name }) {
			t.Errorf("the engine has no number %q to leave as it is", name)
		}
	}
	if len(m.values) < len(engine) {
		t.Errorf("%d values of %d packages", len(m.values), len(engine))
	}
}
