package contract

import (
	"bytes"
	"context"
	"encoding/json"
	flags "flag"
	"image"
	"image/draw"
	_ "image/jpeg" // as which photos come
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"unink/internal/browsertest"
)

var shots = flags.String("shots", "", "folder that TestPageLooks leaves pictures of the pages in")

// flow is something that somebody does with the pages, beginning at the front page in a window of
// its own.
type flow func(t *testing.T, s *service, p *browsertest.Page)

// pageFlows are the flows by the flags of the service that they need; a service is used by all its
// flows at once.
var pageFlows = []struct {
	name  string
	flags []string
	flows map[string]flow
}{
	{"open-handed", slices.Concat(openHanded, sellingFlags), map[string]flow{
		"slider": compares, "before and after alike": comparesAlike, "queue": queues,
		"refused at once": isRefusedAtOnce, "made smaller": makesSmaller,
		"drop and paste": dropsAndPastes,
		"narrow":         isNarrow, "options": choosesOptions, "odd PDFs": sendsOddPDFs,
		"picks pages": picksPages, "tint": tintsTheRemoved, "time left": tellsTimeLeft,
		"blank pages": keepsBlankPages, "marked": takesMarksOff, "document": keepsDocument,
		"text":       putsTextInPlace,
		"resolution": keepsResolution,
		"damaged":    isDamaged, "together": savesTogether,
		"again": cleansAgain, "hands on": handsOn, "order": keepsTheOrder, "formats": savesInFormats,
		"zoom": zooms, "copy and print": copiesAndPrints, "nothing found": findsNothing, "touch-up": touchesUp,
		"whole strokes": takesWholeStrokes,
		"sample":        triesTheSample,
		"words erased":  erasesWords,
		"touch-up left": touchesUpAndLeaves, "two tabs": hasTwoTabs, "shared": shares,
		"light weight":       isLight,
		"life of an account": livesWithAnAccount, "sessions": endsSessions,
		"deleting": deletesTheAccount, "nothing left behind": leavesNothingBehind,
		"wrong in forms": fillsInWrongly,
		"links of mails": followsOldLinks, "leads back": isLedBack, "many uses": looksBack,
		"pricing": buys, "language": choosesLanguage,
		"developer": develops, "no developer": developsNothing, "console": triesTheConsole,
		"console PDF": triesPDFInTheConsole, "console elsewhere": looksForTheConsole,
		"documentation": readsTheDocumentation, "quickstart": startsQuickly, "free calls": beginsForFree, "operator": operates,
		"acts of an operator":   actsAsOperator,
		"every page in English": seesEveryPage("en"), "every page in Chinese": seesEveryPage("zh-CN"),
	}},
	{"sparing", []string{"--per-minute", "4", "--guest-credits", "2", "--contact",
		"sales@example.com"}, map[string]flow{
		"guest": guestCleans, "guest's PDF": guestSendsPDF, "PDF beyond credits": sendsPDFBeyondCredits,
		"every state": seesEveryState, "nothing sold": buysNothing,
	}},
	{"limited", []string{"--per-minute", strconv.Itoa(minuteOfLimited), "--per-hour", "1000"},
		map[string]flow{"30 pages": sendsManyPages}},
	{"killed", nil, map[string]flow{"killed": killedMeanwhile}},
	{"away", openHanded, map[string]flow{"away": findsItGone}},
	{"device", onDevice, map[string]flow{
		"guest on the device": cleansOnTheDevice, "many on the device": cleansManyOnTheDevice,
		"all without a network": doesAllWithoutNetwork,
		"same on the device":    isTheSameOnTheDevice, "alike on the device": comparesAlike,
		"stopped on the device": stopsOnTheDevice, "failing on the device": failsOnTheDevice,
		"a network missing": lacksANetworkOnTheDevice,
	}},
	{"only", []string{"--browser", "only"}, map[string]flow{"only the device": hasOnlyTheDevice}},
	{"cut", openHanded, map[string]flow{"reload": reloads, "cut": isCutOff}},
}

// minuteOfLimited is how many pages of a caller the service "limited" cleans in a minute.
const minuteOfLimited = 25

// openHanded are flags of a service that has enough for all flows.
var openHanded = []string{
	"--per-minute", "1000", "--per-hour", "10000", "--guest-credits", "1000", "--guest-address",
	"1000", "--pdf-guest-credits", "1000", "--pdf-guest-address", "1000", "--test-credits", "10",
}

