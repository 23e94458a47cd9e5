package cli

import (
	"bytes"
	"regexp"
	"testing"
)

// Mails and hints name the port that the service listens on, unless they are told otherwise.
func TestPublicURLFollowsListen(t *testing.T) {
	for _, c := range []struct {
		arguments []string
		want      string
	}{
		{nil, "http://localhost:8080"},
		{[]string{"--listen", ":9000"}, "http://localhost:9000"},
		{[]string{"--listen", "127.0.0.1:9000"}, "http://localhost:9000"},
		{[]string{"--listen", ":9000", "--public-url", "https://example.com"}, "https://example.com"},
	} {
		var out, mistakes bytes.Buffer
		env := &environment{ctx: t.Context(), stdout: &out, stderr: &mistakes}
		if code := run(env, append([]string{"config"}, c.arguments...)); code != exitDone {
			t.Fatalf("%v: %d %s", c.arguments, code, &mistakes)
		}
		line := regexp.MustCompile(`(?m)^public-url +(\S*)`).FindStringSubmatch(out.String())
		if line == nil || line[1] != c.want {
			t.Errorf("%v: %q, want %s", c.arguments, line, c.want)
		}
	}
}
