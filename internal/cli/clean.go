package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"

	"github.com/alecthomas/kong"

	"unink"
	"unink/internal/job"
	"unink/internal/misuse"
)

// defaultJobs bounds the pages cleaned at once unless -j is given: a 12-megapixel page takes up
// to 700 MB.
const defaultJobs = 4

type cleanCmd struct {
	Inputs         []string `arg:"" name:"input" help:"Pictures, PDFs, folders (with all folders in them), globs, or - for standard input."`
	Out            string   `short:"o" placeholder:"PATH" help:"A file for one picture (.png, .jpg or .webp), for one PDF or for pictures that become one (.pdf), otherwise a folder; - is standard output. Default: x.clean.jpg beside x.jpg, folder.clean beside folder."`
	Mask           bool     `help:"Also write NAME.mask.png: white where something was removed."`
	Layers         bool     `help:"Also write NAME.mask.png and NAME.ink.png: what was removed, transparent elsewhere."`
	Compare        bool     `help:"Also write NAME.compare.jpg: before and after, as the result lies."`
	Tint           bool     `help:"With --compare: what was removed is tinted on the page before, so that missing print is seen at once."`
	Stages         bool     `help:"Also write NAME.1-orient.png and so on: each picture as the stages leave it (not of PDFs)."`
	Pages          string   `placeholder:"LIST" help:"Only these pages of PDFs and TIFFs, such as 2-5 or 1,3,7-."`
	KeepCleanPages bool     `help:"Leave all pages of a PDF as they are, text and vectors included, where nothing is removed or corrected."`
	Keep           []string `enum:"annotations" placeholder:"WHAT" help:"Leave what PDF programs put on pages where it is: annotations."`
	SkipExisting   bool     `help:"Pass over what has a result already."`
	Preset         string   `placeholder:"NAME" help:"Flags from the preset of this name in the file that UNINK_CONFIG names; what is given beside it goes before."`
	workFlags
	optionFlags
	serverFlags
	engineFlags
}

// Help is shown under the flags.
func (*cleanCmd) Help() string {
	return `A PDF becomes a PDF. Ink, highlights, shapes, stamps and notes that a PDF program put on a page
are taken off it exactly. Pages that are text and straight lines alone, and blank ones, then stay as
they are; of the others a picture takes the place, with their text under it. Bookmarks, links and
form fields stay.
When a page fails, the others are tried, but the PDF is not written.
The pages of a TIFF become a picture each: x-001.clean.png and so on. They, or several pictures,
become one PDF with -o x.pdf, each page at the size that its resolution gives it, or as wide as A4.
A preset is a set of these flags under a name, in the file that UNINK_CONFIG names:
{"presets": {"school": {"finish": "scan", "remove": ["blue", "red"], "compare": true}}}
Inputs are never overwritten; earlier outputs are. Exit codes: 0 done, 1 failed, 2 wrong use,
3 some inputs failed, 130 interrupted.`
}

// BeforeResolve finds the preset.
func (*cleanCmd) BeforeResolve(trace *kong.Context, file *settings) error {
	for _, flag := range trace.Selected().Flags {
		if flag.Name != presetFlag {
			continue
		}
		name, _ := trace.FlagValue(flag).(string)
		if name == "" {
			name, _ = file.values[presetFlag].(string)
		}
		if name != "" {
			return file.choose(name)
		}
	}
	return nil
}

// Validate checks what can be checked without looking at a file.
func (c *cleanCmd) Validate() error {
	_, err := c.options()
	_, wrongPages := job.ParsePages(c.Pages)
	var noPicture error
	if c.Tint && !c.Compare {
		noPicture = errors.New("--tint is for the picture of --compare; give both")
	}
	return errors.Join(c.checkWork(), err, wrongPages, noPicture, c.checkServer(c.Stages))
}

// Run cleans the inputs.
func (c *cleanCmd) Run(env *environment) error {
	p, err := c.plan(env)
	if err != nil {
		return err
	}
	if c.Server != "" {
		return c.cleanThere(env, p)
	}
	jobs := max(1, min(p.Pages(), c.jobs()))
	cfg := c.config(jobs, unink.Limits{MaxBytes: job.MaxFileBytes})
	if c.Stages {
		cfg.Show = job.ShowStage
	}
	engine, err := env.open(cfg)
	if err != nil {
		return err
	}
	return errors.Join(verdict(p.Run(env.ctx, engine, jobs, c.report(env, p))), engine.Close())
}

