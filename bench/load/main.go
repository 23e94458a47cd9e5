// Command load measures what overload does to the whole service.
//
//	go run ./bench/load [-program bin/unink] [-page FILE] [-services N] [-workers N] [-queue N] [-times 5] [-for 5m]
//
// It starts PostgreSQL, Redis, NATS, services and workers of one slot and one thread each on this
// machine, and measures what a page takes from its sending to its answer: one at a time; then as
// many at once as there are slots, which also tells the capacity; then pages that come so many
// times as often as the capacity allows, whatever became of those before. Then it tells how soon a
// page takes no longer than before, and what memory the processes had. Without -page it is a tiny
// one, so that what stands around the engine counts most.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"unink/internal/resilience"
)

type config struct {
	program, page     string
	services, workers int
	queue             float64
	times             int
	calm, overload    time.Duration
}

func main() {
	var c config
	flag.StringVar(&c.program, "program", "bin/unink", "the built program")
	flag.StringVar(&c.page, "page", "", "the page to clean")
	flag.IntVar(&c.services, "services", 2, "services")
	flag.IntVar(&c.workers, "workers", 2, "workers")
	flag.Float64Var(&c.queue, "queue", 0.5, "how long a page may wait, in times of what a page takes")
	flag.IntVar(&c.times, "times", 5, "how many times the capacity comes")
	flag.DurationVar(&c.calm, "calm", 20*time.Second,
		"how long each measurement before the overload lasts")
	flag.DurationVar(&c.overload, "for", 5*time.Minute, "how long the overload lasts")
	flag.Parse()
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func (c config) run() (err error) {
	page := resilience.Page
	if c.page != "" {
		if page, err = os.ReadFile(c.page); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp("", "unink-load-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.Chmod(folder, 0o755); err != nil { // for PostgreSQL, which is somebody else
		return err
	}
	s, err := resilience.Start(context.Background(), resilience.Config{
		Program: c.program, Folder: folder, Services: c.services, Workers: c.workers,
		Flags: []string{"--per-customer", "100000", "--queue", strconv.FormatFloat(c.queue, 'g', -1, 64),
			"--max-requests", "1000", "--deadline", "5m"},
	})
	defer func() { err = errors.Join(err, s.Close()) }()
	if err != nil {
		return err
	}
	b := &bench{config: c, system: s, page: page}
	for range 8 {
		caller, err := s.Customer(1_000_000)
		if err != nil {
			return err
		}
		b.callers = append(b.callers, caller)
	}
	return b.measure()
}

// bench is a measurement.
type bench struct {
	config
	system  *resilience.System
	page    []byte
	callers []*resilience.Caller

	mu      sync.Mutex
	answers []resilience.Answer
}

func (b *bench) measure() error {
	fmt.Printf("%d KiB a page, %d CPUs, load %s; %d services with a queue of %g for each slot, %d "+
		"workers\n\n",
		(len(b.page)+1023)>>10, runtime.NumCPU(), load(), b.services, b.queue, b.workers)
	fmt.Printf("%-22s%10s%10s%10s%10s\n", "", "pages/s", "p50 ms", "p99 ms", "max ms")
	b.closed(b.workers, b.calm/4) // warms up
	calm, _ := b.closedAs("one at a time", 1)
	capacity, rate := b.closedAs("at capacity", b.workers)
	if calm == 0 || rate == 0 {
		return errors.New("no page came back")
	}
	stop := b.watch()
	began := time.Now()
	b.open(time.Duration(float64(time.Second) / rate / float64(b.times)))
	recovered, err := b.recover(2 * calm)
	memory := stop()
	b.mu.Lock()
	answers := b.answers
	b.mu.Unlock()
	took := time.Since(began)
	accepted, _ := b.tell("overload: accepted", cleaned(answers, true), took)
	b.tell("overload: refused", cleaned(answers, false), took)
	fmt.Printf("\naccepted, p99: %.1f times that at capacity, %.1f times that of one at a time\n",
		ratio(accepted, capacity), ratio(accepted, calm))
	if err != nil {
		return err
	}
	fmt.Printf(
		"a page took no longer than twice the time of one alone %.1f s after the end; load %s\n\n",
		recovered.Seconds(), load(),
	)
	fmt.Printf("%-14s%s\n", "MiB resident", "before, at each tenth of the time, and after")
	for i, p := range b.system.Processes() {
		fmt.Printf("%-14s%s\n", fmt.Sprint(p.Name, " ", i+1), strings.Join(memory[p], " "))
	}
	kinds := map[string]int{}
	for _, a := range answers {
		kinds[a.String()]++
	}
	fmt.Printf("\nanswers: %v\n", kinds)
	return nil
}

// closed has so many callers clean one page after the other, and returns how long they did.
func (b *bench) closed(callers int, lasts time.Duration) ([]resilience.Answer, time.Duration) {
	began := time.Now()
	end := began.Add(lasts)
	var mu sync.Mutex
	var all []resilience.Answer
	var running sync.WaitGroup
	for i := range callers {
		running.Go(func() {
			for time.Now().Before(end) {
				a := b.callers[i%len(b.callers)].Clean(b.page)
				mu.Lock()
				all = append(all, a)
				mu.Unlock()
			}
		})
	}
	running.Wait()
	return cleaned(all, true), time.Since(began)
}

// closedAs measures and tells.
func (b *bench) closedAs(what string, callers int) (p99 time.Duration, rate float64) {
	answers, took := b.closed(callers, b.calm)
	return b.tell(what, answers, took)
}

// open has a page come every so often, as long as the overload lasts, and waits for none.
func (b *bench) open(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n, end := 0, time.Now().Add(b.overload); time.Now().Before(end); n++ {
		<-tick.C
		go func() {
			a := b.callers[n%len(b.callers)].Clean(b.page)
			b.mu.Lock()
			defer b.mu.Unlock()
			b.answers = append(b.answers, a)
		}()
	}
}

// recover waits until a page takes no longer than a time, and returns since when it was waited for.
func (b *bench) recover(normal time.Duration) (time.Duration, error) {
	for began := time.Now(); time.Since(began) < time.Minute; {
		if a := b.callers[0].Clean(b.page); a.Cleaned() && a.Took <= normal {
			return time.Since(began) - a.Took, nil
		}
	}
	return 0, errors.New("a minute after the overload, pages still take longer than before")
}

// watch writes down the memory of every process until it is stopped.
func (b *bench) watch() (stop func() map[*resilience.Process][]string) {
	memory := map[*resilience.Process][]string{}
	look := func() {
		for _, p := range b.system.Processes() {
			bytes, err := p.RSS()
			text := strconv.FormatInt(bytes>>20, 10)
			if err != nil {
				text = "?"
			}
			memory[p] = append(memory[p], text)
		}
	}
	look()
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(b.overload / 10)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				look()
			case <-end:
				look()
				return
			}
		}
	}()
	return func() map[*resilience.Process][]string {
		close(end)
		<-ended
		return memory
	}
}

func cleaned(answers []resilience.Answer, want bool) []resilience.Answer {
	return slices.DeleteFunc(slices.Clone(answers), func(a resilience.Answer) bool {
		return a.Cleaned() != want
	})
}

// tell prints one line, and returns the 99th percentile and the rate a second.
func (b *bench) tell(what string, answers []resilience.Answer,
	in time.Duration) (p99 time.Duration, rate float64) {
	if len(answers) == 0 {
		fmt.Printf("%-22s%10s\n", what, "none")
		return 0, 0
	}
	slices.SortFunc(answers, func(a, b resilience.Answer) int { return int(a.Took - b.Took) })
	at := func(part float64) time.Duration { return answers[int(part*float64(len(answers)-1))].Took }
	rate = float64(len(answers)) / in.Seconds()
	fmt.Printf("%-22s%10.1f%10d%10d%10d\n", what, rate, at(0.5).Milliseconds(),
		at(0.99).Milliseconds(), at(1).Milliseconds())
	return at(0.99), rate
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Fields(string(text))[0]
}
