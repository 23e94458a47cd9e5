package bulk

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// folder is a place on this machine. Nothing outside it can be reached by a name.
type folder struct {
	root *os.Root
	path string // behind links
}

func openFolder(name string, write bool) (place, error) {
	if write {
		if err := os.MkdirAll(name, 0o777); err != nil {
			return nil, err
		}
	}
	real, err := filepath.EvalSymlinks(name)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return folder{root, real}, nil
}

func (f folder) String() string { return filepath.ToSlash(f.path) }

// id is written into the folder: the same path may be another folder on another machine.
func (f folder) id(ctx context.Context) (string, error) {
	name := path.Join(ownFolder, "id")
	if id, err := f.read(ctx, name, 64); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return string(id), err
	}
	// A link is made by one process only, and to a file that is whole.
	mine := path.Join(ownFolder, "id-"+rand.Text())
	if err := f.write(ctx, mine, []byte(strings.ToLower(rand.Text()))); err != nil {
		return "", err
	}
	err := f.root.Link(mine, name)
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	if err := errors.Join(err, f.root.Remove(mine)); err != nil {
		return "", err
	}
	id, err := f.read(ctx, name, 64)
	return string(id), err
}

func (f folder) close() error { return f.root.Close() }

func (f folder) list(ctx context.Context) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		err := fs.WalkDir(f.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil // it has just gone
			case err != nil:
				return err
			case name != "." && strings.HasPrefix(d.Name(), ".") && d.IsDir():
				return fs.SkipDir
			case d.IsDir():
				return nil
			}
			info, err := f.root.Stat(name)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			} else if err != nil {
				return err
			}
			if info.Mode().IsRegular() && !yield(
				page{Key: name, Mark: fmt.Sprint(info.ModTime().UnixNano()), Size: info.Size()}, nil,
			) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			yield(page{}, err)
		}
	}
}

func (f folder) read(_ context.Context, name string, most int64) ([]byte, error) {
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, plain(err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, most))
	return data, plain(err)
}

// unfinished is where files are until they are whole.
const unfinished = ownFolder + "/unfinished"

// settle takes away the files of those who were killed. Who writes one just now does it again.
func (f folder) settle(context.Context) error { return plain(f.root.RemoveAll(unfinished)) }

// write writes elsewhere and renames, so that the name has all or what it had before.
func (f folder) write(_ context.Context, name string, data []byte) (err error) {
	if !fs.ValidPath(name) {
		return errName
	}
	for _, dir := range []string{unfinished, path.Dir(name)} {
		if err := f.root.MkdirAll(dir, 0o777); err != nil {
			return f.refusal(err)
		}
	}
	temporary := path.Join(unfinished, rand.Text())
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return f.refusal(err)
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = f.root.Remove(temporary)
		}
	}()
	if _, err = file.Write(data); err == nil {
		err = file.Sync()
	}
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = f.root.Rename(temporary, name)
	}
	return f.refusal(err)
}

// refusal tells a name that cannot be used from a folder that cannot be written to.
func (folder) refusal(err error) error {
	if err == nil {
		return nil
	}
	for _, cause := range []error{syscall.ENAMETOOLONG, syscall.ENOTDIR, syscall.EISDIR,
		syscall.EINVAL, fs.ErrExist} {
		if errors.Is(err, cause) {
			return fmt.Errorf("%w: %w", errName, plain(err))
		}
	}
	return unavailable{plain(err)}
}

func (f folder) remove(_ context.Context, name string) error {
	return plain(f.root.Remove(filepath.FromSlash(name)))
}

// plain drops the operation and the path, which is told otherwise, from an error of the system.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
