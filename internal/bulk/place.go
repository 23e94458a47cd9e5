package bulk

import (
	"context"
	"errors"
	"iter"
	"strings"
)

// place is where pages and results are: a folder, or what of a bucket begins alike. Names have
// slashes.
type place interface {
	// String is the place itself, told in one way only.
	String() string
	// id names the place, the same for all who use it.
	id(ctx context.Context) (string, error)
	// list finds all there is, in folders too. Hidden things may be left out.
	list(ctx context.Context) iter.Seq2[page, error]
	// read reads at most so many bytes. What there is not is [fs.ErrNotExist].
	read(ctx context.Context, name string, most int64) ([]byte, error)
	// write writes all or nothing. [errName] says that nothing can have that name.
	write(ctx context.Context, name string, data []byte) error
	remove(ctx context.Context, name string) error
	// settle takes away what writing left that was cut short.
	settle(ctx context.Context) error
	close() error
}

// errUnavailable says that it is the place that fails, for now at least, and not what was asked of
// it.
var errUnavailable = errors.New("the place fails")

// errName says that a place cannot have something of that name.
var errName = errors.New("the name cannot be used there")

// unavailable marks an error as that of the place, and says the same.
type unavailable struct{ error }

func (u unavailable) Unwrap() error        { return u.error }
func (u unavailable) Is(target error) bool { return target == errUnavailable }

const s3Scheme = "s3://"

// openPlace finds what an argument names. A folder to write to is made.
func openPlace(name string, s S3, write bool) (place, error) {
	if strings.HasPrefix(name, s3Scheme) {
		return openBucket(strings.TrimPrefix(name, s3Scheme), s)
	}
	return openFolder(name, write)
}

// overlap reports whether one of two places lies in the other.
func overlap(a, b string) bool {
	a, b = strings.TrimSuffix(a, "/")+"/", strings.TrimSuffix(b, "/")+"/"
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}
