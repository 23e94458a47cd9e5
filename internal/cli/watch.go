package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"unink"
	"unink/internal/job"
	"unink/internal/misuse"
)

// lookEvery is the time between two looks at a watched folder. Looking works where events do not
// arrive, such as on a network drive.
const lookEvery = time.Second

type watchCmd struct {
	Folder string `arg:"" type:"path" help:"Folder whose pictures and PDFs are cleaned, with all folders in it."`
	Out    string `short:"o" placeholder:"FOLDER" type:"path" help:"Where the results go. Default: folder.clean beside folder."`
	Jobs   int    `short:"j" placeholder:"N" help:"Pages cleaned at once. Default: the number of CPUs, at most 4."`
	optionFlags
	engineFlags
}

// Help is shown under the flags.
func (*watchCmd) Help() string {
	return `What lies in the folder without a result is cleaned first, then what comes, once it has stopped
growing. A file that fails, or has a result, is cleaned again when it changes. Hidden files are
passed over. It goes on until it is interrupted (exit code 130).`
}

// Validate checks what can be checked without looking at a file.
func (c *watchCmd) Validate() error {
	if c.Jobs < 0 {
		return errors.New("-j must not be negative")
	}
	_, err := c.options()
	return err
}

// Run cleans what is in the folder and what comes.
func (c *watchCmd) Run(env *environment) error {
	if info, err := os.Stat(c.Folder); err != nil || !info.IsDir() {
		return misuse.Errorf("there is no folder %s", c.Folder)
	}
	if info, err := os.Stat(c.Out); c.Out != "" && err == nil && !info.IsDir() {
		return misuse.Errorf("-o %s is a file; watch needs a folder", c.Out)
	}
	o, err := c.options()
	if err != nil {
		return err
	}
	jobs := pagesAtOnce(c.Jobs)
	engine, err := env.open(c.config(jobs, unink.Limits{MaxBytes: job.MaxFileBytes}))
	if err != nil {
		return err
	}
	arriving := arrivals{}
	request := job.Request{Inputs: []string{c.Folder}, Out: c.Out, Options: o, SkipExisting: true,
		Take: arriving.take}
	fmt.Fprintf(env.stderr, "watching %s; interrupt to end\n", c.Folder)
	for env.ctx.Err() == nil {
		if err := look(env, request, engine, jobs); err != nil {
			env.complain(err)
		}
		arriving.forget()
		select {
		case <-env.ctx.Done():
		case <-time.After(lookEvery):
		}
	}
	return errors.Join(context.Canceled, engine.Close())
}

// look cleans what has come since the last look.
func look(env *environment, request job.Request, engine job.Engine, jobs int) error {
	p, err := request.Plan(env.ctx)
	if err == nil && p.Pages()+p.Missing() > 0 {
		p.Run(env.ctx, engine, jobs, watchReport{&textReport{out: env.stdout, err: env.stderr}})
	}
	return err
}

// watchReport is quiet about what is passed over at each look.
type watchReport struct{ *textReport }

func (watchReport) Skip(job.Skipped) {}
func (watchReport) Done(job.Summary) {}

// arrivals are the files of a folder, as they were at the last look.
type arrivals map[string]arrival

type arrival struct {
	size    int64
	changed time.Time
	taken   bool
}

// take says of a file whether it is complete and has not been taken since it last changed: it is
// as it was at the last look, or older than a look.
func (a arrivals) take(path string, info fs.FileInfo) bool {
	now := arrival{size: info.Size(), changed: info.ModTime()}
	before, known := a[path]
	same := known && before.size == now.size && before.changed.Equal(now.changed)
	switch {
	case same:
		now.taken = true
	case !known:
		now.taken = time.Since(now.changed) > 2*lookEvery
	}
	a[path] = now
	return now.taken && (!same || !before.taken)
}

// forget drops the files that are gone.
func (a arrivals) forget() {
	maps.DeleteFunc(a, func(path string, _ arrival) bool {
		_, err := os.Lstat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
}
