package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"unink/internal/option"
)

// completionCmd prints what a shell reads to complete commands and flags. The shell then asks
// completeCmd.
type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish. To use it: source <(unink completion bash)"`
}

var completions = map[string]string{
	"bash": "complete -o default -C 'unink complete' unink\n",
	"zsh": "autoload -U +X bashcompinit && bashcompinit\n" +
		"complete -o default -C 'unink complete' unink\n",
	"fish": "complete -c unink -a '(COMP_LINE=(commandline -cp) unink complete)'\n",
}

// Run prints it.
func (c *completionCmd) Run(env *environment) error {
	_, err := fmt.Fprint(env.stdout, completions[c.Shell])
	return err
}

type completeCmd struct {
	// bash says the command, the word and the one before; COMP_LINE has all
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints what the last word of COMP_LINE can become, one a line; of files the shell knows.
func (*completeCmd) Run(env *environment, k *kong.Context, file *settings) error {
	for _, word := range candidates(k.Model.Node, os.Getenv("COMP_LINE"), file.presetNames()) {
		if _, err := fmt.Fprintln(env.stdout, word); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the commands, flags or values of a flag or argument that the last word of a line
// begins.
func candidates(node *kong.Node, line string, presets []string) (found []string) {
	words := strings.Split(strings.ReplaceAll(line, "=", " "), " ") // as bash divides a line
	last := words[len(words)-1]
	words = words[:len(words)-1]
	for _, word := range words {
		for _, child := range node.Children {
			if child.Name == word {
				node = child
			}
		}
	}
	flags := slices.Concat(node.AllFlags(true)...)
	var before *kong.Flag // takes the last word as its value
	for _, flag := range flags {
		if len(words) > 0 && words[len(words)-1] == "--"+flag.Name && !flag.IsBool() {
			before = flag
		}
	}
	switch {
	case before != nil && before.Name == presetFlag:
		found = presets
	case before != nil && before.IsSlice():
		found = further(values(before), last)
	case before != nil:
		found = values(before)
	case strings.HasPrefix(last, "-"):
		for _, flag := range flags {
			found = append(found, "--"+flag.Name)
		}
	default:
		for _, child := range node.Children {
			if !child.Hidden {
				found = append(found, child.Name)
			}
		}
		for _, argument := range node.Positional {
			found = append(found, enumerated(argument)...)
		}
	}
	begun := found[:0]
	for _, word := range found {
		if strings.HasPrefix(word, last) {
			begun = append(begun, word)
		}
	}
	return begun
}

// values are what a flag can be given, where that is known.
func values(flag *kong.Flag) []string {
	options := option.By(func(one option.Option) string { return one.Flag })
	if one, known := options[flag.Name]; known {
		return one.Values
	}
	return enumerated(flag.Value)
}

func enumerated(v *kong.Value) []string {
	return slices.DeleteFunc(v.EnumSlice(), func(v string) bool { return v == "" })
}

// further are the values that can stand behind the last comma of a list, with what is before it.
func further(values []string, list string) (found []string) {
	before := list[:strings.LastIndexByte(list, ',')+1]
	for _, v := range values {
		if !slices.Contains(strings.Split(before, ","), v) {
			found = append(found, before+v)
		}
	}
	return found
}
