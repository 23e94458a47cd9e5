package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"

	"unink"
	"unink/internal/job"
	"unink/internal/pdf"
)

// report chooses how to tell. Where the picture goes to standard output, the report goes to
// standard error.
func (c *cleanCmd) report(env *environment, p *job.Plan) job.Report {
	out := env.stdout
	if p.ToStdout() {
		out = env.stderr
	}
	if c.JSON {
		return &jsonReport{json.NewEncoder(out)}
	}
	r := &textReport{out: out, err: env.stderr, total: p.Pages() + p.Missing()}
	if r.total > 1 && terminal(env.stderr) {
		r.bar = progressbar.NewOptions(r.total, progressbar.OptionSetWriter(env.stderr),
			progressbar.OptionSetDescription("pages"), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionFullWidth(), progressbar.OptionClearOnFinish())
		if terminal(out) {
			r.out, r.after = &r.lines, out // until the end the bar owns the terminal
		}
		_ = r.bar.RenderBlank() // a bar that cannot be drawn is no failure
	}
	return r
}

// lines reports a line at a time, of work whose amount is not known before.
func (env *environment) lines(asJSON bool) job.Report {
	if asJSON {
		return &jsonReport{json.NewEncoder(env.stdout)}
	}
	return &textReport{out: env.stdout, err: env.stderr}
}

// textReport writes a line a page, and failures to err. With a bar, err belongs to the bar:
// lines are written where it was, and it is drawn again below them.
type textReport struct {
	out, err io.Writer
	// where the lines go after the bar, if it is alone on the terminal until then
	after io.Writer
	lines bytes.Buffer // those
	total int
	bar   *progressbar.ProgressBar
}

func (r *textReport) Skip(s job.Skipped) { r.note("skipped %s: %s", s.Path, s.Reason) }

func (r *textReport) Page(o job.Outcome) {
	switch {
	case o.Err != nil:
		r.note("%s: %v", o.Input, o.Err)
	case o.Output == "": // the picture or the PDF goes to standard output
	case o.Kept:
		fmt.Fprintf(r.out, "%s: %sunchanged\n", o.Input, takenOff(o))
		if o.Unheld {
			r.note("%s: it has text in fonts that the file does not hold, so that it cannot be drawn; "+
				"save the PDF with its fonts and try again", o.Input)
		}
	default:
		corrected := ""
		if o.Result.Turned != 0 {
			corrected = fmt.Sprintf("turned by %d°, ", o.Result.Turned)
		}
		if o.Result.Flattened {
			corrected += "flattened, "
		}
		if o.Result.Unfinished {
			corrected += "left without the scan finish, "
		}
		what := fmt.Sprintf("%s%s%.1f %% removed, %d ms", takenOff(o), corrected, 100*o.Result.Removed,
			o.Result.Timings.Total().Milliseconds())
		if o.Part {
			fmt.Fprintf(r.out, "%s: %s\n", o.Input, what)
		} else {
			fmt.Fprintf(r.out, "%s -> %s (%s)\n", o.Input, o.Output, what)
		}
	}
	if r.bar != nil {
		_ = r.bar.Add(1)
	}
}

// takenOff says what of the ink that the file itself tells was taken off.
func takenOff(o job.Outcome) string {
	said := ""
	for _, what := range []struct {
		n         int
		one, many string
	}{
		{o.Marks, "annotation", "annotations"}, {o.Strokes, "stroke", "strokes"},
	} {
		switch {
		case what.n == 1:
			said += "1 " + what.one + " taken off, "
		case what.n > 1:
			said += fmt.Sprintf("%d %s taken off, ", what.n, what.many)
		}
	}
	return said
}

func (r *textReport) Document(o job.DocumentOutcome) {
	switch {
	case o.Err != nil:
		r.note("%s: %v", o.Input, o.Err)
	case o.Output != "":
		unchanged := ""
		if o.Kept > 0 {
			unchanged = fmt.Sprintf(", %d unchanged", o.Kept)
		}
		fmt.Fprintf(r.out, "%s -> %s (%d pages%s)\n", o.Input, o.Output, o.Pages, unchanged)
	}
}

func (r *textReport) note(format string, args ...any) {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	fmt.Fprintf(r.err, "unink: "+format+"\n", args...)
}

func (r *textReport) Done(s job.Summary) {
	if r.bar != nil {
		_ = r.bar.Clear()
	}
	if r.after != nil {
		_, _ = r.lines.WriteTo(r.after)
	}
	if r.total == 1 && s.Skipped == 0 && !s.Interrupted {
		return
	}
	interrupted := ""
	if s.Interrupted {
		interrupted = "interrupted: "
	}
	fmt.Fprintf(r.err, "%s%d cleaned, %d failed, %d skipped in %.1f s\n", interrupted, s.Cleaned,
		s.Failed, s.Skipped, s.Seconds)
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
	Kept       bool              `json:"kept,omitempty"`        // of a PDF, as it was but for these:
	Marks      int               `json:"annotations,omitempty"` // that were taken off
	Strokes    int               `json:"strokes,omitempty"`     // of a stylus, likewise
	Unheld     bool              `json:"unheld,omitempty"`      // kept: its fonts are not in the file
	MS         map[string]int64  `json:"ms,omitempty"`
	Error      *jsonError        `json:"error,omitempty"`
}

type jsonError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

func (r *jsonReport) Page(o job.Outcome) {
	line := jsonPage{Type: "page", Input: o.Input}
	if !o.Part {
		line.Output = o.Output
	}
	if o.Err != nil {
		line.Error = jsonErrorOf(o.Err)
	} else {
		if !o.Kept {
			line.Format = o.Result.Format.String()
		}
		line.Width, line.Height, line.Turned = o.Result.Width, o.Result.Height, o.Result.Turned
		line.Flattened, line.Removed, line.Kept = o.Result.Flattened, o.Result.Removed, o.Kept
		line.Marks, line.Strokes, line.Unheld = o.Marks, o.Strokes, o.Unheld
		line.Skew, line.Moire, line.Corners, line.Confidence = o.Result.Skew, o.Result.Moire,
			o.Result.Corners, &o.Result.Confidence
		line.MS = make(map[string]int64, len(o.Result.Timings))
		for stage, took := range o.Result.Timings {
			line.MS[stage] = took.Milliseconds()
		}
	}
	r.print(line)
}

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
func (r *jsonReport) Document(o job.DocumentOutcome) {
	line := struct {
		Type   string     `json:"type"`
		Input  string     `json:"input"`
		Output string     `json:"output,omitempty"`
		Pages  int        `json:"pages"`
		Kept   int        `json:"kept"`
		Error  *jsonError `json:"error,omitempty"`
	}{Type: "document", Input: o.Input, Pages: o.Pages, Kept: o.Kept}
	if o.Err != nil {
		line.Error = jsonErrorOf(o.Err)
	} else {
		line.Output = o.Output
	}
	r.print(line)
}

func (r *jsonReport) Skip(s job.Skipped) {
	r.print(struct {
		Type   string `json:"type"`
		Input  string `json:"input"`
		Reason string `json:"reason"`
	}{"skipped", s.Path, s.Reason})
}

func (r *jsonReport) Done(s job.Summary) {
	r.print(struct {
		Type string `json:"type"`
		job.Summary
	}{"summary", s})
}

// print writes a line. There is nobody to tell when nobody reads.
func (r *jsonReport) print(v any) { _ = r.out.Encode(v) }
