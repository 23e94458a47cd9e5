package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"unink/internal/misuse"
	"unink/internal/webui"
)

type siteCmd struct {
	Dir string `arg:"" help:"The folder, a new or an empty one."`
}

// Help is more than the one line.
func (*siteCmd) Help() string {
	return `The pages are cleaned in the browser, and nothing is uploaded. The files
work in any folder of any web server, which needs to run no program.
Serve them by HTTPS: only then do browsers keep the page for use without a
network, and use more than one thread.

To renew a site, write a new folder and put it in the old one's place.

Examples:
  unink site unink && scp -r unink www.example.com:/var/www/html/`
}

// Run writes the files.
func (c *siteCmd) Run(env *environment) error {
	if err := vacant(c.Dir); err != nil {
		return err
	}
	files, err := webui.Site()
	if err != nil {
		return err
	}
	size := 0
	for _, name := range slices.Sorted(maps.Keys(files)) {
		target := filepath.Join(c.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, files[name], 0o644); err != nil {
			return err
		}
		size += len(files[name])
	}
	_, err = fmt.Fprintf(env.stdout, "wrote %d files of %d MB to %s\n", len(files), size>>20, c.Dir)
	return err
}

// vacant refuses a folder that has something in it, which could be served or lost.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, syscall.ENOTDIR):
		return misuse.Errorf("%s is a file; name a folder that is new or empty", dir)
	case err == nil && len(entries) > 0:
		return misuse.Errorf("%s is not empty; name a new folder, and put it in this one's place", dir)
	}
	return err
}
