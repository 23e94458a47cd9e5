// Package cli is the command line: commands, flags, configuration, terminal and output.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"unink"
	"unink/internal/app"
	"unink/internal/job"
	"unink/internal/misuse"
)

// The exit codes.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitSomeFailed  = 3
	exitInterrupted = 130
)

type commands struct {
	Clean   cleanCmd   `cmd:"" help:"Remove the handwriting from pictures of pages."`
	Watch   watchCmd   `cmd:"" help:"Clean what is in a folder, and what comes there."`
	Batch   batchCmd   `cmd:"" help:"Clean a folder or bucket into another with a fleet; resumable."`
	Serve   serveCmd   `cmd:"" help:"Serve the same over HTTP."`
	Worker  workerCmd  `cmd:"" help:"Clean pages for services with --fleet, on this machine."`
	Site    siteCmd    `cmd:"" help:"Write a page that cleans in the browser, for any web server."`
	Admin   adminCmd   `cmd:"" help:"Operate the service: users, customers, credits, mails, statistics, backup."`
	Config  configCmd  `cmd:"" help:"Print the settings that serve would have, and where each comes from."`
	Doctor  doctorCmd  `cmd:"" help:"Check what works here: library, model, device, memory."`
	Health  healthCmd  `cmd:"" help:"Ask the service on this machine whether it is ready."`
	Version versionCmd `cmd:"" help:"Print the version."`
	Help    helpCmd    `cmd:"" help:"Show the help of a command."`

	Completion completionCmd `cmd:"" help:"Print what completes commands and flags in a shell."`
	Complete   completeCmd   `cmd:"" hidden:""`
	Man        manCmd        `cmd:"" help:"Print the manual page."`

	ShowVersion versionFlag `name:"version" help:"Print the version."`
}

// engineFlags choose how the network runs, in every command that runs it.
type engineFlags struct {
	Device  string `default:"cpu" enum:"cpu,cuda" env:"UNINK_DEVICE" help:"Where the network runs: ${enum}. cuda needs --library; when it cannot be used, that is an error."`
	Library string `placeholder:"FILE" env:"UNINK_LIBRARY" type:"path" help:"Another ONNX Runtime library of the built-in one's release, such as one built for CUDA."`
	Threads int    `env:"UNINK_THREADS" placeholder:"N" help:"CPU threads for one page. Default: the CPUs divided among the pages cleaned at once."`
}

// config configures an engine for a number of pages that are cleaned at once.
func (f engineFlags) config(pages int, limits unink.Limits) unink.Config {
	threads := f.Threads
	if threads == 0 {
		threads = max(1, runtime.NumCPU()/pages)
	}
	return unink.Config{Threads: threads, Device: f.Device, Library: f.Library, Limits: limits}
}

// engine removes handwriting; [*unink.Cleaner] is one.
type engine interface {
	job.Engine
	app.Cleaner
	Describe() unink.Description
}

func openEngine(c unink.Config) (engine, error) { return unink.New(c) }

// environment is what commands have of the world outside.
type environment struct {
	ctx            context.Context // ends with an interrupt
	stdin          io.Reader
	stdout, stderr io.Writer
	open           func(unink.Config) (engine, error)
}

// terminal reports whether a stream is a terminal.
func terminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// errSomeFailed and errFailed end a command whose failures were reported already.
var (
	errSomeFailed = errors.New("some inputs failed")
	errFailed     = errors.New("failed")
)

// Main runs the command line of the process and returns its exit code.
func Main() int { return program(openEngine) }

func program(open func(unink.Config) (engine, error)) int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // pages are large and hold no pointers: collecting them costs little
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// A second interrupt ends the process at once.
	defer context.AfterFunc(ctx, stop)()
	return run(&environment{ctx, os.Stdin, os.Stdout, os.Stderr, open}, os.Args[1:])
}

func run(env *environment, args []string) int {
	file, err := loadSettings()
	if err != nil {
		return env.exit(err)
	}
	if len(args) == 0 {
		args = []string{"help"}
	}
	command, err := parser(env, file).Parse(args)
	if err == nil {
		err = command.Run(env)
	}
	return env.exit(err)
}

func newCommands() *commands {
	c := &commands{}
	c.Clean.optionFlags, c.Watch.optionFlags, c.Batch.optionFlags = newOptionFlags(),
		newOptionFlags(), newOptionFlags()
	return c
}

// parser knows the commands and flags.
func parser(env *environment, file *settings) *kong.Kong {
	return kong.Must(newCommands(),
		kong.Name("unink"),
		kong.Description("A page that was written on goes in; the same page without the handwriting "+
			"comes out."),
		kong.Writers(env.stdout, env.stderr),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		serveDefaults(),
		kong.Resolvers(file),
		kong.Bind(file),
	)
}

// exit reports an error and gives its exit code.
func (env *environment) exit(err error) int {
	var parse *kong.ParseError
	var use misuse.Error
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSomeFailed):
		return exitSomeFailed
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &parse):
		env.complain(err)
		command := "unink"
		if selected := parse.Context.Selected(); selected != nil {
			command = selected.FullPath()
		}
		fmt.Fprintf(env.stderr, "unink: see %s --help\n", command)
		return exitUsage
	case errors.As(err, &use), errors.Is(err, unink.ErrOption):
		env.complain(err)
		return exitUsage
	}
	env.complain(err)
	return exitFailed
}

func (env *environment) complain(err error) { fmt.Fprintf(env.stderr, "unink: %v\n", err) }
