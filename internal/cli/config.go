package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strings"

	"github.com/alecthomas/kong"

	"unink/internal/misuse"
)

// settings are read from flags, else from the environment, else from a file, else they have
// their defaults.
type settings struct {
	path   string
	values map[string]any
	used   map[string]bool
}

// settingsVariable names the file of settings.
const settingsVariable = "UNINK_CONFIG"

// loadSettings reads the file that UNINK_CONFIG names: a JSON object whose keys are the names of
// flags, such as {"public-url": "https://example.com", "workers": 2}.
func loadSettings() (*settings, error) {
	s := &settings{path: os.Getenv(settingsVariable), used: map[string]bool{}}
	if s.path == "" {
		return s, nil
	}
	data, err := os.ReadFile(s.path)
	if err != nil {
		return nil, misuse.Errorf("%s: %v", settingsVariable, err)
	}
	if err := json.Unmarshal(data, &s.values); err != nil {
		return nil, misuse.Errorf("%s: %s is not a JSON object: %v", settingsVariable, s.path, err)
	}
	return s, nil
}

// Validate refuses names that no flag has: a misspelt setting must not be passed over.
func (s *settings) Validate(app *kong.Application) error {
	known := map[string]bool{}
	_ = kong.Visit(app, func(node kong.Visitable, next kong.Next) error {
		if flag, ok := node.(*kong.Flag); ok {
			known[flag.Name] = true
		}
		return next(nil)
	})
	for name := range s.values {
		if !known[name] {
			return misuse.Errorf("%s: there is no setting %q; unink config lists them", s.path, name)
		}
	}
	return nil
}

// Resolve gives kong a flag's value from the file. What the environment says goes first.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	value, there := s.values[flag.Name]
	if !there || fromEnvironment(flag) != "" {
		return nil, nil
	}
	return value, nil
}

// fromEnvironment names the variable that a flag has its value from.
func fromEnvironment(flag *kong.Flag) string {
	for _, name := range flag.Envs {
		if _, there := os.LookupEnv(name); there {
			return name
		}
	}
	return ""
}

type configCmd struct {
	serveCmd
}

// Validate takes every combination: showing it is how mistakes are found.
func (c *configCmd) Validate() error { return nil }

// Run prints the settings that serve would have, and where each comes from.
func (c *configCmd) Run(env *environment, trace *kong.Context, file *settings) error {
	given := map[string]bool{}
	for _, step := range trace.Path {
		if step.Flag != nil && !step.Resolved {
			given[step.Flag.Name] = true
		}
	}
	flags := trace.Selected().Flags
	sort.Slice(flags, func(i, j int) bool { return flags[i].Name < flags[j].Name })
	for _, flag := range flags {
		origin := "default"
		if _, there := file.values[flag.Name]; there {
			origin = file.path
		}
		if name := fromEnvironment(flag); name != "" {
			origin = name
		}
		if given[flag.Name] {
			origin = "--" + flag.Name
		}
		fmt.Fprintf(env.stdout, "%-24s %-32s %s\n", flag.Name, shown(flag), origin)
	}
	return nil
}

// shown is a value fit to be read by others: secrets are only said to be there.
func shown(flag *kong.Flag) string {
	value := fmt.Sprint(flag.Target.Interface())
	if flag.Target.Kind() == reflect.Slice && flag.Target.Len() == 0 {
		value = ""
	}
	if value != "" && isSecret(flag.Name) {
		return "(set)"
	}
	return value
}

func isSecret(name string) bool {
	switch name {
	case "dev-token", "turnstile-secret", "oidc-secret", "stripe-key", "stripe-webhook-secret", "smtp",
		"redis", "database", "fleet":
		return true
	}
	return strings.HasSuffix(name, "password")
}
