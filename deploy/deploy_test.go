// Package deploy holds no code: its tests read what the service is deployed with.
package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	yaml "github.com/oasdiff/yaml3"
)

// node is any YAML or JSON mapping.
type node = map[string]any

// at follows a path of keys; nil is nothing there.
func at(v any, path ...string) any {
	for _, key := range path {
		m, _ := v.(node)
		v = m[key]
	}
	return v
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// documents reads a file of YAML.
func documents(t *testing.T, name string) []node {
	t.Helper()
	var all []node
	for decoder := yaml.NewDecoder(bytes.NewReader(read(t, name))); ; {
		var d node
		err := decoder.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, d)
	}
}

func files(t *testing.T, ending string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ending) {
			names = append(names, path)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files %s (%v)", len(names), ending, err)
	}
	return names
}

func TestFilesAreWellFormed(t *testing.T) {
	for _, name := range files(t, ".yaml") {
		if len(documents(t, name)) == 0 {
			t.Errorf("%s is empty", name)
		}
	}
	for _, name := range files(t, ".json") {
		var v any
		if err := json.Unmarshal(read(t, name), &v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The image runs as nobody in particular, and its last stage has no shell and no compiler.
func TestImage(t *testing.T) {
	text := string(read(t, "Dockerfile"))
	stages := regexp.MustCompile(`(?m)^FROM (\S+)`).FindAllStringSubmatch(text, -1)
	last := text[strings.LastIndex(text, "\nFROM "):]
	user := regexp.MustCompile(`(?m)^USER (\d+):(\d+)$`).FindStringSubmatch(last)
	if len(stages) < 2 || !strings.HasPrefix(stages[len(stages)-1][1], "gcr.io/distroless/") ||
		!strings.HasSuffix(stages[len(stages)-1][1], ":nonroot") {
		t.Errorf("the stages are %v", stages)
	}
	if user == nil || user[1] == "0" || user[2] == "0" || strings.Contains(last, "\nRUN ") {
		t.Errorf("the last stage is %s", last)
	}
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(
		string(read(t, "../go.mod")),
	)
	if !strings.HasPrefix(stages[0][1], "golang:"+version[1]+"-") {
		t.Errorf("the image is built with %s, the module needs Go %s", stages[0][1], version[1])
	}
}

func TestCompose(t *testing.T) {
	compose := documents(t, "compose.yaml")[0]
	services := at(compose, "services").(node)
	for name, want := range map[string]struct {
		command  string
		replicas int
	}{"service": {"serve", 2}, "worker": {"worker", 3}} {
		s := services[name]
		if at(s, "deploy", "replicas") != want.replicas || len(list(at(s, "command"))) != 1 ||
			list(at(s, "command"))[0] != want.command {
			t.Errorf("%s: %v of %v", name, at(s, "deploy", "replicas"), at(s, "command"))
		}
		if at(s, "read_only") != true || at(s, "user") != "65532:65532" || at(s, "mem_limit") == nil {
			t.Errorf("%s may do more than it needs to", name)
		}
		environment := at(s, "environment").(node)
		if environment["UNINK_FLEET"] == nil {
			t.Errorf("%s has no fleet", name)
		}
		known(t, "compose.yaml", environment)
	}
	for _, name := range []string{"postgres", "redis", "nats"} {
		if services[name] == nil || at(services[name], "ports") != nil ||
			at(services[name], "healthcheck") == nil {
			t.Errorf("%s is missing, open to the outside, or not watched", name)
		}
	}
	example := string(read(t, "compose.env.example"))
	for _, variable := range regexp.MustCompile(`\$\{(\w+):\?\}`).FindAllStringSubmatch(
		string(read(t, "compose.yaml")), -1,
	) {
		if !strings.Contains(example, "\n"+variable[1]+"=") {
			t.Errorf("compose.env.example lacks %s", variable[1])
		}
	}
}

// ofTheTopology are the settings of a service that its deployment fixes: where what it deploys is.
var ofTheTopology = map[string][]string{
	"compose.yaml":     {"UNINK_WORKERS", "UNINK_TRUSTED_PROXIES", "UNINK_DATABASE", "UNINK_REDIS", "UNINK_FLEET", "UNINK_SECRET_FILE"},
	"compose.one.yaml": nil,
}

// Every setting that a service may have reaches it from .env, but for those that the topology
// fixes.
func TestSettingsReachTheService(t *testing.T) {
	for name, fixed := range ofTheTopology {
		service := at(documents(t, name)[0], "services", "service")
		from, _ := at(service, "env_file").([]any)
		if len(from) != 1 || at(from[0], "path") != ".env" || at(from[0], "required") != false {
			t.Errorf("%s: the service's settings are from %v", name, from)
		}
		for setting, value := range orNone(at(service, "environment")) {
			text, _ := value.(string)
			if passed := strings.HasPrefix(text, "${"+setting+":"); !passed &&
				!slices.Contains(fixed, setting) {
				t.Errorf("%s: %s is always %v", name, setting, value)
			}
		}
		if check, _ := at(service, "healthcheck", "test").([]any); len(check) != 3 ||
			check[1] != "/usr/local/bin/unink" || check[2] != "health" {
			t.Errorf("%s: health is checked by %v", name, check)
		}
	}
	var from []any
	for _, d := range documents(t, "kubernetes/service.yaml") {
		if d["kind"] == "Deployment" {
			from = list(at(list(at(d, "spec", "template", "spec", "containers"))[0], "envFrom"))
		}
	}
	if len(from) != 2 || at(from[0], "configMapRef", "name") != "unink" ||
		at(from[1], "secretRef", "name") != "unink-settings" ||
		at(from[1], "secretRef", "optional") != true {
		t.Errorf("kubernetes: settings are from %v", from)
	}
	for _, d := range documents(t, "kubernetes/secret.example.yaml") {
		if at(d, "metadata", "name") == "unink-settings" {
			known(t, "secret.example.yaml", at(d, "stringData").(node))
		}
	}
}

func orNone(v any) node {
	m, _ := v.(node)
	return m
}

// known wants every setting to be one that the program has.
func known(t *testing.T, where string, environment node) {
	t.Helper()
	names := settings(t)
	for name := range environment {
		if strings.HasPrefix(name, "UNINK_") && !slices.Contains(names, name) {
			t.Errorf("%s: the program has no setting %s", where, name)
		}
	}
}

// settings are the variables that the program's flags name.
func settings(t *testing.T) []string {
	t.Helper()
	return named(t, "../internal/cli", `env:"(UNINK_\w+)"`)
}

// named finds what the Go files of a folder name in some way.
func named(t *testing.T, folder, form string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no Go files in %s (%v)", folder, err)
	}
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, match := range regexp.MustCompile(form).FindAllSubmatch(read(t, name), -1) {
			found = append(found, string(match[1]))
		}
	}
	return found
}

func TestKubernetes(t *testing.T) {
	kustomization := documents(t, "kubernetes/kustomization.yaml")[0]
	deployments, scaled := map[string]node{}, ""
	for _, resource := range list(at(kustomization, "resources")) {
		for _, d := range documents(t, filepath.Join("kubernetes", resource.(string))) {
			name, _ := at(d, "metadata", "name").(string)
			switch d["kind"] {
			case "Deployment":
				deployments[name] = d
			case "HorizontalPodAutoscaler":
				scaled, _ = at(d, "spec", "scaleTargetRef", "name").(string)
				metric := at(list(at(d, "spec", "metrics"))[0], "external", "metric", "name")
				rule := list(at(documents(t, "observe/prometheus-adapter.yaml")[0], "rules", "external"))[0]
				if metric != at(rule, "name", "as") {
					t.Errorf("the autoscaler asks for %v, and the adapter gives %v", metric,
						at(rule, "name", "as"))
				}
			case "ConfigMap":
				known(t, "settings.yaml", at(d, "data").(node))
			}
		}
	}
	if scaled != "worker" || at(deployments["worker"], "spec", "replicas") != nil {
		t.Errorf("%q is scaled, and workers have a fixed number, too", scaled)
	}
	for _, name := range []string{"service", "worker", "nats"} {
		pod := at(deployments[name], "spec", "template", "spec")
		if at(pod, "securityContext", "runAsNonRoot") != true ||
			at(pod, "automountServiceAccountToken") != false {
			t.Errorf("%s runs as more than it needs to", name)
		}
		for _, c := range list(at(pod, "containers")) {
			if at(c, "securityContext", "readOnlyRootFilesystem") != true ||
				at(c, "securityContext", "allowPrivilegeEscalation") != false ||
				at(c, "resources", "limits", "memory") == nil {
				t.Errorf("%s may do more than it needs to", name)
			}
			environment := node{}
			for _, e := range list(at(c, "env")) {
				// those are the server's
				if name := at(e, "name").(string); !strings.HasPrefix(name, "UNINK_NATS_") {
					environment[name] = e
				}
			}
			known(t, name, environment)
		}
	}
}

// metricsElsewhere come from Go, the process and Prometheus itself.
var metricsElsewhere = []string{"up", "go_goroutines", "process_resident_memory_bytes"}

// Every metric that is drawn or watched is one that the program has.
func TestMetricsAreThere(t *testing.T) {
	var there []string
	for _, folder := range []string{"../internal/httpapi", "../internal/httpapi/cleaning",
		"../internal/fleet"} {
		there = append(there, named(t, folder, `"(unink_[a-z_]+)"`)...)
	}
	there = append(there, metricsElsewhere...)
	expressions := map[string]string{}
	for _, group := range list(at(documents(t, "observe/alerts.yaml")[0], "groups")) {
		for _, rule := range list(at(group, "rules")) {
			expressions[at(rule, "alert").(string)] = at(rule, "expr").(string)
			if at(rule, "labels", "severity") == nil || at(rule, "annotations", "summary") == nil {
				t.Errorf("%v says neither how bad it is nor what", at(rule, "alert"))
			}
		}
	}
	var board node
	if err := json.Unmarshal(read(t, "observe/dashboard.json"), &board); err != nil {
		t.Fatal(err)
	}
	ids := map[any]bool{}
	for _, p := range list(board["panels"]) {
		if ids[at(p, "id")] {
			t.Errorf("two panels have the id %v", at(p, "id"))
		}
		ids[at(p, "id")] = true
		for _, target := range list(at(p, "targets")) {
			expressions[at(p, "title").(string)+at(target, "refId").(string)] = at(target, "expr").(string)
		}
	}
	if len(expressions) < 20 {
		t.Errorf("only %d expressions were found", len(expressions))
	}
	name := regexp.MustCompile(`\b(?:unink|go|process)_[a-z_]+|^up\b`)
	drawn := map[string]bool{}
	for where, expression := range expressions {
		if strings.Count(expression, "(") != strings.Count(expression, ")") {
			t.Errorf("%s: the brackets of %s do not match", where, expression)
		}
		for _, metric := range name.FindAllString(expression, -1) {
			base := metric
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				base = strings.TrimSuffix(base, suffix)
			}
			drawn[base] = true
			if !slices.Contains(there, base) {
				t.Errorf("%s: the program has no metric %s", where, metric)
			}
		}
	}
	for _, metric := range there {
		if !drawn[metric] {
			t.Errorf("%s is neither drawn nor watched", metric)
		}
	}
	// Each alert is explained.
	guide := string(read(t, "../docs/run.md"))
	for where := range expressions {
		if strings.HasPrefix(where, "Unink") && !strings.Contains(guide, "`"+where+"`") {
			t.Errorf("docs/run.md does not explain the alert %s", where)
		}
	}
}

// The NATS server takes its settings; internal/fleet tests that they are enough.
func TestNATSSettings(t *testing.T) {
	t.Setenv("UNINK_NATS_SERVICE_PASSWORD", "one")
	t.Setenv("UNINK_NATS_WORKER_PASSWORD", "two")
	options, err := server.ProcessConfigFile("kubernetes/nats.conf")
	if err != nil {
		t.Fatal(err)
	}
	if len(options.Users) != 2 || options.JetStream || options.Users[0].Password != "one" {
		t.Errorf("%d users, JetStream %t", len(options.Users), options.JetStream)
	}
}
