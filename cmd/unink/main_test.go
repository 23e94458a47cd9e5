package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Every module that the program is built from stands in THIRD_PARTY.md with its version.
func TestThirdPartiesAreNamed(t *testing.T) {
	named, err := os.ReadFile("../../THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	const form = `{{with .Module}}{{if not .Main}}{{.Path}} | {{.Version}}{{end}}{{end}}`
	modules, err := exec.Command("go", "list", "-deps", "-f", form, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for module := range strings.Lines(string(modules)) {
		row := "| " + strings.TrimSpace(module) + " |"
		if !seen[row] && !strings.Contains(string(named), row) {
			t.Errorf("THIRD_PARTY.md lacks a row that begins with %s", row)
		}
		seen[row] = true
	}
	if len(seen) == 0 {
		t.Error("the build names no modules")
	}
}
