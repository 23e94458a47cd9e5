package accounts

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAgentName(t *testing.T) {
	for userAgent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0": "Firefox · Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
			"Chrome/138.0.0.0 Safari/537.36 Edg/138.0.0.0": "Edge · Windows",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 " +
			"Mobile Safari/537.36": "Chrome · Android",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like " +
			"Gecko) Version/18.5 Mobile/15E148 Safari/604.1": "Safari · iOS",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like " +
			"Gecko) CriOS/138.0.7204.119 Mobile/15E148 Safari/604.1": "Chrome · iOS",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) " +
			"Version/18.5 Safari/605.1.15": "Safari · macOS",
		"curl/8.14.1":            "curl",
		"Pages-App/3.1 (Darwin)": "Pages-App",
		"Mozilla/5.0 (Windows)":  "Windows",
		"":                       "",
		"\x00<script>":           "",
	} {
		if got := agentName(userAgent); got != want {
			t.Errorf("%s: %q, want %q", userAgent, got, want)
		}
	}
}

// FuzzAgentName reads any User-Agent: what is shown of it is short and plain.
func FuzzAgentName(f *testing.F) {
	f.Add("Mozilla/5.0 (X11; Linux) Firefox/150")
	f.Add("\xff\xfe")
	f.Add("curl/8")
	f.Fuzz(func(t *testing.T, agent string) {
		if name := agentName(agent); utf8.ValidString(agent) &&
			(!utf8.ValidString(name) || len(name) > 80 || strings.ContainsAny(name, "\r\n<>\"&")) {
			t.Errorf("agent %q", name)
		}
	})
}
