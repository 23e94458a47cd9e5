package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/alecthomas/kong"

	"unink"
)

// version is the release and, as build metadata, the commit that the program was built of, where
// that is known.
var version = sync.OnceValue(func() string {
	commit, changed := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision" && len(s.Value) > 12:
				commit = "+" + s.Value[:12]
			case s.Key == "vcs.modified" && s.Value == "true":
				changed = ".changed"
			}
		}
	}
	if commit == "" {
		changed = ""
	}
	return unink.Version() + commit + changed
})

func versionLine() string {
	return fmt.Sprintf("unink %s (%s, %s/%s)", version(), runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(env *environment) error {
	_, err := fmt.Fprintln(env.stdout, versionLine())
	return err
}

// versionFlag is the same as a flag, which ends the program.
type versionFlag bool

// BeforeReset is called by kong when the flag is there.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	_, err := fmt.Fprintln(app.Stdout, versionLine())
	app.Exit(exitDone)
	return err
}

type helpCmd struct {
	Command []string `arg:"" optional:"" help:"Such as admin user."`
}

// Run shows what --help does.
func (c *helpCmd) Run(env *environment) error {
	if run(env, append(c.Command, "--help")) != exitDone {
		return errFailed
	}
	return nil
}
