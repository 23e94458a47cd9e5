package cli

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

func manualOf(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	env := &environment{ctx: t.Context(), stdout: &out, stderr: io.Discard}
	if code := run(env, []string{"man"}); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	return out.String()
}

// sections are the page's parts by the commands that head them.
func sections(page string) map[string]string {
	found := map[string]string{}
	for part := range strings.SplitSeq(page, "\n.S") {
		heading, body, _ := strings.Cut(part, "\n")
		if name, is := strings.CutPrefix(heading, "S "); is {
			found[strings.Trim(name, `"`)] = body
		}
	}
	return found
}

func TestManualHasEveryCommandAndFlag(t *testing.T) {
	page := manualOf(t)
	parts := sections(page)
	env := &environment{stdout: io.Discard, stderr: io.Discard}
	count := 0
	var check func(n *kong.Node)
	check = func(n *kong.Node) {
		for _, child := range n.Children {
			part, there := parts[roff(child.FullPath())]
			if there == child.Hidden {
				t.Errorf("%s: told %v, hidden %v", child.FullPath(), there, child.Hidden)
			}
			if child.Hidden {
				continue
			}
			count++
			for _, flag := range child.Flags {
				if !flag.Hidden && !strings.Contains(part, `\fB`+roff("--"+flag.Name)+`\fR`) {
					t.Errorf("%s lacks --%s", child.FullPath(), flag.Name)
				}
			}
			for _, argument := range child.Positional {
				if !strings.Contains(part, roff(argument.Summary())) {
					t.Errorf("%s lacks %s", child.FullPath(), argument.Summary())
				}
			}
			check(child)
		}
	}
	check(parser(env, &settings{}).Model.Node)
	if count < 20 {
		t.Errorf("only %d commands were looked for", count)
	}
	for _, want := range []string{
		`\fB\-o\fR, \fB\-\-out\fR=\fIPATH\fR`, "UNINK_DEVICE",
		`.SH "EXIT STATUS"`, "\\fB130\\fR\nInterrupted.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

// What a page says never is a request, and any reader can show it, whatever its encoding.
func TestManualIsRoff(t *testing.T) {
	request := regexp.MustCompile(`^\.(TH|SH|SS|PP|TP)( "[^"]*")*$`)
	escape := regexp.MustCompile(`\\(f[BIR]|[-e&]|\((aq|ga|ha|ti|dq)|\[u[0-9A-F]{4,5}\])`)
	for line := range strings.Lines(manualOf(t)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, ".") && !request.MatchString(line) || strings.HasPrefix(line, "'") {
			t.Errorf("an unknown request: %s", line)
		}
		if rest := escape.ReplaceAllString(line, ""); strings.Contains(rest, `\`) {
			t.Errorf("an unknown escape: %s", line)
		}
		for _, r := range line {
			if r < ' ' || r > '~' {
				t.Errorf("%q in: %s", r, line)
			}
		}
	}
}

func TestRoffIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"--out":       `\-\-out`,
		`C:\new`:      `C:\enew`,
		"it's `x`":    `it\(aqs \(gax\(ga`,
		"~ and ^":     `\(ti and \(ha`,
		"5 × 3 …":     `5 \[u00D7] 3 \[u2026]`,
		".unink":      `\&.unink`,
		"in .unink.":  "in .unink.",
		"'twas":       `\(aqtwas`,
		"  indented.": "  indented.",
	} {
		if got := guarded(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	var m manPage
	m.line(".SS", `the "best"`)
	if got := m.String(); got != ".SS \"the \\(dqbest\\(dq\"\n" {
		t.Errorf("quotes of a macro's argument: %s", got)
	}
}
