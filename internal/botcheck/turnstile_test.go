package botcheck_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"unink/internal/botcheck"
)

func newTurnstile(t *testing.T, r botcheck.Replay, handle http.HandlerFunc) *botcheck.Turnstile {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	ts, err := botcheck.NewTurnstile(botcheck.TurnstileConfig{Secret: "the secret", URL: server.URL},
		r, newClock().now)
	if err != nil {
		t.Fatal(err)
	}
	return ts
}

func says(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

func TestTurnstileAsks(t *testing.T) {
	asked := make(chan string, 1)
	ts := newTurnstile(t, fresh{}, func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		asked <- r.Method + " " + r.Header.Get("Content-Type") + " " + r.PostForm.Encode() +
			r.URL.RawQuery
		says(200, `{"success":true,"error-codes":[],"hostname":"example.com"}`)(w, r)
	})
	expect(t, ts, "the token", nil, "")
	want := "POST application/x-www-form-urlencoded " +
		"remoteip=192.0.2.1&response=the+token&secret=the+secret"
	if got := <-asked; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestTurnstileVerdicts(t *testing.T) {
	elsewhere := httptest.NewServer(says(200, `{"success":true}`))
	defer elsewhere.Close()
	for name, test := range map[string]struct {
		handle http.HandlerFunc
		want   error
		says   string
	}{
		"passed":          {says(200, `{"success":true}`), nil, ""},
		"wrong":           {says(200, `{"success":false,"error-codes":["invalid-input-response"]}`), botcheck.ErrInvalid, "invalid-input-response"},
		"used":            {says(200, `{"success":false,"error-codes":["timeout-or-duplicate"]}`), botcheck.ErrInvalid, "timeout-or-duplicate"},
		"wrong, as 400":   {says(400, `{"success":false,"error-codes":["invalid-input-response"]}`), botcheck.ErrInvalid, ""},
		"wrong secret":    {says(200, `{"success":false,"error-codes":["invalid-input-secret"]}`), botcheck.ErrUnavailable, "invalid-input-secret"},
		"both wrong":      {says(200, `{"success":false,"error-codes":["invalid-input-response","internal-error"]}`), botcheck.ErrUnavailable, ""},
		"no verdict":      {says(200, `{}`), botcheck.ErrUnavailable, "without a verdict"},
		"contradiction":   {says(200, `{"success":true,"error-codes":["internal-error"]}`), botcheck.ErrUnavailable, ""},
		"failed":          {says(502, `{"success":true}`), botcheck.ErrUnavailable, "status 502"},
		"no JSON":         {says(200, `<html>`), botcheck.ErrUnavailable, "unreadable"},
		"endless":         {says(200, `{"success":true,"x":"`+strings.Repeat("x", 70<<10)+`"}`), botcheck.ErrUnavailable, "unreadable"},
		"somewhere else":  {http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect).ServeHTTP, botcheck.ErrUnavailable, "status 307"},
		"connection lost": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, botcheck.ErrUnavailable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			expect(t, newTurnstile(t, fresh{}, test.handle), "token", test.want, test.says)
		})
	}
}

func TestTurnstileOnce(t *testing.T) {
	eachReplay(t, func(t *testing.T, r botcheck.Replay, prune func(time.Time)) {
		ts := newTurnstile(t, r, says(200, `{"success":true}`))
		expect(t, ts, "token", nil, "")
		prune(newClock().t.Add(5*time.Minute + 59*time.Second))
		expect(t, ts, "token", botcheck.ErrInvalid, "used before")
		onceAmongMany(t, ts, "another")
	})
}

func TestTurnstileTokenStaysGoodWhileUnavailable(t *testing.T) {
	up := false
	eachReplay(t, func(t *testing.T, r botcheck.Replay, _ func(time.Time)) {
		up = false
		ts := newTurnstile(t, r, func(w http.ResponseWriter, r *http.Request) {
			if up {
				says(200, `{"success":true}`)(w, r)
				return
			}
			says(503, ``)(w, r)
		})
		expect(t, ts, "token", botcheck.ErrUnavailable, "status 503")
		up = true
		expect(t, ts, "token", nil, "")
	})
}

func TestTurnstileRefusesUnasked(t *testing.T) {
	ts := newTurnstile(t, fresh{}, func(http.ResponseWriter, *http.Request) { t.Error("was asked") })
	expect(t, ts, "", botcheck.ErrInvalid, "missing")
	expect(t, ts, strings.Repeat("x", 2049), botcheck.ErrInvalid, "longer than 2048")
	good := newTurnstile(t, broken{}, says(200, `{"success":true}`))
	expect(t, good, strings.Repeat("x", 2048), botcheck.ErrUnavailable, "database is away")
}

func TestTurnstileHearsTheCaller(t *testing.T) {
	began := make(chan struct{})
	ts := newTurnstile(t, fresh{}, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body) // only then does the server notice that the client went away
		close(began)
		<-r.Context().Done()
	})
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-began
		cancel()
	}()
	err := ts.Check(ctx, "token", "")
	if !errors.Is(err, botcheck.ErrUnavailable) || !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	if strings.Contains(err.Error(), "the secret") {
		t.Errorf("error shows the secret: %v", err)
	}
}

func TestTurnstileConfig(t *testing.T) {
	for want, c := range map[string]botcheck.TurnstileConfig{
		"secret key of Turnstile is missing": {URL: botcheck.SiteVerify},
		"must begin with https://":           {Secret: "s", URL: "challenges.cloudflare.com"},
	} {
		if _, err := botcheck.NewTurnstile(c, fresh{}, time.Now); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	if _, err := botcheck.NewTurnstile(botcheck.TurnstileConfig{Secret: "s", URL: botcheck.SiteVerify},
		fresh{}, time.Now); err != nil {
		t.Error(err)
	}
}
