package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"unink"
)

type doctorCmd struct {
	JSON    bool `name:"json" help:"Report as JSON."`
	Service bool `help:"Also check the settings that unink serve would have, and whether the servers that they name answer."`
	serveCmd
}

// Validate takes every combination: finding mistakes is what it is for.
func (c *doctorCmd) Validate() error { return nil }

// diagnosis is what doctor found. Memory is in bytes; 0 is not known.
type diagnosis struct {
	OK              bool     `json:"ok"`
	Problem         string   `json:"problem,omitempty"`
	Problems        []string `json:"problems,omitempty"` // of the service's settings
	Advice          []string `json:"advice,omitempty"`
	Library         string   `json:"library,omitempty"`
	Model           string   `json:"model,omitempty"`
	ModelVersion    string   `json:"model_version,omitempty"`
	ModelSHA256     string   `json:"model_sha256,omitempty"`
	Device          string   `json:"device"`
	Threads         int      `json:"threads,omitempty"`
	OpenMS          int64    `json:"open_ms,omitempty"`
	ProbeMS         float64  `json:"probe_ms,omitempty"`
	MemoryTotal     int64    `json:"memory_total"`
	MemoryAvailable int64    `json:"memory_available"`
	MemoryUsed      int64    `json:"memory_used"`
}

// Run opens the engine as a page would and lets it work on one tile.
func (c *doctorCmd) Run(env *environment) error {
	d := diagnosis{Device: c.Device}
	err := c.engine(env, &d)
	if err != nil {
		d.Problem = err.Error()
	}
	if c.Service {
		d.Problems, d.Advice = c.examine(env.ctx)
	}
	d.OK = err == nil && len(d.Problems) == 0
	d.MemoryTotal = procBytes("/proc/meminfo", "MemTotal")
	d.MemoryAvailable = procBytes("/proc/meminfo", "MemAvailable")
	d.MemoryUsed = procBytes("/proc/self/status", "VmHWM")
	if c.JSON {
		_ = json.NewEncoder(env.stdout).Encode(d)
	} else {
		d.print(env)
	}
	if !d.OK {
		return errFailed
	}
	return nil
}

func (c *doctorCmd) engine(env *environment, d *diagnosis) error {
	start := time.Now()
	engine, err := env.open(c.config(1, unink.Limits{}))
	if err != nil {
		return err
	}
	d.OpenMS = time.Since(start).Milliseconds()
	about := engine.Describe()
	d.Library, d.Model, d.ModelVersion, d.ModelSHA256 = about.Library, about.Model, about.ModelVersion,
		about.ModelSHA256
	d.Device, d.Threads = about.Device, about.Threads
	err = engine.Probe(env.ctx) // the first run also warms up
	start = time.Now()
	if err == nil {
		err = engine.Probe(env.ctx)
	}
	d.ProbeMS = float64(time.Since(start).Microseconds()) / 1000
	return errors.Join(err, engine.Close())
}

func (d *diagnosis) print(env *environment) {
	w := tabwriter.NewWriter(env.stdout, 0, 0, 2, ' ', 0)
	if d.Library != "" {
		fmt.Fprintf(w, "library\t%s\n", d.Library)
		fmt.Fprintf(w, "model\t%s %s, SHA-256 %.12s…\n", d.Model, d.ModelVersion, d.ModelSHA256)
		fmt.Fprintf(w, "device\t%s, %d threads, opened in %d ms\n", d.Device, d.Threads, d.OpenMS)
	}
	fmt.Fprintf(w, "memory\t%s available of %s, %s used at most\n", mib(d.MemoryAvailable),
		mib(d.MemoryTotal), mib(d.MemoryUsed))
	if d.Problem == "" {
		fmt.Fprintf(w, "probe\tone tile in %.1f ms\n", d.ProbeMS)
	} else {
		fmt.Fprintf(w, "problem\t%s\n", d.Problem)
	}
	for _, problem := range d.Problems {
		fmt.Fprintf(w, "problem\t%s\n", problem)
	}
	for _, one := range d.Advice {
		fmt.Fprintf(w, "advice\t%s\n", one)
	}
	_ = w.Flush()
}

func mib(n int64) string {
	if n == 0 {
		return "unknown"
	}
	return fmt.Sprintf("%d MiB", n>>20)
}

// procBytes reads a figure in kB from a file of /proc; 0 where there is none.
func procBytes(file, key string) int64 {
	f, err := os.Open(file)
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		if name != key {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}
