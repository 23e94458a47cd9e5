package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"

	"unink"
	"unink/internal/pdf"
)

// report tells what becomes of the inputs. One goroutine at a time calls it.
type report interface {
	skip(s skipped)
	page(o outcome)
	document(o documentOutcome)
	done(s summary)
}

// report chooses how to tell. Where the picture goes to standard output, the report goes to
// standard error.
func (c *cleanCmd) report(env *environment, p *plan) report {
	out := env.stdout
	if p.stdout {
		out = env.stderr
	}
	if c.JSON {
		return &jsonReport{json.NewEncoder(out)}
	}
	r := &textReport{out: out, err: env.stderr, total: p.count() + len(p.missing)}
	if r.total > 1 && terminal(env.stderr) {
		r.bar = progressbar.NewOptions(r.total, progressbar.OptionSetWriter(env.stderr),
			progressbar.OptionSetDescription("pages"), progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
		if terminal(out) {
			r.out = io.Discard // the bar tells enough, and owns the terminal
		}
	}
	return r
}

// textReport writes a line a page, and failures to err. With a bar, err belongs to the bar:
// lines are written where it was, and it is drawn again below them.
type textReport struct {
	out, err io.Writer
	total    int
	bar      *progressbar.ProgressBar
}

func (r *textReport) skip(s skipped) { r.note("skipped %s: %s", s.path, s.reason) }

func (r *textReport) page(o outcome) {
	switch {
	case o.err != nil:
		r.note("%s: %v", o.input, o.err)
	case o.output == "": // the picture or the PDF goes to standard output
	case o.kept:
		fmt.Fprintf(r.out, "%s: left as it is\n", o.input)
	default:
		corrected := ""
		if o.result.Turned != 0 {
			corrected = fmt.Sprintf("turned by %d°, ", o.result.Turned)
		}
		if o.result.Flattened {
			corrected += "flattened, "
		}
		what := fmt.Sprintf("%s%.1f %% removed, %d ms", corrected, 100*o.result.Removed, o.result.Timings.Total.Milliseconds())
		if o.part {
			fmt.Fprintf(r.out, "%s: %s\n", o.input, what)
		} else {
			fmt.Fprintf(r.out, "%s -> %s (%s)\n", o.input, o.output, what)
		}
	}
	if r.bar != nil {
		_ = r.bar.Add(1) // a bar that cannot be drawn is no failure
	}
}

func (r *textReport) document(o documentOutcome) {
	switch {
	case o.err != nil:
		r.note("%s: %v", o.input, o.err)
	case o.output != "":
		fmt.Fprintf(r.out, "%s -> %s (%d pages, %d left as they are)\n", o.input, o.output, o.pages, o.kept)
	}
}

func (r *textReport) note(format string, args ...any) {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	fmt.Fprintf(r.err, "unink: "+format+"\n", args...)
}

func (r *textReport) done(s summary) {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	if r.total == 1 && s.Skipped == 0 && !s.Interrupted {
		return
	}
	interrupted := ""
	if s.Interrupted {
		interrupted = "interrupted: "
	}
	fmt.Fprintf(r.err, "%s%d cleaned, %d failed, %d skipped in %.1f s\n", interrupted, s.Cleaned, s.Failed, s.Skipped, s.Seconds)
}

// jsonReport writes one object a line; "type" is page, document, skipped or summary.
type jsonReport struct{ out *json.Encoder }

type jsonPage struct {
	Type       string            `json:"type"`
	Input      string            `json:"input"`
	Output     string            `json:"output,omitempty"`
	Format     string            `json:"format,omitempty"`
	Width      int               `json:"width,omitempty"`
	Height     int               `json:"height,omitempty"`
	Turned     int               `json:"turned"`            // degrees clockwise
	Flattened  bool              `json:"flattened"`         // skew, perspective or curl was undone
	Removed    float64           `json:"removed"`           // share of the pixels, 0 to 1
	Skew       float64           `json:"skew"`              // degrees clockwise that were undone
	Corners    *unink.Corners    `json:"corners,omitempty"` // of the result, in the input
	Moire      int               `json:"moire,omitempty"`   // waves that were taken away
	Confidence *unink.Confidence `json:"confidence,omitempty"`
	Kept       bool              `json:"kept,omitempty"` // of a PDF, as it was
	MS         map[string]int64  `json:"ms,omitempty"`
	Error      *jsonError        `json:"error,omitempty"`
}

type jsonError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (r *jsonReport) page(o outcome) {
	line := jsonPage{Type: "page", Input: o.input}
	if !o.part {
		line.Output = o.output
	}
	if o.err != nil {
		line.Error = jsonErrorOf(o.err)
	} else {
		t := o.result.Timings
		if !o.kept {
			line.Format = o.result.Format.String()
		}
		line.Width, line.Height, line.Turned = o.result.Width, o.result.Height, o.result.Turned
		line.Flattened, line.Removed, line.Kept = o.result.Flattened, o.result.Removed, o.kept
		line.Skew, line.Moire, line.Corners, line.Confidence = o.result.Skew, o.result.Moire, o.result.Corners, &o.result.Confidence
		line.MS = map[string]int64{
			"decode": ms(t.Decode), "orient": ms(t.Orient), "flatten": ms(t.Flatten), "demoire": ms(t.Demoire), "segment": ms(t.Segment), "erase": ms(t.Erase),
			"finish": ms(t.Finish), "encode": ms(t.Encode), "total": ms(t.Total),
		}
	}
	r.print(line)
}

func ms(d time.Duration) int64 { return d.Milliseconds() }

func jsonErrorOf(err error) *jsonError {
	if e := (*unink.Error)(nil); errors.As(err, &e) {
		return &jsonError{string(e.Code), e.Message, e.Hint}
	}
	for reason, code := range map[error]string{
		pdf.ErrPassword: "password", pdf.ErrBroken: string(unink.ErrBroken),
		pdf.ErrTooLarge: string(unink.ErrTooLarge), pdf.ErrNotPDF: string(unink.ErrFormat),
	} {
		if errors.Is(err, reason) {
			return &jsonError{Code: code, Message: err.Error()}
		}
	}
	return &jsonError{Code: "file", Message: err.Error()}
}

// document tells of a whole PDF, after its pages.
func (r *jsonReport) document(o documentOutcome) {
	line := struct {
		Type   string     `json:"type"`
		Input  string     `json:"input"`
		Output string     `json:"output,omitempty"`
		Pages  int        `json:"pages"`
		Kept   int        `json:"kept"`
		Error  *jsonError `json:"error,omitempty"`
	}{Type: "document", Input: o.input, Pages: o.pages, Kept: o.kept}
	if o.err != nil {
		line.Error = jsonErrorOf(o.err)
	} else {
		line.Output = o.output
	}
	r.print(line)
}

func (r *jsonReport) skip(s skipped) {
	r.print(struct {
		Type   string `json:"type"`
		Input  string `json:"input"`
		Reason string `json:"reason"`
	}{"skipped", s.path, s.reason})
}

func (r *jsonReport) done(s summary) {
	r.print(struct {
		Type string `json:"type"`
		summary
	}{"summary", s})
}

// print writes a line. There is nobody to tell when nobody reads.
func (r *jsonReport) print(v any) { _ = r.out.Encode(v) }
