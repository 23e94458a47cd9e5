package botcheck_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"unink/internal/botcheck"
)

var testKey = []byte("a key of the tests, 32 bytes long")

func newALTCHA(t testing.TB, r botcheck.Replay, c *clock) *botcheck.ALTCHA {
	t.Helper()
	a, err := botcheck.NewALTCHA(botcheck.ALTCHAConfig{Key: testKey, Cost: 1}, r, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func solved(t testing.TB, a *botcheck.ALTCHA) string {
	t.Helper()
	c, err := a.Challenge()
	if err != nil {
		t.Fatal(err)
	}
	token, err := botcheck.Solve(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// changed is a token with some text of its JSON replaced.
func changed(t testing.TB, token, from, to string) string {
	t.Helper()
	text, err := base64.StdEncoding.DecodeString(token)
	if err != nil || !strings.Contains(string(text), from) {
		t.Fatalf("%s has no %s: %v", text, from, err)
	}
	return base64.StdEncoding.EncodeToString([]byte(strings.Replace(string(text), from, to, 1)))
}

func TestALTCHAOnce(t *testing.T) {
	eachReplay(t, func(t *testing.T, r botcheck.Replay, prune func(time.Time)) {
		c := newClock()
		a := newALTCHA(t, r, c)
		token := solved(t, a)
		expect(t, a, token, nil, "")
		expect(t, a, token, botcheck.ErrInvalid, "used before")
		expect(t, a, changed(t, token, `"counter":`, `"time":1,"counter":`), botcheck.ErrInvalid,
			"used before")

		// As long as a token is not expired, by a clock that is a little late too, it is remembered.
		prune(c.t.Add(10*time.Minute + 59*time.Second))
		expect(t, a, token, botcheck.ErrInvalid, "used before")
		onceAmongMany(t, a, solved(t, a))
	})
}

func TestALTCHAExpires(t *testing.T) {
	c := newClock()
	a := newALTCHA(t, fresh{}, c)
	token := solved(t, a)
	c.t = c.t.Add(10*time.Minute - time.Second)
	expect(t, a, token, nil, "")
	c.t = c.t.Add(time.Second)
	expect(t, a, token, botcheck.ErrInvalid, "expired")
}

func TestALTCHARefuses(t *testing.T) {
	c := newClock()
	a := newALTCHA(t, fresh{}, c)
	token := solved(t, a)
	foreign, err := botcheck.NewALTCHA(
		botcheck.ALTCHAConfig{Key: []byte(strings.Repeat("k", 32)), Cost: 1}, fresh{}, c.now,
	)
	if err != nil {
		t.Fatal(err)
	}
	other, err := a.Challenge()
	if err != nil {
		t.Fatal(err)
	}
	prefix := other.Parameters.KeyPrefix
	for name, test := range map[string]struct{ token, says string }{
		"none":              {"", "missing"},
		"long":              {strings.Repeat("A", 8<<10+1), "longer than 8192"},
		"longest":           {strings.Repeat("A", 8<<10), "not a solved challenge"},
		"no base64":         {"%%%", "not base64"},
		"no JSON":           {base64.StdEncoding.EncodeToString([]byte("hello")), "not a solved challenge"},
		"trailing data":     {changed(t, token, `{"challenge"`, `{}{"challenge"`), "not a solved challenge"},
		"empty":             {base64.StdEncoding.EncodeToString([]byte("{}")), "not from this service"},
		"test mode":         {base64.StdEncoding.EncodeToString([]byte(`{"challenge":null,"solution":null,"test":true}`)), "not from this service"},
		"later expiry":      {changed(t, token, `"expiresAt":18`, `"expiresAt":19`), "not from this service"},
		"cheaper":           {changed(t, token, `"cost":1`, `"cost":0`), "not from this service"},
		"wrong solution":    {changed(t, token, `"derivedKey":"`, `"derivedKey":"00`), "solution is wrong"},
		"solution no hex":   {changed(t, token, `"derivedKey":"`, `"derivedKey":"x`), "solution is wrong"},
		"no solution":       {changed(t, token, `"solution":`, `"other":`), "solution is wrong"},
		"only the prefix":   {onlyPrefix(t, other, prefix), "solution is wrong"},
		"by another secret": {solved(t, foreign), "not from this service"},
	} {
		t.Run(name, func(t *testing.T) { expect(t, a, test.token, botcheck.ErrInvalid, test.says) })
	}
	expect(t, newALTCHA(t, broken{}, c), token, botcheck.ErrUnavailable, "database is away")
}

// onlyPrefix answers a challenge with the part of the key that it shows.
func onlyPrefix(t *testing.T, c botcheck.Challenge, prefix string) string {
	text, err := json.Marshal(
		map[string]any{"challenge": c, "solution": map[string]any{"counter": 3000, "derivedKey": prefix}},
	)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(text)
}

// widgetToken is a solved challenge. The challenge is from this package at the cost of 10, its
// solution from the worker of the npm package altcha 3.2.2.
func widgetToken(t testing.TB) string {
	t.Helper()
	token, err := os.ReadFile(filepath.Join("testdata", "widget-3.2.2.token"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(token))
}

func TestALTCHAWidget(t *testing.T) {
	expect(t, newALTCHA(t, fresh{}, newClock()), widgetToken(t), nil, "")
}

func TestChallengeIsWhatTheWidgetReads(t *testing.T) {
	a := newALTCHA(t, fresh{}, newClock())
	c, err := a.Challenge()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Parameters map[string]any
		Signature  string
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"algorithm": "PBKDF2/SHA-256", "cost": 1.0, "keyLength": 32.0, "expiresAt": 1_800_000_600.0,
	} {
		if got.Parameters[name] != want {
			t.Errorf("%s is %v, want %v", name, got.Parameters[name], want)
		}
	}
	for name, digits := range map[string]int{"nonce": 32, "salt": 32, "keyPrefix": 32,
		"keySignature": 64} {
		if value, ok := got.Parameters[name].(string); !ok || len(value) != digits {
			t.Errorf("%s is %v, want %d digits", name, got.Parameters[name], digits)
		}
	}
	if len(got.Signature) != 64 {
		t.Errorf("signature is %q", got.Signature)
	}
}

func TestSolveStops(t *testing.T) {
	a := newALTCHA(t, fresh{}, newClock())
	c, err := a.Challenge()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := botcheck.Solve(ctx, c); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v", err)
	}
	for name, spoil := range map[string]func(*botcheck.Parameters){
		"algorithm": func(p *botcheck.Parameters) { p.Algorithm = "SCRYPT" },
		"nonce":     func(p *botcheck.Parameters) { p.Nonce = "x" },
		"prefix":    func(p *botcheck.Parameters) { p.KeyPrefix = "x" },
	} {
		c := c
		spoil(&c.Parameters)
		if _, err := botcheck.Solve(context.Background(), c); err == nil ||
			!strings.Contains(err.Error(), "challenge:") {
			t.Errorf("%s: error is %v", name, err)
		}
	}
}

func TestALTCHAConfig(t *testing.T) {
	for want, c := range map[string]botcheck.ALTCHAConfig{
		"at least 32 bytes, not 31": {Key: make([]byte, 31), Cost: botcheck.DefaultCost},
		"from 1 to 1000000, not 0":  {Key: make([]byte, 32)},
	} {
		if _, err := botcheck.NewALTCHA(c, fresh{}, time.Now); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
}

// Whatever a token says, it is refused as invalid unless it has the solution in it.
func FuzzALTCHAToken(f *testing.F) {
	a := newALTCHA(f, fresh{}, newClock())
	text, err := base64.StdEncoding.DecodeString(widgetToken(f))
	if err != nil {
		f.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), `"derivedKey":"`)
	key := rest[:64]
	f.Add(string(text))
	f.Add(strings.Replace(string(text), `"counter":`, `"counter":-`, 1))
	f.Add(strings.Replace(string(text), `"expiresAt":`, `"expiresAt":1e300,"x":`, 1))
	f.Add(`{"challenge":{"parameters":{}},"solution":{}}`)
	f.Add(strings.Repeat("[", 6000))
	f.Fuzz(func(t *testing.T, text string) {
		for _, token := range []string{text, base64.StdEncoding.EncodeToString([]byte(text))} {
			err := a.Check(context.Background(), token, "")
			if err == nil && !strings.Contains(strings.ToLower(text), key) {
				t.Error("passed without the solution")
			}
			if err != nil && !errors.Is(err, botcheck.ErrInvalid) {
				t.Errorf("error is %v", err)
			}
		}
	})
}
