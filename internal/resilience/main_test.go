package resilience

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

var (
	whole = flag.Bool("whole", false,
		"run the tests of the whole system, which want a machine that has time for them")
	long    = flag.Bool("long", false, "faults last 20 s, killing 2 minutes and the overload 5")
	soakFor = flag.Duration("soak", 10*time.Second, "how long the soak lasts")
)

// program is the path of the built program.
var program string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	if flag.Parse(); !*whole {
		return m.Run()
	}
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
	if err := measure(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// measure sets what depends on the machine by what a page takes on it, with all workers busy.
func measure() error {
	began := time.Now()
	var cleaning errgroup.Group
	for range slots {
		clean := exec.Command(program, "clean", "--threads", "1", "-")
		clean.Stdin = bytes.NewReader(Page)
		cleaning.Go(clean.Run)
	}
	if err := cleaning.Wait(); err != nil {
		return fmt.Errorf("cleaning a page: %w", err)
	}
	took := time.Since(began).Round(time.Millisecond)
	deadline, recovery = max(deadline, 4*took), max(recovery, 8*took)
	return nil
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

// Of every system here, on a machine that is quick enough (see [measure]): pages have little time,
// so that credits whose fate is unknown come back soon.
var (
	deadline = 5 * time.Second
	recovery = 10 * time.Second // how soon the service must be itself again after a fault
)

const slots = 3

func flags() []string {
	return []string{
		"--deadline", deadline.String(), "--upload-timeout", (deadline / 10).String(), "--queue", "8",
		"--max-requests", "64",
		"--per-customer", "1000", "--per-minute", "1000000", "--per-hour", "1000000",
	}
}

// start starts the whole system, and ends it with the test.
func start(t *testing.T, change ...func(*Config)) *System {
	t.Helper()
	needsWhole(t)
	c := Config{Program: program, Folder: sharedFolder(t), Services: 2, Workers: slots, Flags: flags()}
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

// needsWhole passes over a test of the whole system unless these were asked for.
func needsWhole(t *testing.T) {
	t.Helper()
	if !*whole {
		t.Skip("a test of the whole system: make resilience")
	}
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
