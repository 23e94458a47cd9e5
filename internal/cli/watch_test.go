package cli

import (
	"bytes"
	"context"
	"image"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"unink/internal/imagefile"
)

// lines is what a command writes while it runs.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// watching runs watch on a folder; end interrupts it and returns its exit code.
func watching(t *testing.T, args ...string) (out, mistakes *lines, end func() int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, mistakes = &lines{}, &lines{}
	code := make(chan int, 1)
	go func() {
		code <- run(&environment{ctx: ctx, stdin: strings.NewReader(""), stdout: out, stderr: mistakes,
			open: openDrawing}, append([]string{"watch"}, args...))
	}()
	return out, mistakes, func() int {
		cancel()
		return <-code
	}
}

// await waits until it holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	for tick := time.Tick(10 * time.Millisecond); !holds(); {
		select {
		case <-tick:
		case <-late:
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

func isThere(path string) func() bool {
	return func() bool { _, err := os.Stat(path); return err == nil }
}

func pagePNG(t *testing.T) []byte {
	t.Helper()
	data, err := imagefile.EncodePNG(image.NewGray(image.Rect(0, 0, 40, 30)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// What lies in the folder is cleaned, and what comes, in folders too; what is broken is told once,
// and cleaned when it is mended; results are not taken for pages.
func TestWatch(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "scans")
	put(t, filepath.Join(folder, "first.png"), pagePNG(t))
	out, mistakes, end := watching(t, folder)
	await(t, "the page that was there", isThere(filepath.Join(folder+".clean", "first.png")))

	put(t, filepath.Join(folder, "broken.png"), pagePNG(t)[:50])
	await(t, "the broken page is told", func() bool {
		return strings.Contains(mistakes.String(), "broken.png")
	})
	put(t, filepath.Join(folder, "class 2", "second.png"), pagePNG(t))
	await(t, "the page that came", isThere(filepath.Join(folder+".clean", "class 2", "second.png")))
	put(t, filepath.Join(folder, "broken.png"), pagePNG(t))
	await(t, "the page that was mended", isThere(filepath.Join(folder+".clean", "broken.png")))

	if code := end(); code != exitInterrupted {
		t.Errorf("exit code %d, want %d", code, exitInterrupted)
	}
	if n := strings.Count(mistakes.String(), "broken.png"); n != 1 {
		t.Errorf("the broken page is told %d times:\n%s", n, mistakes)
	}
	if n := strings.Count(out.String(), " -> "); n != 3 {
		t.Errorf("%d pages cleaned, want 3:\n%s", n, out)
	}
}

// Started again, watch cleans what changed since and nothing else, also where the results lie in
// the folder itself.
func TestWatchAgain(t *testing.T) {
	folder := t.TempDir()
	results := filepath.Join(folder, "done")
	long := time.Now().Add(-time.Hour)
	for _, name := range []string{"same.png", "changed.png", "new.png"} {
		put(t, filepath.Join(folder, name), pagePNG(t))
	}
	put(t, filepath.Join(results, "same.png"), []byte("an earlier result"))
	put(t, filepath.Join(results, "changed.png"), []byte("an earlier result"))
	if err := os.Chtimes(filepath.Join(results, "changed.png"), long, long); err != nil {
		t.Fatal(err)
	}
	out, _, end := watching(t, folder, "-o", results)
	await(t, "two pages", func() bool { return strings.Count(out.String(), " -> ") == 2 })
	// After it, all looks that were due have been taken.
	put(t, filepath.Join(folder, "last.png"), pagePNG(t))
	await(t, "the last page", isThere(filepath.Join(results, "last.png")))
	end()
	if strings.Contains(out.String(), "same.png") || strings.Count(out.String(), " -> ") != 3 {
		t.Errorf("cleaned:\n%s", out)
	}
	if found, _ := filepath.Glob(filepath.Join(results, "*", "*")); len(found) > 0 {
		t.Errorf("results became pages: %v", found)
	}
}

func TestWatchWantsAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.png")
	put(t, file, pagePNG(t))
	for name, args := range map[string][]string{
		"a file":          {file},
		"nothing":         {filepath.Join(t.TempDir(), "none")},
		"a file as -o":    {t.TempDir(), "-o", file},
		"a negative -j":   {t.TempDir(), "-j", "-1"},
		"no known finish": {t.TempDir(), "--finish", "shiny"},
	} {
		t.Run(name, func(t *testing.T) {
			_, mistakes, end := watching(t, args...)
			await(t, "a complaint", func() bool { return mistakes.String() != "" })
			if code := end(); code != exitUsage {
				t.Errorf("exit code %d, want %d: %s", code, exitUsage, mistakes)
			}
		})
	}
}
