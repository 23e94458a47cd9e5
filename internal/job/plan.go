package job

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/misuse"
	"unink/internal/pdf"
)

// Stream stands for standard input and output.
const Stream = "-"

// Request says what to clean, and where the results go.
type Request struct {
	Inputs  []string // pictures, PDFs, folders, globs, or Stream alone
	Out     string   // a file, a folder or Stream; empty is beside the inputs
	Pages   Pages    // of PDFs and TIFFs
	Options unink.Options
	Extras
	KeepMarks    bool // leave annotations of PDFs where they are
	KeepClean    bool // leave pages of a PDF as they are where nothing is removed or corrected
	SkipExisting bool // pass over what has a result already

	Stdin  io.Reader
	Stdout io.Writer
}

// Extras are the files wanted beside an output. Layers are the mask and the ink. Tint is for
// Compare: what was removed is tinted on the page before.
type Extras struct{ Mask, Layers, Compare, Tint, Stages bool }

// Plan is what a run will do, settled before any work: nothing is overwritten by surprise and no
// two pages are written to one file.
type Plan struct {
	request Request
	pages   []page
	stdout  bool      // they, or it, go to standard output
	skipped []Skipped // files of folders that are no pictures
	missing []Outcome // inputs that cannot be read
	owners  owners
	watch   *Watch // whose plan it is, if any
}

// owners are the inputs by the files that their results may be written to; the inputs themselves
// are there too, and belong to none.
type owners map[string]string

// page is one picture, or one PDF, and the names it may be written to.
type page struct {
	input  string
	number int                     // of the file's pages, from 1; 0 when it has only one
	format unink.Format            // asked for
	names  map[unink.Format]string // by the result's format; empty for standard output
	stem   string                  // of the files beside the output
	extras Extras

	document *document // of a PDF, whose name is that of format pdfName
}

// pdfName stands for the one format that a cleaned PDF has.
const pdfName = unink.Auto

// ToStdout tells whether a result goes to standard output.
func (p *Plan) ToStdout() bool { return p.stdout }

// Missing is the number of inputs that cannot be read.
func (p *Plan) Missing() int { return len(p.missing) }

// Pages is the number of pages to clean.
func (p *Plan) Pages() (n int) {
	for _, pg := range p.pages {
		if pg.document != nil {
			n += len(pg.document.numbers)
		} else {
			n++
		}
	}
	return n
}

func (pg page) toStdout() bool { return len(pg.names) == 0 }

// existing is a result of the page that is there, whichever its format; empty when there is none.
func (pg page) existing() string {
	for _, name := range slices.Sorted(maps.Values(pg.names)) {
		if _, err := os.Stat(name); err == nil {
			return name
		}
	}
	return ""
}

func (pg page) maskName() string    { return pg.stem + ".mask.png" }
func (pg page) inkName() string     { return pg.stem + ".ink.png" }
func (pg page) compareName() string { return pg.stem + ".compare.jpg" }

