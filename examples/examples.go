// Package examples holds calls of the developer entry point in four languages, to be read and
// copied. The page /developers shows them.
package examples

import "embed"

// Files are the programs, by their paths in this folder.
//
//go:embed clean.sh go/main.go clean.py clean.mjs pdf.sh
var Files embed.FS
