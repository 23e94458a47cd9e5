package cli

import (
	"context"
	"errors"
	"fmt"

	"unink"
	"unink/internal/job"
)

type watchCmd struct {
	Folder         string   `arg:"" help:"The folder, with all folders in it."`
	Out            string   `short:"o" placeholder:"FOLDER" help:"Where the results go. Default: folder.clean beside folder."`
	Keep           []string `enum:"annotations" placeholder:"WHAT" help:"Leave what PDF programs put on pages where it is: annotations."`
	KeepCleanPages bool     `help:"Leave pages of a PDF as they are, text and vectors included, where nothing is removed or corrected."`
	workFlags
	optionFlags
	serverFlags
	engineFlags
}

// Help is shown under the flags.
func (*watchCmd) Help() string {
	return `First what has no result yet is cleaned, then pictures and PDFs as they come or change,
until an interrupt. A file is taken when it has stayed the same for two seconds; names that end in
.part, .partial, .filepart, .crdownload, .download or .tmp are left until they are renamed. One that
failed is tried again when it changes. A page in work at the end is dropped, and cleaned at the next
start. Where the system tells of no changes, as on a network, they are found within some 20 seconds.
Exit codes: 1 stopped, 2 wrong use, 3 stopped after some pages, 130 interrupted.`
}

// Validate checks what can be checked without looking at a file.
func (c *watchCmd) Validate() error {
	_, err := c.options()
	return errors.Join(c.checkWork(), err, c.checkServer(false))
}

// Run cleans what comes until it is interrupted.
func (c *watchCmd) Run(env *environment) (err error) {
	o, err := c.options()
	if err != nil {
		return err
	}
	request := job.Request{Out: c.Out, Options: o, KeepMarks: len(c.Keep) > 0,
		KeepClean: c.KeepCleanPages}
	watch, err := job.NewWatch(c.Folder, request)
	if err != nil {
		return err
	}
	clean, end, err := c.cleaner(env)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	if !c.JSON {
		const what = "unink: watching %s, results go to %s; Ctrl-C ends it\n"
		fmt.Fprintf(env.stderr, what, c.Folder, watch.Out())
	}
	sum, err := watch.Run(env.ctx, clean, env.lines(c.JSON))
	if err != nil {
		return env.stopped(sum, err)
	}
	return verdict(sum)
}

// cleaner is what cleans the files, here or at a service, until its end is called.
func (c *watchCmd) cleaner(env *environment) (clean job.Clean, end func() error, err error) {
	if c.Server != "" {
		return c.cleanThere, func() error { return nil }, nil
	}
	engine, err := env.open(c.config(c.jobs(), unink.Limits{MaxBytes: job.MaxFileBytes}))
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, p *job.Plan, report job.Report) error {
		p.Run(ctx, engine, c.jobs(), report)
		return nil
	}, engine.Close, nil
}

// cleanThere has a service clean the files.
func (c *watchCmd) cleanThere(ctx context.Context, p *job.Plan, report job.Report) error {
	_, err := p.RunRemote(ctx, c.server(), c.jobsThere(), report)
	return err
}
