package unink

import (
	_ "embed"
	"strings"
)

//go:embed VERSION
var version string

// Version is that of the library, the program and the npm package.
func Version() string { return strings.TrimSpace(version) }
