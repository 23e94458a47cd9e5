package cli

import (
	"bytes"
	"encoding/json"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong with a deployment's settings is said before a service is started with them.
func TestDoctorExaminesTheService(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	there := listener.Addr().String()
	doctor := func(arguments ...string) (int, diagnosis) {
		t.Helper()
		var out bytes.Buffer
		env := &environment{ctx: t.Context(), stdout: &out, stderr: &bytes.Buffer{}, open: openDrawing}
		code := run(env, append([]string{"doctor", "--json", "--data", t.TempDir()}, arguments...))
		var d diagnosis
		if err := json.Unmarshal(out.Bytes(), &d); err != nil {
			t.Fatalf("%v: %s", err, out.Bytes())
		}
		return code, d
	}
	if code, d := doctor("--service", "--redis", "redis://"+there, "--smtp",
		"smtp://user:swordfish@"+there); code != exitDone || !d.OK ||
		!strings.Contains(strings.Join(d.Advice, "\n"), "--mail-from") ||
		strings.Contains(strings.Join(d.Advice, "\n"), "give --smtp") {
		t.Errorf("exit code %d, %+v", code, d)
	}
	_ = listener.Close()
	for want, arguments := range map[string][]string{
		"--redis: ":         {"--redis", "redis://:swordfish@" + there},
		"--fleet is not":    {"--fleet", "nats"},
		"--fleet: dial":     {"--fleet", "nats://" + there + ",nats://user:swordfish@" + there},
		"belong together":   {"--turnstile-key", "key"},
		"begins with https": {"--tls"},
		"no such file":      {"--secret", filepath.Join(t.TempDir(), "none")},
		"needs --secret":    {"--database", "postgres://" + there + "/unink"},
	} {
		code, d := doctor(append(arguments, "--service")...)
		if all := strings.Join(d.Problems, "\n"); code != exitFailed || d.OK ||
			!strings.Contains(all, want) || strings.Contains(all, "swordfish") {
			t.Errorf("%q: exit code %d, %+v", arguments, code, d)
		}
		if code, d := doctor(arguments...); code != exitDone || len(d.Problems) > 0 {
			t.Errorf("%q, which were not to be examined: exit code %d, %+v", arguments, code, d)
		}
	}
}
