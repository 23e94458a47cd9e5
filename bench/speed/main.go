// Command speed measures time and memory of the library against its bars.
//
//	go run ./bench/speed [-threads N]
//	go run ./bench/speed -task a4 -profile FILE    one of them, with its CPU profile
//
// Each measurement runs in a process of its own, so that peak memory is its alone. The pages are
// those of bench/drawn.
package main

import (
	"bufio"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"unink"
	"unink/bench/drawn"
	"unink/internal/nn"
	"unink/models"
)

// measurement is one line of the report. Millis and MiB have a bar each; 0 is none.
type measurement struct {
	Name    string
	Millis  float64 // median
	Network float64 // of which finding the writing, in ms
	MiB     float64 // peak resident memory
	Note    string
}

type task struct {
	name        string
	millis, mib float64 // the bars
	run         func(c config) (measurement, error)
}

type config struct{ threads int }

var tasks = []task{
	{"start", 150, 0, start},
	{"once", 500, 0, once},
	{"tile", 0, 0, tile},
	{"a4", 350, 0, func(c config) (measurement, error) { return a4(c, unink.Scan) }},
	{"a4-colour", 250, 0, func(c config) (measurement, error) { return a4(c, unink.Colour) }},
	{"photo", 1000, 350, func(c config) (measurement, error) {
		return pages(c, 4000, 3000, 55, unink.Scan)
	}},
	{"sizes", 0, 0, sizes},
}

