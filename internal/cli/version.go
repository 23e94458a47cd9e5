package cli

import (
	"fmt"
	"runtime"
)

// version is set when the program is built.
var version = "devel"

type versionCmd struct{}

// Run prints the version.
func (versionCmd) Run(env *environment) error {
	_, err := fmt.Fprintf(env.stdout, "unink %s (%s, %s/%s)\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
