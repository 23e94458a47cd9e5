package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/kong"

	"unink/internal/misuse"
)

// settings are read from flags, else from the preset that was asked for, else from the environment,
// else from a file, else they have their defaults.
type settings struct {
	path    string
	values  map[string]any
	presets map[string]map[string]any // flags of clean, under the preset's name
	preset  map[string]any            // the one that was asked for
}

// settingsVariable names the file of settings.
const settingsVariable = "UNINK_CONFIG"

// presetsKey is the section of the file that has the presets, and presetFlag asks for one.
const (
	presetsKey = "presets"
	presetFlag = "preset"
)

// loadSettings reads the file that UNINK_CONFIG names: a JSON object whose keys are the names of
// flags, such as {"public-url": "https://example.com", "workers": 2}. Its presets are objects of
// the same kind by name.
func loadSettings() (*settings, error) {
	s := &settings{path: os.Getenv(settingsVariable)}
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
	if section, there := s.values[presetsKey]; there {
		delete(s.values, presetsKey)
		if s.presets, err = presetsOf(section); err != nil {
			return nil, misuse.Errorf("%s: %v", s.path, err)
		}
	}
	return s, nil
}

// presetsOf reads the section of presets.
func presetsOf(section any) (map[string]map[string]any, error) {
	byName, ok := section.(map[string]any)
	if !ok {
		return nil, fmt.Errorf(`%q must be an object, such as {"school": {"finish": "scan"}}`,
			presetsKey)
	}
	presets := map[string]map[string]any{}
	for name, flags := range byName {
		if presets[name], ok = flags.(map[string]any); !ok {
			return nil, fmt.Errorf(`preset %q must be an object of flags, such as {"finish": "scan"}`, name)
		}
	}
	return presets, nil
}

// Validate refuses names that no flag has, or in a preset none of clean: a misspelt setting must
// not be passed over.
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
	return s.checkPresets(app)
}

// checkPresets refuses what is no flag of clean, or asks for a preset within one.
func (s *settings) checkPresets(app *kong.Application) error {
	known := map[string]bool{}
	for _, command := range app.Children {
		if command.Name != "clean" {
			continue
		}
		for _, flag := range command.Flags {
			known[flag.Name] = flag.Name != presetFlag
		}
	}
	for _, preset := range s.presetNames() {
		for _, name := range slices.Sorted(maps.Keys(s.presets[preset])) {
			if !known[name] {
				return misuse.Errorf("%s: preset %q: there is no option %q; unink clean --help lists them",
					s.path, preset, name)
			}
		}
	}
	return nil
}

func (s *settings) presetNames() []string { return slices.Sorted(maps.Keys(s.presets)) }

// choose has flags that are not given take their values from the preset of a name.
func (s *settings) choose(name string) error {
	preset, there := s.presets[name]
	switch {
	case there:
		s.preset = preset
		return nil
	case len(s.presets) > 0:
		return misuse.Errorf("there is no preset %q; %s has: %s", name, s.path,
			strings.Join(s.presetNames(), ", "))
	}
	return misuse.Errorf(`there is no preset %q: presets stand in the file that %s names, such as `+
		`{"presets": {"school": {"finish": "scan", "remove": ["blue"]}}}`, name, settingsVariable)
}

// Resolve gives kong a flag's value from the preset or the file. What the environment says goes
// before the file, and the preset, which was asked for, before both.
func (s *settings) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if value, there := s.preset[flag.Name]; there {
		return value, nil
	}
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