func main() {
	one := flag.String("task", "",
		"run one task in this process and print it as JSON: start, once, tile, a4, a4-colour, photo, "+
			"sizes")
	page := flag.String("clean", "", "clean this page and write PAGE.clean, no more")
	profile := flag.String("profile", "", "with -task: write a CPU profile to this file")
	threads := flag.Int("threads", 0, "threads for a page; 0 is all CPUs")
	flag.Parse()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // as the program does
	}
	var err error
	switch {
	case *page != "":
		err = cleanFile(*page, config{*threads})
	case *one != "":
		err = profiled(*profile, func() error { return child(*one, config{*threads}) })
	default:
		err = report(*threads)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

// profiled runs a function, and writes what took its time to a file, if one is named.
func profiled(path string, run func() error) (err error) {
	if path == "" {
		return run()
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return run()
}

func child(name string, c config) error {
	for _, t := range tasks {
		if t.name == name {
			m, err := t.run(c)
			if err != nil {
				return err
			}
			m.MiB = peakMiB()
			return json.NewEncoder(os.Stdout).Encode(m)
		}
	}
	return fmt.Errorf("no task %q", name)
}

func report(threads int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Printf("%d CPUs, %s/%s\n", runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	fmt.Printf("%-32s %9s %9s %9s %9s %9s  %s\n", "", "ms", "bar", "network", "MiB", "bar", "")
	for _, t := range tasks {
		cmd := exec.Command(self, "-task", t.name, "-threads", strconv.Itoa(threads))
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
		var m measurement
		if err := json.Unmarshal(out, &m); err != nil {
			return err
		}
		fmt.Printf("%-32s %9.0f %9s %9.0f %9.0f %9s  %s\n", m.Name, m.Millis, bar(t.millis), m.Network,
			m.MiB, bar(t.mib), m.Note)
	}
	return nil
}

func bar(v float64) string {
	if v == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", v)
}

// start is the time from nothing to a network that answers.
func start(c config) (measurement, error) {
	begin := time.Now()
	cleaner, err := unink.New(unink.Config{Threads: c.threads})
	if err != nil {
		return measurement{}, err
	}
	if err := cleaner.Probe(context.Background()); err != nil {
		return measurement{}, err
	}
	took := time.Since(begin)
	return measurement{Name: "start to ready", Millis: ms(took)}, cleaner.Close()
}

// once is the time of a process that does no more than clean a page of A4, from file to file.
func once(c config) (m measurement, err error) {
	self, err := os.Executable()
	if err != nil {
		return m, err
	}
	dir, err := os.MkdirTemp("", "speed-")
	if err != nil {
		return m, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	data, err := drawn.Page(1240, 1754, 24)
	if err != nil {
		return m, err
	}
	page := filepath.Join(dir, "page.jpg")
	if err := os.WriteFile(page, data, 0o600); err != nil {
		return m, err
	}
	taken := make([]float64, 10)
	for i := range taken {
		child := exec.Command(self, "-clean", page, "-threads", strconv.Itoa(c.threads))
		child.Stderr = os.Stderr
		begin := time.Now()
		if err := child.Run(); err != nil {
			return m, err
		}
		taken[i] = ms(time.Since(begin))
	}
	return measurement{Name: "1240×1754, file to file, colour", Millis: median(taken)}, nil
}

// cleanFile cleans a page and writes it beside it.
func cleanFile(page string, c config) error {
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	cleaner, err := unink.New(unink.Config{Threads: c.threads})
	if err != nil {
		return err
	}
	r, err := cleaner.Clean(context.Background(), data,
		unink.Options{Format: unink.JPEG, Finish: unink.Colour})
	if err == nil {
		err = os.WriteFile(page+".clean", r.Data, 0o600)
	}
	return errors.Join(err, cleaner.Close())
}

//go:embed product.json product.onnx
var product embed.FS

// tile is the network's time for a tile on one thread, and how fast it multiplies against a matrix
// product in the same number format, of the same library, run again and again after it.
func tile(config) (m measurement, err error) {
	matrices, err := models.Read(product, "product")
	if err != nil {
		return m, err
	}
	const rows, columns = 4096, 1024 // of the left matrix; the right one is square
	in, out := make([]uint8, rows*columns), make([]uint8, rows*columns)
	s := nn.LargestTile
	squares, told := make([]uint8, s.Squares()*nn.SquareInputs),
		make([]float32, nn.ContextPlanes*s.Cells())
	classes, under := make([]uint8, s.Squares()*nn.SquareOutputs),
		make([]uint8, s.Squares()*nn.SquareOutputs)
	dims := []int64{rows, columns}
	network, err := timed(models.Segment(), nn.Tile(s, squares, told),
		nn.TileAnswer(s, classes, under))
	if err != nil {
		return m, err
	}
	peak, err := timed(matrices, []nn.Tensor{{Dimensions: dims, Bytes: in}},
		[]nn.Tensor{{Dimensions: dims, Bytes: out}})
	if err != nil {
		return m, err
	}
	of := float64(models.Segment().Products*s.Pixels()) / network / 1e6
	most := rows * columns * columns / peak / 1e6
	return measurement{
		Name: fmt.Sprintf("a tile of %d×%d, one thread", s.W, s.H), Millis: network, Network: network,
		Note: fmt.Sprintf("%.0f multiplications a nanosecond, %.0f %% of the %.0f of a matrix product",
			of, 100*of/most, most),
	}, nil
}

// timed is how long a network takes on one thread, in ms, in the median.
func timed(n models.Network, in, out []nn.Tensor) (float64, error) {
	opened, err := nn.Open(nn.Config{Network: n, Threads: 1})
	if err != nil {
		return 0, err
	}
	var taken []float64
	for range 20 {
		begin := time.Now()
		if err := opened.Run(context.Background(), in, out); err != nil {
			return 0, errors.Join(err, opened.Close())
		}
		taken = append(taken, ms(time.Since(begin)))
	}
	return median(taken), opened.Close()
}

// a4 is a page of A4 at 150 dpi.
func a4(c config, f unink.Finish) (measurement, error) { return pages(c, 1240, 1754, 24, f) }

// pages cleans one page ten times, JPEG in and JPEG out.
func pages(c config, w, h int, em float64, finish unink.Finish) (m measurement, err error) {
	data, err := drawn.Page(w, h, em)
	if err != nil {
		return m, err
	}
	cleaner, err := unink.New(unink.Config{Threads: c.threads})
	if err != nil {
		return m, err
	}
	taken := make([]unink.Timings, 10)
	for i := range taken {
		r, err := cleaner.Clean(context.Background(), data,
			unink.Options{Format: unink.JPEG, Finish: finish})
		if err != nil {
			return m, err
		}
		taken[i] = r.Timings
	}
	usual := func(stage string) float64 {
		var v []float64
		for _, t := range taken {
			v = append(v, ms(t[stage]))
		}
		return median(v)
	}
	m.Name = fmt.Sprintf("%d×%d JPEG to JPEG, %v", w, h, finish)
	m.Millis, m.Network = usual("total"), usual("segment")
	for _, stage := range unink.Stages() {
		m.Note += fmt.Sprintf("%s %.0f, ", stage, usual(stage))
	}
	m.Note = strings.TrimSuffix(m.Note, ", ")
	return m, cleaner.Close()
}

// sizes cleans pages of many sizes and compares the memory after the first 20 with the last's.
func sizes(c config) (m measurement, err error) {
	cleaner, err := unink.New(unink.Config{Threads: c.threads})
	if err != nil {
		return m, err
	}
	const count, settled = 200, 20
	var early float64
	for i := range count {
		data, err := drawn.Page(300+(i*97)%700, 300+(i*61)%800, 22)
		if err != nil {
			return m, err
		}
		if _, err := cleaner.Clean(context.Background(), data, unink.Options{}); err != nil {
			return m, err
		}
		if i == settled-1 {
			early = peakMiB()
		}
	}
	m.Name = fmt.Sprintf("%d different sizes", count)
	m.Note = fmt.Sprintf("peak %.0f MiB after %d, %.0f after %d", early, settled, peakMiB(), count)
	return m, cleaner.Close()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// peakMiB is the process's peak resident memory; 0 where the system does not tell.
func peakMiB() float64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			kib, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kib / 1024
		}
	}
	return 0
}
