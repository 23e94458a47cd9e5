package bulk

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/option"
)

// page is a picture of the source.
type page struct {
	Key  string `json:"key"`  // its name, with slashes
	Mark string `json:"mark"` // changes with its content: S3's ETag, or when the file was changed
	Size int64  `json:"size"` // bytes
}

// identity tells a page, as it is and as it is asked for, from every other.
func (p page) identity(o unink.Options) string {
	return digest(fmt.Sprintf("%q %q %d %s", p.Key, p.Mark, p.Size, described(o)))
}

// described says what is asked for that is not the default, so that an option that is new changes
// nothing.
func described(o unink.Options) string {
	text := o.Finish.String()
	for _, one := range option.All {
		value, asked := one.Asked(o)
		switch {
		case !asked || one.Record == "":
		case one.Values == nil:
			text += ", " + one.Record
		default:
			text += ", " + one.Record + value
		}
	}
	return text
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// ownFolder is what a destination has of ours beside the results.
const ownFolder = ".unink"

// recordName is where the destination keeps what became of a page.
func (p page) recordName() string { return recordNameOf(p.Key) }

func recordNameOf(key string) string {
	sum := digest(key)
	return path.Join(ownFolder, "pages", sum[:2], sum[2:]+".json")
}

// record is what became of a page.
type record struct {
	Page     string   `json:"page"`
	Identity string   `json:"identity"`
	Output   string   `json:"output,omitempty"` // the result's name
	Error    *failure `json:"error,omitempty"`  // why there is none
}

// failure is an error that a record keeps.
type failure struct {
	Code    unink.Code `json:"code,omitempty"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
}

func failureOf(err error) *failure {
	if e := (*unink.Error)(nil); errors.As(err, &e) {
		return &failure{e.Code, e.Message, e.Hint}
	}
	return &failure{Message: err.Error()}
}

func (f failure) error() error {
	if f.Code == "" {
		return errors.New(f.Message)
	}
	return &unink.Error{Code: f.Code, Op: "clean", Message: f.Message, Hint: f.Hint}
}

// mostRecord bounds a record's bytes.
const mostRecord = 64 << 10

// record reads what became of a page; nil is nothing.
func (b *Batch) record(ctx context.Context, name string) (*record, error) {
	var data []byte
	err := b.persist(ctx, func() (err error) {
		data, err = b.destination.read(ctx, name, mostRecord)
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("what was done in %s cannot be read: %w", b.destination, err)
	}
	r := &record{}
	if json.Unmarshal(data, r) != nil {
		return nil, nil // it says nothing, and is written anew
	}
	return r, nil
}

// isPicture reports whether a name is that of a picture that is not hidden.
func isPicture(key string) bool {
	if !imagefile.HasEnding(key) {
		return false
	}
	for part := range strings.SplitSeq(key, "/") {
		if strings.HasPrefix(part, ".") {
			return false
		}
	}
	return true
}

// resultName is the page's own where the ending is right for the format, otherwise the format's
// ending after it.
func resultName(key string, f unink.Format) string {
	if asked, err := unink.ParseFormat(strings.TrimPrefix(path.Ext(key), ".")); err == nil &&
		asked == f {
		return key
	}
	return key + f.Ext()
}

// checkName finds the other page that has a result's name.
func (b *Batch) checkName(ctx context.Context, p page, name string) error {
	other := name
	if name == p.Key { // then it may be that of the page without the ending
		other = strings.TrimSuffix(p.Key, path.Ext(p.Key))
		if !isPicture(other) {
			return nil
		}
		r, err := b.record(ctx, recordNameOf(other))
		if err != nil || r == nil || r.Output != name {
			return err
		}
	} else if _, err := b.source.read(ctx, name, 0); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	return &unink.Error{Code: unink.ErrOption, Op: "write",
		Message: fmt.Sprintf("its result would be %s, as that of %s", name,
			other), Hint: "give one of them another name"}
}
