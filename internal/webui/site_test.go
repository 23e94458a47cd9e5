package webui

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"html"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func site(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := Site()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// What the pages name is in the folder, by relative addresses, and nothing is of another site.
func TestSiteIsWhole(t *testing.T) {
	files := site(t)
	named := regexp.MustCompile(`(?:src|href|start_url)"?[=:]"([^"]*)"`)
	for name, file := range files {
		if ext := path.Ext(name); ext != ".html" && ext != ".webmanifest" {
			continue
		}
		for _, found := range named.FindAllStringSubmatch(string(file), -1) {
			address, relative := strings.CutPrefix(found[1], "./")
			if address == "" {
				address = "index.html"
			}
			if (!relative || files[address] == nil) && found[1] != "#main" {
				t.Errorf("%s has %q", name, found[1])
			}
		}
	}
	for _, name := range []string{"sw.js", "index.html", "zh-CN.html", "zh-CN.webmanifest"} {
		if len(files[name]) == 0 {
			t.Errorf("there is no %s among %v", name, slices.Sorted(maps.Keys(files)))
		}
	}
	for name := range files {
		if regexp.MustCompile(`account-|operator-|\.mjs$|\.gz$`).MatchString(name) {
			t.Errorf("there is a file %s", name)
		}
	}
}

// The pages refuse other scripts and styles than those that they were written with.
func TestSiteIsStrict(t *testing.T) {
	files := site(t)
	page := string(files["index.html"])
	for _, tag := range regexp.MustCompile(
		`<(?:script|link)[^>]*\.(?:js|css)"[^>]*>`,
	).FindAllString(page, -1) {
		file := regexp.MustCompile(`"\./([^"]*\.(?:js|css))"`).FindStringSubmatch(tag)[1]
		hash := regexp.MustCompile(`integrity="([^"]*)"`).FindStringSubmatch(tag)
		if hash == nil || hash[1] != hashOf(files[file]) {
			t.Errorf("%s: %v", tag, hash)
		}
	}

	found := regexp.MustCompile(`<script type="importmap">(.*?)</script>`).FindStringSubmatch(page)
	var imports struct{ Integrity map[string]string }
	if err := json.Unmarshal([]byte(found[1]), &imports); err != nil {
		t.Fatal(err)
	}
	for name := range files {
		isScript := path.Dir(name) == "assets" && path.Ext(name) == ".js" && !isWorker(name)
		if isScript && imports.Integrity["./"+name] != hashOf(files[name]) {
			t.Errorf("%s is imported without its hash", name)
		}
	}

	sum := sha256.Sum256([]byte(found[1]))
	allowed := "script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"
	policy := regexp.MustCompile(
		`http-equiv="Content-Security-Policy" content="([^"]*)"`,
	).FindStringSubmatch(page)
	told := html.UnescapeString(policy[1])
	if !strings.HasPrefix(told, "default-src 'none'; "+allowed) || strings.Contains(told, "unsafe") ||
		!strings.Contains(told, "connect-src 'self'") {
		t.Errorf("policy %q, import map's hash %q", told, allowed)
	}
}

// hashOf is what a page says of a file with a content.
func hashOf(content []byte) string {
	sum := sha512.Sum384(content)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}
