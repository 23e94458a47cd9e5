// Command fleet measures what cleaning pages by workers costs beside cleaning them in this process.
//
//	go run ./bench/fleet [-program bin/unink] [-page docs/before.jpg] [-pages N] [-rounds N] [-workers 1,2] [-database URL]
//
// A NATS server runs in this process and each worker in one of its own, with one slot and one
// thread. The same number of pages is under way at once both ways, and rounds alternate, so that a
// machine that is busy with other things is so for both. Figures are the rounds' medians: pages a
// second, which only a quiet machine tells truly; CPU time a page, of all processes; and for the
// fleet what a page takes beyond the engine's own time, from handing it over to having its result.
// Then come the limits of what stands around the engine: NATS, by pages that nobody works on; and,
// with -database, the ledger. That database should be one to be thrown away: sqlite:FILE or
// postgres://.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"unink"
	"unink/internal/fleet"
)

func main() {
	var c config
	flag.StringVar(&c.program, "program", "bin/unink", "the built program, for the workers")
	page := flag.String("page", "docs/before.jpg", "the page to clean")
	flag.IntVar(&c.pages, "pages", 20, "pages in a round")
	flag.IntVar(&c.rounds, "rounds", 3, "rounds of each")
	workers := flag.String("workers", "1,2", "numbers of workers")
	database := flag.String("database", "", "where the ledger is measured; none if empty")
	flag.Parse()
	if err := run(c, *page, *workers, *database); err != nil {
		fmt.Fprintln(os.Stderr, "fleet:", err)
		os.Exit(1)
	}
}

type config struct {
	program       string
	page          []byte
	pages, rounds int
}

func run(c config, page, workers, database string) (err error) {
	if c.page, err = os.ReadFile(page); err != nil {
		return err
	}
	fmt.Printf("%d KiB a page, %d CPUs, load %s; medians of %d rounds of %d pages\n\n",
		len(c.page)>>10, runtime.NumCPU(), load(), c.rounds, c.pages)
	fmt.Printf("%-10s%14s%14s%16s%18s\n", "workers", "", "pages/s", "CPU ms/page", "beyond engine ms")
	for text := range strings.FieldsFuncSeq(workers, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-workers must be such as 1,2, not %q", workers)
		}
		if err := c.compare(n); err != nil {
			return err
		}
	}
	if err := c.transport(); err != nil || database == "" {
		return err
	}
	return c.ledger(database)
}

// compare measures n pages at once here, and on n workers.
func (c config) compare(n int) error {
	engine, err := unink.New(unink.Config{Threads: 1})
	if err != nil {
		return err
	}
	f, err := c.hire(n)
	if err != nil {
		return errors.Join(err, engine.Close())
	}
	var alone, fleet []round
	for i := range c.rounds + 1 {
		a, errA := c.round(engine, n, nil)
		// One more than there are slots, so that none waits for the next page to be handed over.
		b, errB := c.round(f.client, n+1, f.workers)
		single, errC := c.round(f.client, 1, f.workers) // each page finds a free slot
		b.beyond = single.beyond
		if err := errors.Join(errA, errB, errC); err != nil {
			return errors.Join(err, f.dismiss(), engine.Close())
		}
		if i > 0 { // the first warms up
			alone, fleet = append(alone, a), append(fleet, b)
		}
	}
	speed := func(r round) float64 { return r.rate }
	cpu := func(r round) float64 { return r.cpu }
	a, b := median(alone, speed), median(fleet, speed)
	fmt.Printf("%-10d%14s%14.2f%16.0f\n", n, "here", a, median(alone, cpu))
	fmt.Printf("%-10s%14s%14.2f%16.0f%18.1f\n", "", "fleet", b, median(fleet, cpu),
		median(fleet, func(r round) float64 { return r.beyond }))
	fmt.Printf("%-10s%14s%13.0f%%%15.0f%%\n", "", "", 100*b/a,
		100*median(fleet, cpu)/median(alone, cpu))
	return errors.Join(f.dismiss(), engine.Close())
}

// round is what one round measured.
type round struct {
	rate   float64 // pages a second
	cpu    float64 // ms a page
	beyond float64 // ms a page, median
}

// round cleans its pages, so many at once, and counts the CPU time of this process and others.
func (c config) round(cleaner fleet.Cleaner, atOnce int, others []*exec.Cmd) (round, error) {
	before, err := cpuTime(others)
	if err != nil {
		return round{}, err
	}
	start := time.Now()
	queue := make(chan struct{}, c.pages)
	for range c.pages {
		queue <- struct{}{}
	}
	close(queue)
	var mu sync.Mutex
	var beyond []float64
	var errs []error
	var callers sync.WaitGroup
	for range atOnce {
		callers.Go(func() {
			for range queue {
				began := time.Now()
				r, err := cleaner.Clean(context.Background(), c.page, unink.Options{Format: unink.JPEG})
				took := time.Since(began)
				mu.Lock()
				if err != nil {
					errs = append(errs, err)
				} else {
					beyond = append(beyond, ms(took-r.Timings.Total()))
				}
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	took := time.Since(start)
	after, err := cpuTime(others)
	if err := errors.Join(append(errs, err)...); err != nil {
		return round{}, err
	}
	slices.Sort(beyond)
	return round{float64(c.pages) / took.Seconds(), ms(after-before) / float64(c.pages),
		beyond[len(beyond)/2]}, nil
}

// team is a fleet on this machine.
type team struct {
	server  *server.Server
	client  *fleet.Client
	workers []*exec.Cmd
}

func (c config) hire(n int) (*team, error) {
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
	})
	if err != nil {
		return nil, err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return nil, errors.New("the NATS server does not start")
	}
	t := &team{server: s}
	if t.client, err = fleet.Open(fleet.Config{URL: s.ClientURL()},
		slog.New(slog.DiscardHandler)); err != nil {
		return nil, err
	}
	slots := make(chan int, 100)
	t.client.OnCapacity(func(pages int) { slots <- pages })
	for range n {
		w := exec.Command(c.program, "worker", "--fleet", s.ClientURL(), "--workers", "1",
			"--threads", "1")
		w.Stderr = io.Discard
		if err := w.Start(); err != nil {
			return nil, errors.Join(err, t.dismiss())
		}
		t.workers = append(t.workers, w)
	}
	if n == 0 {
		return t, nil
	}
	late := time.After(time.Minute)
	for {
		select {
		case now := <-slots:
			if now == n {
				return t, nil
			}
		case <-late:
			return nil, errors.Join(errors.New("the workers do not come"), t.dismiss())
		}
	}
}

func (t *team) dismiss() error {
	var errs []error
	for _, w := range t.workers {
		errs = append(errs, w.Process.Signal(os.Interrupt), w.Wait())
	}
	errs = append(errs, t.client.Close())
	t.server.Shutdown()
	t.server.WaitForShutdown()
	return errors.Join(errs...)
}

// cpuTime is what this process and others have used so far (proc(5), stat: fields 14 and 15, in
// hundredths of a second).
func cpuTime(others []*exec.Cmd) (time.Duration, error) {
	ids := []int{os.Getpid()}
	for _, w := range others {
		ids = append(ids, w.Process.Pid)
	}
	var sum time.Duration
	for _, id := range ids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", id))
		if err != nil {
			return 0, err
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		for _, field := range fields[11:13] {
			ticks, err := strconv.Atoi(field)
			if err != nil {
				return 0, err
			}
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	return sum, nil
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}

func median(rounds []round, of func(round) float64) float64 {
	var all []float64
	for _, r := range rounds {
		all = append(all, of(r))
	}
	slices.Sort(all)
	return all[len(all)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
