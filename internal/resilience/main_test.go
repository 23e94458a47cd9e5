package resilience

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

var (
	long    = flag.Bool("long", false, "faults last 20 s, killing 2 minutes and the overload 5")
	soakFor = flag.Duration("soak", 10*time.Second, "how long the soak lasts")
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	folder, err := os.MkdirTemp("", "unink-resilience-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(folder) }()
	if program, err = Build(root, folder); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

var root = filepath.Join("..", "..")

// lasting is how long something lasts: short, or long where that is asked for.
func lasting(short, forLong time.Duration) time.Duration {
	if *long {
		return forLong
	}
	return short
}

// sharedFolder is a folder that another user's process can reach.
func sharedFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "unink-resilience-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// Of every system here: pages have little time, so that credits whose fate is unknown come back soon.
const (
	deadline      = 5 * time.Second
	uploadTimeout = 500 * time.Millisecond
	slots         = 3
)

var flags = []string{
	"--deadline", deadline.String(), "--upload-timeout", uploadTimeout.String(), "--queue", "8", "--max-requests", "64",
	"--per-customer", "1000", "--per-minute", "1000000", "--per-hour", "1000000",
}

// start starts the whole system, and ends it with the test.
func start(t *testing.T, change ...func(*Config)) *System {
	t.Helper()
	c := Config{Program: program, Folder: sharedFolder(t), Services: 2, Workers: slots, Flags: flags}
	for _, do := range change {
		do(&c)
	}
	s, err := Start(context.Background(), c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// patient gives pages all the time that they need on a busy machine.
func patient(c *Config) { c.Flags = append(slices.Clone(c.Flags), "--deadline", patience.String()) }

// must is for what only fails when the test itself does.
func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
