package unink_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"unink"
)

// The program, the npm package and the changelog have one version.
func TestOneVersion(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("internal", "webui", "npm", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var npm struct{ Version string }
	if err := json.Unmarshal(data, &npm); err != nil || npm.Version != unink.Version() {
		t.Errorf("the npm package is %q, the program %q (%v)", npm.Version, unink.Version(), err)
	}
	changes, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, newest, _ := strings.Cut(string(changes), "\n## ")
	if !strings.HasPrefix(newest, unink.Version()) {
		t.Errorf("the newest changes are of %.20q, the program is %s", newest, unink.Version())
	}
}
