package webui

import (
	"encoding/json"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// addresses are the cases that server and pages have in common.
func addresses(t testing.TB) (cases struct{ Local, Elsewhere []string }) {
	t.Helper()
	text, err := os.ReadFile("testdata/local.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	if err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestLocal(t *testing.T) {
	cases := addresses(t)
	for _, address := range cases.Local {
		if !Local(address) {
			t.Errorf("%q is taken for another site's", address)
		}
	}
	for _, address := range cases.Elsewhere {
		if Local(address) {
			t.Errorf("%q is taken for this site's", address)
		}
	}
}

// FuzzLocal resolves whatever is taken for local, twice, as a page does that hands on what it has
// resolved: it stays on the site.
func FuzzLocal(f *testing.F) {
	cases := addresses(f)
	for _, address := range slices.Concat(cases.Local, cases.Elsewhere) {
		f.Add(address)
	}
	site := &url.URL{Scheme: "https", Host: "site.example", Path: "/log-in"}
	f.Fuzz(func(t *testing.T, address string) {
		if !Local(address) {
			return
		}
		for range 2 {
			to, err := site.Parse(address)
			if err != nil {
				return // only an escape of its query can be wrong
			}
			if to.Scheme != site.Scheme || to.Host != site.Host || to.User != nil {
				t.Fatalf("%q leads to %s", address, to)
			}
			address = to.RequestURI()
		}
		if strings.ContainsAny(address, "\\\t\r\n") || strings.HasPrefix(address, "//") {
			t.Errorf("it became %q", address)
		}
	})
}

// judge is a program that says of each address whether pages take it for local, and where a
// browser would go in two steps: Node resolves as browsers do.
const judge = `import { local } from './src/local.ts';
import { readFileSync } from 'node:fs';
const site = 'https://site.example';
const leaves = (address) => {
  const once = new URL(address, site);
  const twice = new URL(once.pathname + once.search, site);
  return once.origin !== site || twice.origin !== site;
};
const judged = JSON.parse(readFileSync(0, 'utf8')).map((address) => {
  const ours = local(address);
  return { ours, leaves: ours && leaves(address) };
});
process.stdout.write(JSON.stringify(judged));`

// TestPagesAgreeOnWhatIsLocal asks the pages' function about the cases, and about many addresses
// made of what is dangerous in one.
func TestPagesAgreeOnWhatIsLocal(t *testing.T) {
	cases := addresses(t)
	all := slices.Concat(cases.Local, cases.Elsewhere)
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []string{"/", "/", ".", "..", "a", "-", `\`, "%2e", "%2f", "%5c", "\t", "\n", " ", "?", "#",
		"@", ":", "evil.example", "&", "=", "é", "\u2028", "\x00"}
	for range 20_000 {
		address := "/"
		for range rng.IntN(7) {
			address += parts[rng.IntN(len(parts))]
		}
		all = append(all, address)
	}
	for i, judged := range judgedByPages(t, all) {
		if judged.Ours != Local(all[i]) {
			t.Errorf("%q is local for pages: %v, for the server: %v", all[i], judged.Ours, !judged.Ours)
		}
		if judged.Leaves {
			t.Errorf("%q leads off the site", all[i])
		}
	}
}

func judgedByPages(t *testing.T, all []string) (judged []struct{ Ours, Leaves bool }) {
	t.Helper()
	built := api.Build(api.BuildOptions{
		Stdin:  &api.StdinOptions{Contents: judge, ResolveDir: ".", Loader: api.LoaderJS},
		Bundle: true, Format: api.FormatESModule, Platform: api.PlatformNode, TsconfigRaw: `{}`,
	})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	script := filepath.Join(t.TempDir(), "judge.mjs")
	if err := os.WriteFile(script, built.OutputFiles[0].Contents, 0o600); err != nil {
		t.Fatal(err)
	}
	asked, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	node := exec.CommandContext(t.Context(), "node", script)
	node.Stdin, node.Stderr = strings.NewReader(string(asked)), os.Stderr
	answer, err := node.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, &judged); err != nil || len(judged) != len(all) {
		t.Fatalf("%d of %d addresses are judged, %v", len(judged), len(all), err)
	}
	return judged
}