// TestPages uses the web pages in Chromium, with the embedded default: SQLite, the built-in bot
// check, the engine, mails as files.
func TestPages(t *testing.T) {
	t.Parallel()
	chromium := browsertest.Start(t)
	for _, group := range pageFlows {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			s := prepare(t, "sqlite:"+filepath.Join(t.TempDir(), "unink.db"), group.flags...)
			if slices.Contains(group.flags, "--stripe-key") {
				s.payments = s.standInForStripe(t)
			}
			s.start(t)
			t.Cleanup(func() {
				if s.process.ProcessState == nil { // no flow has ended it
					s.stop(t)
				}
				s.audit(t)
			})
			for name, flow := range group.flows {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					flow(t, s, s.window(t, chromium))
				})
			}
		})
	}
}

// origin is how the pages know themselves.
func (s *service) origin() string { return "http://localhost:" + s.port }

// window opens the front page for somebody at a new address.
func (s *service) window(t *testing.T, chromium context.Context) *browsertest.Page {
	t.Helper()
	p := browsertest.Open(t, chromium, s.origin()+"/healthz")
	arrive(p, "/")
	return p
}

// arrive comes to the front page, which is at a path, from a new address.
func arrive(p *browsertest.Page, path string) {
	p.From(newAddress())
	p.GoTo(path)
	p.FrontReady()
}

// logIn logs somebody in, who comes to the front page.
func logIn(p *browsertest.Page, u user) {
	p.LogIn(u.email, password)
	p.FrontReady()
}

// enter logs somebody in and goes to a page.
func enter(p *browsertest.Page, u user, path string) {
	p.LogIn(u.email, password)
	p.GoTo(path)
}

// used waits until a user's uses and refusals are written down, which is some time after their
// answers.
func (s *service) used(t *testing.T, u user, uses int) {
	t.Helper()
	poll(t, "uses", func() bool {
		a := s.send(t, request{method: http.MethodGet, path: "/api/me", header: u.bearer()})
		var me struct {
			Uses     []any
			Refusals []struct{ Requests int }
		}
		if err := json.Unmarshal(a.body, &me); err != nil {
			t.Fatalf("%v: %s", err, a.body)
		}
		known := len(me.Uses)
		for _, r := range me.Refusals {
			known += r.Requests
		}
		return known >= uses
	})
}

// poll waits for a condition outside the pages.
func poll(t *testing.T, what string, met func() bool) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for late := time.Now().Add(patience); !met(); <-tick.C {
		if time.Now().After(late) {
			t.Fatalf("%s: not in time", what)
		}
	}
}

// logInAgain is a new session of a user.
func (s *service) logInAgain(t *testing.T, u user) user {
	t.Helper()
	a := s.post(t, "/api/log-in", map[string]string{"email": u.email, "password": password})
	a.is(t, http.StatusOK, "")
	u.session, _ = a.object(t)["session"].(string)
	return u
}

// loggedIn reports whether a session is good.
func (s *service) loggedIn(t *testing.T, u user) bool {
	t.Helper()
	return s.send(t, request{method: http.MethodGet, path: "/api/me",
		header: u.bearer()}).status == http.StatusOK
}

// payment is what the service asked of Stripe last.
func (s *service) payment(t *testing.T) url.Values {
	t.Helper()
	select {
	case form := <-s.payments:
		return form
	case <-time.After(patience):
		t.Fatal("nothing was asked of Stripe")
		return nil
	}
}

// pickAll picks a PDF of several pages, and has all of them cleaned.
func pickAll(p *browsertest.Page, path string) {
	p.Pick(path)
	p.UntilLong(`states().endsWith('choosing')`)
	p.Pressed("[data-state=choosing] .choose .button")
}

// picture is a page of a size, with something printed on it.
func picture(width, height int) []byte { return encoded(drawn(width, height, true)) }

// spacious is a large page with a line of print, which takes its time.
func spacious(width, height int) []byte {
	m := drawn(width, height, false).(draw.Image)
	draw.Draw(m, image.Rect(0, 0, width, 60), drawn(width, 60, true), image.Point{}, draw.Src)
	return encoded(m)
}

// decoded is a picture and its size.
func decoded(t *testing.T, data []byte) (image.Image, image.Point) {
	t.Helper()
	m, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Bounds().Size()
}

// asksFor lists the addresses that a page has asked for and that hold a text.
func asksFor(p *browsertest.Page, text string) []string {
	return slices.DeleteFunc(p.Asked(), func(address string) bool {
		return !strings.Contains(address, text)
	})
}
