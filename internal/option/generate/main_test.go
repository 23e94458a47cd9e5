package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"unink"
	"unink/internal/option"
)

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", path))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestDescriptionsAreUpToDate(t *testing.T) {
	for path, with := range made {
		old := read(t, path)
		if text, err := with(old); err != nil || string(text) != string(old) {
			t.Errorf("%s is not up to date: run go generate ./internal/option (%v)", path, err)
		}
	}
}

// A row in the table is all that an option, or a value of one, takes to be described.
func TestANewOptionIsDescribed(t *testing.T) {
	all := option.All
	t.Cleanup(func() { option.All = all })
	option.All = append(slices.Clone(all), option.Option{
		Flag: "keep-stamps", Form: "keepStamps", Key: "keep_stamps", Script: "keepStamps",
		Help: "Leave stamps.",
	})
	option.All[0].Values = []string{"scan", "colour", "newspaper"}
	for path, wants := range map[string]map[string]int{
		"../apiref/openapi.json": {`"keepStamps": {`: 1, `"keep_stamps": {`: 4, `"newspaper"`: 5,
			`"Leave stamps."`: 5},
		"../webui/npm/unink.d.ts": {"/** Leave stamps. */\n  keepStamps?: boolean;": 1,
			"finish?: 'scan' | 'colour' | 'newspaper';": 1},
	} {
		text, err := made[path](read(t, path))
		if err != nil {
			t.Fatal(err)
		}
		for want, times := range wants {
			if n := strings.Count(string(text), want); n != times {
				t.Errorf("%s has %s %d times, want %d", path, want, n, times)
			}
		}
	}
}

// What is said of a report has all of it and nothing else.
func TestReportsAreDescribed(t *testing.T) {
	var fields []string
	for field := range reflect.TypeFor[unink.Report]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	slices.Sort(fields)

	_, declared, _ := strings.Cut(string(read(t, "../webui/npm/unink.d.ts")), "interface Report {")
	declared, _, _ = strings.Cut(declared, "\n}")
	var names []string
	for _, found := range regexp.MustCompile(`\n  (\w+)\??: `).FindAllStringSubmatch(declared, -1) {
		names = append(names, found[1])
	}
	if slices.Sort(names); !slices.Equal(names, fields) {
		t.Errorf("unink.d.ts has %v, a report %v", names, fields)
	}

	names = nil
	if _, err := edit(read(t, "../apiref/openapi.json"), func(report *object) error {
		for _, m := range *report {
			names = append(names, m.name)
		}
		return nil
	}, "components", "schemas", "Image", "properties", "data", "properties", "report",
		"properties"); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(names); !slices.Equal(names, fields) {
		t.Errorf("openapi.json has %v, a report %v", names, fields)
	}
}

// What is edited stays as it was but for the change.
func TestEditKeepsTheRest(t *testing.T) {
	const text = `{"b":"<&>\u0041","a":{"x":1,"y":[{}]}}`
	got, err := edit(json.RawMessage(text), func(o *object) error { return o.set("x", 2) }, "a")
	if want := strings.Replace(text, "1,", "2,", 1); err != nil || string(got) != want {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}