// outputs are all files that the page may be written to.
func (pg page) outputs() []string {
	files := slices.Collect(maps.Values(pg.names))
	if pg.extras.Mask || pg.extras.Layers {
		files = append(files, pg.maskName())
	}
	if pg.extras.Layers {
		files = append(files, pg.inkName())
	}
	if pg.extras.Compare {
		files = append(files, pg.compareName())
	}
	if pg.extras.Stages {
		for _, stage := range unink.Pictures() {
			files = append(files, pg.stageName(stage))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// source is a picture that was found.
type source struct {
	path   string
	root   string // the folder it was found in, empty for one that was named
	format unink.Format
	pdf    bool
	page   int // from 1; 0 when the file has only one
}

// stem is the file's name without its ending, and with the page's number.
func (s source) stem(name string) string {
	name = strings.TrimSuffix(name, filepath.Ext(name))
	if s.page > 0 {
		name += fmt.Sprintf("-%03d", s.page)
	}
	return name
}

// Plan finds the inputs, names the outputs and checks that they do not collide. The error is a
// [misuse.Error]; an input that cannot be read is an [Outcome] of the run.
func (r Request) Plan(ctx context.Context) (*Plan, error) {
	if slices.Contains(r.Inputs, Stream) {
		return r.planStream(ctx)
	}
	p := &Plan{request: r, owners: owners{}}
	var sources []source
	for _, input := range r.Inputs {
		if r.isResult(input) {
			p.skipped = append(p.skipped, Skipped{input, ownReason})
			continue
		}
		found, err := p.find(input, r.Out)
		if err != nil {
			return nil, err
		}
		sources = append(sources, found...)
	}
	return p, p.arrange(ctx, distinct(sources))
}

// arrange names the outputs of sources, checks them and adds what is to be cleaned to the plan.
func (p *Plan) arrange(ctx context.Context, sources []source) error {
	r := p.request
	sources = p.leaf(sources, r.Pages)
	if slices.ContainsFunc(sources, func(s source) bool { return s.pdf }) {
		if err := r.checkPDF(); err != nil {
			return err
		}
	}
	if r.binds(sources) {
		return errors.Join(r.checkPDF(), p.bind(r.Out, sources))
	}
	place, format, err := r.place(sources)
	if err != nil {
		return err
	}
	var pages []page
	var begun []source // as pages
	for _, s := range sources {
		pg := place(s)
		pg.input, pg.number, pg.format = s.path, s.page, format
		pg.extras = r.Extras
		if result := pg.existing(); r.SkipExisting && result != "" {
			p.skipped = append(p.skipped, Skipped{pg.input, result + " is there already"})
			p.owners[resolve(result)] = pg.input
			continue
		}
		pages, begun = append(pages, pg), append(begun, s)
	}
	if err := p.owners.add(pages); err != nil {
		return err
	}
	p.stdout = slices.ContainsFunc(pages, page.toStdout)
	p.pages = append(p.pages, p.readable(ctx, pages, begun)...)
	return nil
}

// checkPDF checks that what is asked for can be done to a PDF.
func (r Request) checkPDF() error {
	switch {
	case r.Mask || r.Layers || r.Compare:
		return misuse.Errorf("--mask, --layers and --compare are for pictures, and there is a PDF " +
			"among the inputs or outputs")
	case r.Options.Format == unink.WebP:
		return misuse.Errorf("a PDF cannot hold WebP; use --format png or jpeg")
	}
	return nil
}

// readable looks into the PDFs among pages. What cannot be read is missing from the plan. A page's
// source has its place.
func (p *Plan) readable(ctx context.Context, pages []page, sources []source) []page {
	var readable []page
	for i, pg := range pages {
		if sources[i].pdf {
			var err error
			if pg.document, err = openDocument(ctx, pg.input, nil, p.request); err != nil {
				p.missing = append(p.missing, Outcome{Input: pg.input, Err: err})
				continue
			}
		}
		readable = append(readable, pg)
	}
	return readable
}

// planStream is the plan for standard input, which goes to standard output or to a file.
func (r Request) planStream(ctx context.Context) (*Plan, error) {
	if len(r.Inputs) > 1 {
		return nil, misuse.Errorf("- is standard input and must be the only input")
	}
	in := bufio.NewReaderSize(r.Stdin, pdf.HeadBytes)
	r.Stdin = in
	head, _ := in.Peek(pdf.HeadBytes) // an error comes again when it is read
	_, isPDF, _ := kind(head)
	stream := []source{{path: Stream, pdf: isPDF}}
	if isPDF {
		if err := r.checkPDF(); err != nil {
			return nil, err
		}
	}
	place, format, err := r.place(stream)
	if err != nil {
		return nil, err
	}
	pg := place(stream[0])
	pg.input, pg.format, pg.extras = Stream, format, r.Extras
	p := &Plan{request: r, stdout: pg.toStdout()}
	if isPDF {
		data, err := readAll(in)
		if err == nil {
			pg.document, err = openDocument(ctx, Stream, data, r)
		}
		if err != nil {
			p.missing = append(p.missing, Outcome{Input: Stream, Err: err})
			return p, nil
		}
	}
	p.pages = append(p.pages, pg)
	return p, nil
}

// find is what an argument stands for: a file, the pictures of a folder, or the files of a glob.
func (p *Plan) find(input, out string) ([]source, error) {
	info, err := os.Stat(input)
	switch {
	case err == nil && info.IsDir():
		return p.walk(input, out)
	case err == nil:
		format, isPDF, _ := sniff(input)
		return []source{{path: input, format: format, pdf: isPDF}}, nil
	}
	matches, globErr := filepath.Glob(input)
	if !hidden(input) { // as in a shell, * finds no hidden file
		matches = slices.DeleteFunc(matches, hidden)
	}
	if globErr != nil || len(matches) == 0 {
		p.missing = append(p.missing, Outcome{Input: input, Err: plain(err)})
		return nil, nil
	}
	var found []source
	for _, match := range matches {
		if ownResult(match) && match != input {
			p.skipped = append(p.skipped, Skipped{match, ownReason})
			continue
		}
		more, err := p.find(match, out)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// walk finds the pictures of a folder and of the folders in it. Hidden ones, earlier results and
// the folder that is written to are passed over.
func (p *Plan) walk(root, out string) ([]source, error) {
	var found []source
	root = filepath.Clean(root)
	link := root + string(filepath.Separator) // so that a link to a folder is walked, too
	err := filepath.WalkDir(link, func(path string, d fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		hidden := path != root && hidden(path)
		switch {
		case (err != nil || !d.IsDir() && !hidden) && !p.watch.takes(path):
			return nil
		case err != nil:
			p.missing = append(p.missing, Outcome{Input: path, Err: plain(err)})
			return nil
		case d.IsDir() && (hidden || path != root &&
			(ownResult(path) || out != "" && resolve(path) == resolve(out))):
			return filepath.SkipDir
		case d.IsDir():
			p.watch.follow(path)
			return nil
		case hidden:
			return nil
		case ownResult(path):
			p.skipped = append(p.skipped, Skipped{path, ownReason})
			return nil
		}
		format, isPDF, err := sniff(path)
		switch {
		case err != nil && pageName.MatchString(path):
			p.missing = append(p.missing, Outcome{Input: path, Err: err})
			return nil
		case err != nil:
			p.skipped = append(p.skipped, Skipped{path, err.Error()})
			return nil
		}
		found = append(found, source{path: path, root: root, format: format, pdf: isPDF})
		return nil
	})
	return found, err
}

// ownResult tells by its name what was written beside an input without -o: x.clean.jpg,
// x.clean.mask.png, folder.clean.
func ownResult(path string) bool {
	return ownName.MatchString(filepath.Base(path))
}

const ownReason = "a result of unink"

var (
	ownName = regexp.MustCompile(`(-\d{3,})?\.clean(\.(mask|ink|compare|\d-[a-z]+))?(\.[a-z]+)?$`)

	// pageName is what files are called that are meant to be pages. One that is none is broken.
	pageName = regexp.MustCompile(`(?i)\.(jpe?g|png|webp|hei[cf]|avif|bmp|tiff?|gif|pdf)$`)
)

// isResult tells of a name that was given whether it is an earlier result: a shell's * finds these
// beside what they were made of. Given alone it is an input like others, unless what has a result
// is to be passed over.
func (r Request) isResult(input string) bool {
	if !ownResult(input) {
		return false
	}
	made := ownName.ReplaceAllString(filepath.Clean(input), "")
	return r.SkipExisting || slices.ContainsFunc(r.Inputs, func(other string) bool {
		other = filepath.Clean(other)
		return other == made || strings.TrimSuffix(other, filepath.Ext(other)) == made
	})
}

func hidden(path string) bool { return strings.HasPrefix(filepath.Base(path), ".") }

// sniff tells a file's format by its first bytes.
func sniff(path string) (format unink.Format, isPDF bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return unink.Auto, false, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return unink.Auto, false, plain(err)
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, pdf.HeadBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return unink.Auto, false, plain(err)
	}
	return kind(head[:n])
}

// kind tells what a file is that begins like this.
func kind(head []byte) (format unink.Format, isPDF bool, err error) {
	f, err := imagefile.Sniff(head)
	if err != nil && pdf.Is(head) {
		return unink.Auto, true, nil
	}
	return unink.Format(f), false, err
}

// distinct drops the sources that were found before under another name.
func distinct(sources []source) []source {
	seen := map[string]bool{}
	return slices.DeleteFunc(sources, func(s source) bool {
		real := resolve(s.path)
		again := seen[real]
		seen[real] = true
		return again
	})
}

// leaf takes TIFF files of several pages apart into the pages that were asked for.
func (p *Plan) leaf(sources []source, asked Pages) []source {
	var leaves []source
	for _, s := range sources {
		pages := 1
		if s.format == unink.TIFF {
			if data, err := readFile(s.path); err == nil { // what cannot be read is told when it is cleaned
				pages = imagefile.Pages(data)
			}
		}
		if pages == 1 {
			leaves = append(leaves, s)
			continue
		}
		numbers := asked.Of(pages)
		if numbers == nil {
			p.missing = append(p.missing, Outcome{Input: s.path, Err: noSuchPage(pages)})
		}
		for _, s.page = range numbers {
			leaves = append(leaves, s)
		}
	}
	return leaves
}

// place says where -o sends each source, and the format that its file's ending asks for.
func (r Request) place(sources []source) (func(source) page, unink.Format, error) {
	format := r.Options.Format
	stream := len(sources) == 1 && sources[0].path == Stream
	single := len(sources) == 1 && sources[0].root == ""
	switch {
	case r.Out == Stream || r.Out == "" && stream:
		return func(source) page { return page{} }, format, r.checkStdout(single)
	case r.Out == "":
		return beside(format), format, nil
	case isFolder(r.Out):
		if stream {
			return nil, format, misuse.Errorf("a picture from standard input has no name; give -o a file")
		}
		return into(r.Out, format), format, nil
	}
	wantPDF := len(sources) == 1 && sources[0].pdf
	asked, err := endingFormat(r.Out, wantPDF)
	switch {
	case err != nil:
		return nil, format, err
	case !single:
		return nil, format, misuse.Errorf(
			"-o %s is a file, which takes one picture; end a folder's name with %c", r.Out,
			filepath.Separator,
		)
	case wantPDF:
		return func(source) page {
			return page{names: map[unink.Format]string{pdfName: r.Out}}
		}, format, nil
	case format != unink.Auto && format != asked:
		return nil, format, misuse.Errorf("--format %s contradicts -o %s", format, r.Out)
	}
	return func(source) page {
		return page{names: map[unink.Format]string{asked: r.Out},
			stem: strings.TrimSuffix(r.Out, filepath.Ext(r.Out))}
	}, asked, nil
}

// checkStdout checks that one picture, and nothing else, can go to standard output.
func (r Request) checkStdout(single bool) error {
	switch {
	case !single:
		return misuse.Errorf("standard output takes one picture; use -o FOLDER")
	case r.Extras != Extras{}:
		return misuse.Errorf(
			"--mask, --layers, --compare and --stages write files beside the output; use -o FILE",
		)
	}
	return nil
}

// isFolder reports whether -o means a folder: one that exists, or a name without an ending.
func isFolder(out string) bool {
	info, err := os.Stat(out)
	return err == nil && info.IsDir() || os.IsPathSeparator(out[len(out)-1]) || filepath.Ext(out) == ""
}

// pdfEnding is that of PDFs' names.
const pdfEnding = ".pdf"

func endingFormat(out string, wantPDF bool) (unink.Format, error) {
	ending := filepath.Ext(out)
	switch isPDF := strings.EqualFold(ending, pdfEnding); {
	case isPDF && wantPDF:
		return pdfName, nil
	case isPDF:
		return 0, misuse.Errorf("-o %s: a PDF is made of one PDF, or of pictures that are files", out)
	case wantPDF:
		return 0, misuse.Errorf("-o %s: a PDF becomes a PDF; end its name with %s", out, pdfEnding)
	}
	format, err := unink.ParseFormat(strings.TrimPrefix(ending, "."))
	if err != nil || format == unink.Auto {
		return 0, misuse.Errorf("cannot write %q: use .png, .jpg or .webp; end a folder's name with %c",
			ending, filepath.Separator)
	}
	return format, nil
}

// beside writes x.clean.jpg beside x.jpg, and the pictures of folder into folder.clean.
func beside(format unink.Format) func(source) page {
	return func(s source) page {
		if s.root != "" {
			return into(cleanFolder(s.root), format)(s)
		}
		return named(s.stem(s.path)+".clean", s, format)
	}
}

// cleanFolder names the folder beside root.
func cleanFolder(root string) string {
	if base := filepath.Base(root); base == "." || base == ".." {
		if abs, err := filepath.Abs(root); err == nil {
			root = abs
		}
	}
	return filepath.Clean(root) + ".clean"
}

// into writes under folder, by the source's own name.
func into(folder string, format unink.Format) func(source) page {
	return func(s source) page {
		name := filepath.Base(s.path)
		if s.root != "" {
			if rel, err := filepath.Rel(s.root, s.path); err == nil {
				name = rel
			}
		}
		return named(filepath.Join(folder, s.stem(name)), s, format)
	}
}

// named gives a page its names for every format that the result may have. An ending that is
// right for the format is kept as it is (.jpeg, .JPG).
func named(stem string, s source, asked unink.Format) page {
	names := map[unink.Format]string{}
	if s.pdf {
		ending := filepath.Ext(s.path)
		if !strings.EqualFold(ending, pdfEnding) {
			ending = pdfEnding
		}
		return page{names: map[unink.Format]string{pdfName: stem + ending}}
	}
	for _, f := range possible(asked, s.format) {
		ending := filepath.Ext(s.path)
		if of, err := unink.ParseFormat(strings.TrimPrefix(ending, ".")); err != nil || of != f {
			ending = f.Ext()
		}
		names[f] = stem + ending
	}
	return page{names: names, stem: stem}
}

// possible are the formats a result may have.
func possible(asked, input unink.Format) []unink.Format {
	switch {
	case asked != unink.Auto:
		return []unink.Format{asked}
	case input == unink.PNG, input == unink.WebP:
		return []unink.Format{input}
	}
	return []unink.Format{unink.JPEG, unink.PNG}
}

// add notes the outputs of pages, unless one would overwrite an input or another output.
func (o owners) add(pages []page) error {
	for _, pg := range pages {
		o[resolve(pg.input)] = ""
	}
	var errs []error
	for _, pg := range pages {
		for _, file := range pg.outputs() {
			real := resolve(file)
			switch other, taken := o[real]; {
			case !taken, other == pg.input, gone(other):
				o[real] = pg.input
			case other == "":
				errs = append(errs, fmt.Errorf("%s would be written to %s, which is an input", pg.input, file))
			default:
				errs = append(errs, fmt.Errorf("%s and %s might both be written to %s", other, pg.input, file))
			}
		}
	}
	if errs == nil {
		return nil
	}
	return misuse.Errorf("%v\nnothing was done; rename one of them, use another folder (-o), or "+
		"clean the pictures one by one", errors.Join(errs...))
}

// gone reports whether an input that was cleaned is there no more.
func gone(input string) bool {
	if input == "" {
		return false
	}
	_, err := os.Stat(input)
	return errors.Is(err, fs.ErrNotExist)
}

// resolve is the absolute path behind symbolic links, of a file that may not exist yet.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if dir := filepath.Dir(path); dir != path {
		return filepath.Join(resolve(dir), filepath.Base(path))
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
