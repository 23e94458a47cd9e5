package accounts

import (
	"regexp"
	"strings"
)

// browsers and systems are told by what is in a User-Agent, the first that is there: later ones
// name themselves after earlier ones.
var (
	browsers = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"}, {"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"}, {"Chromium/", "Chromium"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
	product = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,39}`)
)

// agentName is what people know a browser or an app by: "Firefox · Linux", "curl"; empty when its
// User-Agent does not say. Versions are left out, which would tell people apart.
func agentName(userAgent string) string {
	named := func(list [][2]string) string {
		for _, one := range list {
			if strings.Contains(userAgent, one[0]) {
				return one[1]
			}
		}
		return ""
	}
	browser, system := named(browsers), named(systems)
	switch {
	case browser != "" && system != "":
		return browser + " · " + system
	case browser != "":
		return browser
	}
	if name := product.FindString(userAgent); name != "Mozilla" {
		return name
	}
	return system
}
