// Command device measures the engine where web pages have it: the npm package in Chromium, with
// threads, and in Node.
//
//	make bench-device
//
// The package lies in -package, as "make npm" puts it there. Each page is cleaned -count times in a
// browser and a Node process of its own; the first time loads the engine too. Times are medians of
// the later ones, from the file to the result; memory is the most that one of the browser's pages,
// or Node, held at once: no other Chromium may run meanwhile. make services installs Chromium.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/chromedp/chromedp"

	"unink/bench/drawn"
)

// patience bounds what a page may take.
const patience = 10 * time.Minute

type page struct {
	name   string
	w, h   int
	em     float64
	finish string
}

var pages = []page{
	{"A4 at 150 dpi", 1240, 1754, 24, "colour"},
	{"A4 at 150 dpi", 1240, 1754, 24, "scan"},
	{"12 megapixels", 4000, 3000, 55, "scan"},
}

// script cleans the page that it is given the address of, and tells the milliseconds of each time
// and of the last one's stages.
const script = `async (clean, page, finish, count) => {
	const times = [];
	let report;
	for (let i = 0; i < count; i++) {
		const begun = performance.now();
		({ report } = await clean(page, { finish }));
		times.push(performance.now() - begun);
	}
	return { times, stages: report.ms };
}`

// told is what the script tells.
type told struct {
	Times  []float64
	Stages map[string]float64
	MiB    float64
}

func main() {
	dir := flag.String("package", filepath.Join("build", "npm"), "folder of the npm package")
	count := flag.Int("count", 4, "times that a page is cleaned, 2 at least")
	flag.Parse()
	if err := report(*dir, max(2, *count)); err != nil {
		fmt.Fprintln(os.Stderr, "device:", err)
		os.Exit(1)
	}
}

func report(dir string, count int) error {
	fmt.Printf("%d CPUs, %s/%s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	fmt.Printf("%-32s %9s %9s %9s  %s\n", "", "first ms", "later ms", "MiB", "stages of the last, ms")
	for _, p := range pages {
		for _, host := range []struct {
			name  string
			clean func(dir string, data []byte, finish string, count int) (told, error)
		}{{"Chromium", inChromium}, {"Node", inNode}} {
			data, err := drawn.Page(p.w, p.h, p.em)
			if err != nil {
				return err
			}
			t, err := host.clean(dir, data, p.finish, count)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", host.name, p.name, err)
			}
			first, later := t.Times[0], t.Times[1:]
			slices.Sort(later)
			fmt.Printf("%-32s %9.0f %9.0f %9.0f  %v\n", p.name+", "+p.finish+", "+host.name, first,
				later[len(later)/2], t.MiB, t.Stages)
		}
	}
	return nil
}

// inChromium cleans a page in a browser, with the headers that give it threads.
func inChromium(dir string, data []byte, finish string, count int) (t told, err error) {
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<!doctype html><title>bench</title>"))
		case "/page.jpg":
			_, _ = w.Write(data)
		default:
			files.ServeHTTP(w, r)
		}
	}))
	defer server.Close()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium"),
		chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(server.URL)); err != nil {
		return t, err
	}
	ctx, cancel = context.WithTimeout(ctx, patience)
	defer cancel()
	t, err = chromedp.Run(ctx, chromedp.Evaluate[told](fmt.Sprintf(`(async () => {
		const { clean } = await import('/browser.js');
		const page = await (await fetch('/page.jpg')).blob();
		return (%s)(clean, page, %q, %d);
	})()`, script, finish, count), chromedp.EvalAwaitPromise))
	if err != nil {
		return t, err
	}
	t.MiB, err = peakMiB("--type=renderer")
	return t, err
}

// inNode cleans a page in Node.
func inNode(dir string, data []byte, finish string, count int) (t told, err error) {
	module, err := filepath.Abs(filepath.Join(dir, "node.js"))
	if err != nil {
		return t, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--input-type=module", "--eval", fmt.Sprintf(`
		import { buffer } from 'node:stream/consumers';
		import { clean, close } from %q;
		const page = new Blob([await buffer(process.stdin)]);
		const told = await (%s)(clean, page, %q, %d);
		console.log(JSON.stringify({ ...told, MiB: process.resourceUsage().maxRSS / 1024 }));
		close();`, module, script, finish, count))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return t, err
	}
	return t, json.Unmarshal(out, &t)
}

// peakMiB is the largest peak of resident memory among the processes that have an argument.
func peakMiB(argument string) (most float64, err error) {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return 0, err
	}
	for _, dir := range processes {
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline")) // which may have ended since
		status, _ := os.ReadFile(filepath.Join(dir, "status"))
		if _, peak, ok := strings.Cut(string(status), "VmHWM:"); ok &&
			strings.Contains(string(line), argument) {
			kib, err := strconv.ParseFloat(strings.Fields(peak)[0], 64)
			if err != nil {
				return 0, err
			}
			most = max(most, kib/1024)
		}
	}
	return most, nil
}
