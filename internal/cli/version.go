package cli

import (
	"fmt"
	"runtime"

	"github.com/alecthomas/kong"
)

// version is set when the program is built.
var version = "devel"

func versionLine() string {
	return fmt.Sprintf("unink %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS,
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
