package job

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"unink/internal/misuse"
	"unink/internal/pause"
)

const (
	// settling is how long a file must stay the same to be complete. A copy that pauses for longer
	// is cleaned as far as it is there, and again when it has changed.
	settling = 2 * time.Second
	// longestLull is the time after which a folder is looked at again though nothing told of a
	// change: those on a network do not.
	longestLull = 15 * time.Second
)

// Watch is a folder whose pictures and PDFs are cleaned as they come.
//
// It looks through the whole folder again and again: when the system tells of a change, when a file
// was not complete, and every while. Each look is a [Plan] of the files that are complete and new.
type Watch struct {
	folder  string
	request Request
	files   map[string]*sighting
	waiting bool // for a file of the last look to be complete
	owners  owners

	notify   func() (*fsnotify.Watcher, error)
	notifier *fsnotify.Watcher // nil where the system tells nothing
	changed  chan struct{}

	settling, lull time.Duration
}

// sighting is how a file was when it was last looked at.
type sighting struct {
	size     int64
	modified time.Time
	since    time.Time // when it was first seen so
	taken    bool      // it was cleaned so, or failed
}

// Clean has a plan's pages cleaned, as [Plan.Run] does. The error is one that every further page
// would meet.
type Clean func(ctx context.Context, p *Plan, report Report) error

// NewWatch is a watch of a folder, with what is asked for of each file in it; the request names no
// inputs. The error is a [misuse.Error].
func NewWatch(folder string, r Request) (*Watch, error) {
	if info, err := os.Stat(folder); err != nil {
		return nil, misuse.Errorf("%s: %v", folder, plain(err))
	} else if !info.IsDir() {
		return nil, misuse.Errorf("%s is no folder; unink clean takes files", folder)
	}
	if r.Out == "" {
		r.Out = cleanFolder(folder)
	}
	if within(resolve(r.Out), resolve(folder)) {
		const mixed = "-o %s would mix the results with their inputs; use another folder"
		return nil, misuse.Errorf(mixed, r.Out)
	}
	if err := os.MkdirAll(r.Out, 0o777); err != nil {
		return nil, misuse.Errorf("-o %s: %v", r.Out, plain(err))
	}
	r.Out = filepath.Clean(r.Out) + string(filepath.Separator) // a folder, whatever its name ends in
	return &Watch{
		folder: folder, request: r, files: map[string]*sighting{}, owners: owners{},
		notify: fsnotify.NewWatcher, changed: make(chan struct{}, 1),
		settling: settling, lull: longestLull,
	}, nil
}

// Out is the folder of the results.
func (w *Watch) Out() string { return w.request.Out }

// within reports whether a folder is another, or lies in it.
func within(outer, inner string) bool {
	rel, err := filepath.Rel(outer, inner)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// Run cleans what has no result yet, and then what comes, until ctx ends or clean cannot go on. The
// report is told of all of it as of one run.
func (w *Watch) Run(ctx context.Context, clean Clean, report Report) (Summary, error) {
	start := time.Now()
	stop := w.listen()
	defer stop()
	whole := &wholeReport{Report: report}
	w.plan(ctx) // nothing is complete yet: this notes what was there at the start
	w.request.SkipExisting = true
	var err error
	for err == nil && w.rest(ctx) {
		p := w.plan(ctx)
		w.request.SkipExisting = false // whatever is complete from now on came, or changed
		if ctx.Err() == nil && !p.empty() {
			err = clean(ctx, p, whole)
		}
	}
	whole.sum.Interrupted = ctx.Err() != nil
	whole.sum.Seconds = time.Since(start).Seconds()
	report.Done(whole.sum)
	return whole.sum, err
}

// plan is for the files that are complete and were not taken as they are. What is wrong with one
// does not keep the others from it.
func (w *Watch) plan(ctx context.Context) *Plan {
	w.waiting = false
	p := &Plan{request: w.request, owners: w.owners, watch: w}
	sources, err := p.walk(w.folder, w.request.Out)
	if err != nil {
		p.missing = append(p.missing, Outcome{Input: w.folder, Err: plain(err)})
	}
	for _, s := range distinct(sources) {
		if ctx.Err() != nil {
			break
		}
		if err := p.arrange(ctx, []source{s}); err != nil {
			p.missing = append(p.missing, Outcome{Input: s.path, Err: err})
		}
	}
	return p
}

// empty reports whether there is nothing to do or to tell.
func (p *Plan) empty() bool { return len(p.pages)+len(p.missing)+len(p.skipped) == 0 }

// takes reports whether a file is to be dealt with now, which is once for each state in which it
// comes to rest. What cannot be looked at has a state, too, so that it is told once. Without a
// watch every file is.
func (w *Watch) takes(path string) bool {
	if w == nil {
		return true
	}
	if unfinished(path) {
		return false
	}
	now := &sighting{since: time.Now()}
	if info, err := os.Stat(path); err == nil {
		now.size, now.modified = info.Size(), info.ModTime()
	}
	before := w.files[path]
	switch {
	case before == nil || before.size != now.size || !before.modified.Equal(now.modified):
		w.files[path] = now
		w.waiting = true
		return false
	case before.taken:
		return false
	case now.since.Sub(before.since) < w.settling:
		w.waiting = true
		return false
	}
	before.taken = true
	return true
}

// unfinished tells by its name what browsers and the like are still writing; they rename it then.
func unfinished(path string) bool {
	endings := []string{".part", ".partial", ".filepart", ".crdownload", ".download", ".tmp"}
	return slices.Contains(endings, strings.ToLower(filepath.Ext(path)))
}

// rest waits until the folder should be looked at again; false at the end of ctx. However much
// changes, some time is between two looks.
func (w *Watch) rest(ctx context.Context) bool {
	if pause.For(ctx, w.settling) != nil {
		return false
	}
	if w.waiting {
		return true
	}
	lull := time.NewTimer(w.lull)
	defer lull.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-w.changed:
	case <-lull.C:
	}
	return true
}

// listen has the system tell of changes, if it can, until stop is called.
func (w *Watch) listen() (stop func()) {
	notifier, err := w.notify()
	if err != nil {
		return func() {} // the folder is looked at every while
	}
	w.notifier = notifier
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.heed(notifier)
	}()
	return func() {
		_ = notifier.Close() // there is nothing to lose
		<-ended
	}
}

// heed turns what the system tells into the one thing that matters: something changed.
func (w *Watch) heed(notifier *fsnotify.Watcher) {
	for told := true; told; {
		select {
		case _, told = <-notifier.Events:
		case _, told = <-notifier.Errors: // such as that changes were too many to tell
		}
		select {
		case w.changed <- struct{}{}:
		default:
		}
	}
}

// follow has the system tell of changes in a folder. Where it cannot, looking every while does.
func (w *Watch) follow(folder string) {
	if w != nil && w.notifier != nil {
		_ = w.notifier.Add(folder)
	}
}

// wholeReport makes one run of several for the report it passes on to.
type wholeReport struct {
	Report
	sum Summary
}

// Done adds a run's summary.
func (r *wholeReport) Done(s Summary) {
	r.sum.Cleaned += s.Cleaned
	r.sum.Failed += s.Failed
	r.sum.Skipped += s.Skipped
}
