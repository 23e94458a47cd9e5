package unink_test

import (
	"bytes"
	"image"
	_ "image/jpeg" // for the result
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// readmeProgram is the Go program that the README shows.
func readmeProgram(t *testing.T) []byte {
	t.Helper()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(readme, []byte("```go\n"))
	program, _, found := bytes.Cut(after, []byte("```\n"))
	if !found {
		t.Fatal("the README shows no Go program")
	}
	return program
}

// The README's program builds as it stands in a module of its own, which names a checkout by
// replace, and cleans a page.
func TestOutsideModule(t *testing.T) {
	checkout, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	// The requirements are ours, so that nothing has to be downloaded for the test.
	outside := strings.Replace(string(mod), "module unink\n", "module example\n", 1)
	write("go.mod", []byte(outside+"\nrequire unink v0.0.0\n\nreplace unink => "+checkout+"\n"))
	write("go.sum", sum)
	write("main.go", readmeProgram(t))
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
		}
	}
	program, result := filepath.Join(dir, "example"), filepath.Join(dir, "after.jpg")
	run("go", "build", "-mod=mod", "-o", program, ".")
	run(program, filepath.Join(checkout, "docs", "before.jpg"), result)
	after, err := os.ReadFile(result)
	if err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join("docs", "before.jpg"))
	if err != nil {
		t.Fatal(err)
	}
	was, _, err := image.DecodeConfig(bytes.NewReader(before))
	if err != nil {
		t.Fatal(err)
	}
	is, _, err := image.DecodeConfig(bytes.NewReader(after))
	if err != nil {
		t.Fatal(err)
	}
	if was.Width != is.Width || was.Height != is.Height || bytes.Equal(before, after) {
		t.Errorf("the result is %d×%d, %d bytes; want a cleaned page of %d×%d", is.Width, is.Height,
			len(after), was.Width, was.Height)
	}
}
