package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	for _, v := range m.values {
		if strings.HasSuffix(v.Label(), " noTwin") {
			return
		}
	}
	t.Error("a value of the engine is not among those that are varied")
}