// plan settles what is cleaned, and refuses to read a picture from a terminal or to write one
// there.
func (c *cleanCmd) plan(env *environment) (*job.Plan, error) {
	o, err := c.options()
	if err != nil {
		return nil, err
	}
	pages, err := job.ParsePages(c.Pages)
	if err != nil {
		return nil, err
	}
	if len(c.Inputs) == 1 && c.Inputs[0] == job.Stream && terminal(env.stdin) {
		return nil, misuse.Errorf("standard input is a terminal; send a picture, as in: unink clean - " +
			"< page.jpg > clean.jpg")
	}
	p, err := job.Request{
		Inputs: c.Inputs, Out: c.Out, Pages: pages, Options: o,
		Extras: job.Extras{Mask: c.Mask, Layers: c.Layers, Compare: c.Compare, Tint: c.Tint,
			Stages: c.Stages},
		KeepMarks: len(c.Keep) > 0, KeepClean: c.KeepCleanPages, SkipExisting: c.SkipExisting,
		Stdin: env.stdin, Stdout: env.stdout,
	}.Plan(env.ctx)
	if err == nil && p.ToStdout() && terminal(env.stdout) {
		return nil, misuse.Errorf(
			"a picture would garble the terminal; use -o FILE, or send the output on: > clean.jpg",
		)
	}
	return p, err
}

// workFlags say how much is done at once, and how that is told.
type workFlags struct {
	Jobs int  `short:"j" placeholder:"N" help:"Pages cleaned at once. Default: the number of CPUs, at most 4."`
	JSON bool `name:"json" help:"Report as JSON, one object a line."`
}

func (f workFlags) checkWork() error {
	if f.Jobs < 0 {
		return errors.New("-j must not be negative")
	}
	return nil
}

func (f workFlags) jobs() int {
	if f.Jobs > 0 {
		return f.Jobs
	}
	return min(defaultJobs, runtime.NumCPU())
}

// jobsThere are the pages that a service cleans at once: as many requests as a customer may have.
func (f workFlags) jobsThere() int {
	if f.Jobs > 0 {
		return f.Jobs
	}
	return defaultJobs
}

// verdict is the error that gives a run's exit code. What failed was reported already.
func verdict(s job.Summary) error {
	switch {
	case s.Interrupted:
		return context.Canceled
	case s.Failed > 0 && s.Cleaned > 0:
		return errSomeFailed
	case s.Failed > 0:
		return errFailed
	}
	return nil
}

// serverFlags send pages to a service instead of cleaning them here.
type serverFlags struct {
	Server string `env:"UNINK_SERVER" placeholder:"URL" help:"Have the pages cleaned by a service, such as https://acme-labs.api.example.com. Its limits of a page apply."`
	Token  string `env:"UNINK_TOKEN" placeholder:"TOKEN" help:"API token for --server; better in the environment as UNINK_TOKEN, since others on this machine see arguments."`
}

// checkServer checks what goes with --server.
func (f serverFlags) checkServer(stages bool) error {
	if f.Server == "" {
		return nil
	}
	u, err := url.Parse(f.Server)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
		u.RawQuery != "" || strings.Trim(u.Path, "/") != "":
		return errors.New("--server must be such as https://acme-labs.api.example.com")
	case f.Token == "":
		return errors.New("--server needs the API token in UNINK_TOKEN")
	case stages:
		return errors.New("--stages shows the engine at work, which is elsewhere with --server")
	}
	return nil
}

func (f serverFlags) server() job.Server { return job.Server{URL: f.Server, Token: f.Token} }

// cleanThere has a service clean the plan's pages.
func (c *cleanCmd) cleanThere(env *environment, p *job.Plan) error {
	jobs := max(1, min(p.Pages(), c.jobsThere()))
	sum, err := p.RunRemote(env.ctx, c.server(), jobs, c.report(env, p))
	if err == nil {
		return verdict(sum)
	}
	return env.stopped(sum, err)
}

// stopped tells why a service cleans no further page.
func (env *environment) stopped(sum job.Summary, err error) error {
	env.complain(
		fmt.Errorf("stopped: %w; the same command goes on with the pages that are left out now", err),
	)
	if sum.Cleaned > 0 {
		return errSomeFailed
	}
	return errFailed
}
