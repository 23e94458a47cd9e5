// Command unink removes handwriting from pictures of printed pages.
package main

import (
	"os"

	"unink/internal/cli"
)

func main() { os.Exit(cli.Main()) }
