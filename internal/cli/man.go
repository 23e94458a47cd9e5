package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, in roff with the macros of man(7).
type manCmd struct{}

// Help is shown under the flags.
func (manCmd) Help() string {
	return `To read it, where man is installed (Debian: apt-get install man-db): unink man | man -l -
To install it: mkdir -p /usr/local/share/man/man1 && unink man > /usr/local/share/man/man1/unink.1`
}

// Run prints it.
func (manCmd) Run(env *environment, k *kong.Context) error {
	_, err := fmt.Fprint(env.stdout, manual(k.Model))
	return err
}

// manual is the page of the program's commands and flags.
func manual(app *kong.Application) string {
	var m manPage
	m.line(".TH", "UNINK", "1", "", "unink "+version(), "User Commands")
	m.line(".SH", "NAME")
	m.text("unink - removes the handwriting from pictures of printed pages")
	m.line(".SH", "SYNOPSIS")
	m.bold("unink", " COMMAND [flags]")
	m.line(".SH", "DESCRIPTION")
	m.text(app.Help)
	m.flags(app.Flags)
	m.line(".SH", "COMMANDS")
	m.commands(app.Node)
	m.line(".SH", "ENVIRONMENT")
	m.text("Flags name the variables that stand for them. A flag goes before its variable.")
	m.term(settingsVariable)
	m.text("A file with a JSON object whose keys are the names of flags, without the dashes. A " +
		"variable goes before the file. Its presets are such objects of flags of unink clean, by the " +
		"names that --preset takes: {\"presets\": {\"school\": {\"finish\": \"scan\"}}}. A flag goes " +
		"before the preset, and the preset before variables.")
	m.line(".SH", "EXIT STATUS")
	for _, code := range exitCodes {
		m.term(fmt.Sprint(code.number))
		m.text(code.meaning)
	}
	return m.String()
}

// exitCodes say what the program's ends mean.
var exitCodes = []struct {
	number  int
	meaning string
}{
	{exitDone, "Done."},
	{exitFailed, "Failed."},
	{exitUsage, "Wrong use."},
	{exitSomeFailed, "Some inputs failed."},
	{exitInterrupted, "Interrupted."},
}

// manPage is a page as it grows.
type manPage struct{ strings.Builder }

// line is a request or macro with its arguments.
func (m *manPage) line(macro string, arguments ...string) {
	m.WriteString(macro)
	for _, a := range arguments {
		m.WriteString(` "` + strings.ReplaceAll(roff(a), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// text is running text, of which an empty line ends a paragraph and an indented one stays alone.
func (m *manPage) text(s string) {
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		if line == "" {
			m.line(".PP")
			continue
		}
		m.WriteString(guarded(line) + "\n")
	}
}

// bold is a line that begins in bold.
func (m *manPage) bold(s, rest string) {
	m.WriteString(`\fB` + roff(s) + `\fR` + roff(rest) + "\n")
}

// term is what the text after it explains.
func (m *manPage) term(s string) {
	m.line(".TP")
	m.bold(s, "")
}

// commands are those of a node, and theirs.
func (m *manPage) commands(of *kong.Node) {
	for _, n := range of.Children {
		if !n.Hidden {
			m.command(n)
			m.commands(n)
		}
	}
}

// command is a command with its arguments and flags.
func (m *manPage) command(n *kong.Node) {
	m.line(".SS", n.FullPath())
	m.text(n.Help)
	m.line(".PP")
	m.bold(n.FullPath(), strings.TrimPrefix(n.Summary(), n.Path()))
	for _, argument := range n.Positional {
		m.term(argument.Summary())
		m.text(argument.Help)
	}
	m.flags(n.Flags)
	if n.Detail != "" {
		m.line(".PP")
		m.text(n.Detail)
	}
}

// flags are a command's own.
func (m *manPage) flags(flags []*kong.Flag) {
	for _, flag := range flags {
		if flag.Hidden {
			continue
		}
		m.line(".TP")
		m.WriteString(flagNames(flag) + "\n")
		m.text(kong.DefaultHelpValueFormatter(flag.Value))
	}
}

// flagNames are a flag's names in bold, and what it takes in italics.
func flagNames(flag *kong.Flag) string {
	names := []string{"--" + flag.Name}
	if flag.Short != 0 {
		names = slices.Insert(names, 0, "-"+string(flag.Short))
	}
	for i, name := range names {
		names[i] = `\fB` + roff(name) + `\fR`
	}
	shown := strings.Join(names, ", ")
	if !flag.IsBool() {
		shown += `=\fI` + roff(flag.FormatPlaceHolder()) + `\fR`
	}
	return shown
}

// guarded is text at the beginning of a line, where a full stop would make it a request.
func guarded(s string) string {
	if strings.HasPrefix(s, ".") {
		return `\&` + roff(s)
	}
	return roff(s)
}

// roff escapes what is special anywhere in a line. Hyphens, quotes and the like stay those of a
// keyboard, so that commands can be copied from the page; letters beyond ASCII are named.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
