package httpapi

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"unink/internal/account"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// throttle is an account.Throttle.
type throttle func() (time.Duration, error)

func (t throttle) Allow(context.Context, string) (time.Duration, error) { return t() }

func (t throttle) Slow(context.Context, string) (time.Duration, error) { return t() }

func never() (time.Duration, error) { return 0, nil }

// withProvider is a server with accounts and an OpenID Connect provider, which knows everybody as
// somebody without an address.
func withProvider(t *testing.T, attempts throttle) *accountServer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	say := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(v); err != nil {
			t.Error(err)
		}
	}
	mux := http.NewServeMux()
	provider := httptest.NewServer(mux)
	t.Cleanup(provider.Close)
	mux.HandleFunc("GET /.well-known/openid-configuration",
		func(w http.ResponseWriter, _ *http.Request) {
			say(w, map[string]any{
				"issuer": provider.URL, "authorization_endpoint": provider.URL + "/authorize",
				"token_endpoint": provider.URL + "/token", "jwks_uri": provider.URL + "/keys",
				"id_token_signing_alg_values_supported": []string{"ES256"},
			})
		})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		say(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
			{Key: &key.PublicKey, KeyID: "1", Algorithm: "ES256", Use: "sig"},
		}})
	})
	// its code is the nonce
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key},
			(&jose.SignerOptions{}).WithHeader("kid", "1"))
		if err != nil {
			t.Error(err)
			return
		}
		text, _ := json.Marshal(map[string]any{
			"iss": provider.URL, "aud": "unink", "sub": "1", "nonce": r.FormValue("code"),
			"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(),
		})
		signed, err := signer.Sign(text)
		if err != nil {
			t.Error(err)
			return
		}
		raw, _ := signed.CompactSerialize()
		say(w, map[string]any{"access_token": "access", "token_type": "Bearer", "id_token": raw})
	})

	s := withAccounts(t)
	config := account.DefaultConfig()
	config.Secret = bytes.Repeat([]byte("k"), 32)
	config.OIDC = account.OIDC{Issuer: provider.URL, ClientID: "unink", ClientSecret: "s3cret",
		RedirectURL: s.Config.PublicURL + "/api/sign-in/callback"}
	db := storetest.Open(t, storetest.SQLite(t))
	s.Services.Accounts, err = account.New(config, store.NewAccounts(db), s, attempts, time.Now,
		slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	return s
}

// begin begins a sign-in, and makes requests with which a browser comes back from the provider.
func (s *accountServer) begin() (back func() *http.Request) {
	s.t.Helper()
	a := s.is(http.StatusSeeOther, "GET", "/api/sign-in", "", nil)
	to, err := url.Parse(a.header.Get("Location"))
	if err != nil || to.Path != "/authorize" {
		s.t.Fatalf("sent to %s, %v", a.header.Get("Location"), err)
	}
	query := url.Values{"state": {to.Query().Get("state")}, "code": {to.Query().Get("nonce")}}
	cookies := (&http.Response{Header: a.header}).Cookies()
	return func() *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/api/sign-in/callback?"+query.Encode(), nil)
		for _, c := range cookies {
			r.AddCookie(c)
		}
		return r
	}
}

func TestSignIn(t *testing.T) {
	s := withProvider(t, never)
	back := s.begin()
	a := s.send(back())
	if a.status != http.StatusSeeOther || a.header.Get("Location") != "/" {
		t.Fatalf("got %d, to %q: %s", a.status, a.header.Get("Location"), a.body)
	}
	r := httptest.NewRequest(http.MethodGet, "/api/me", nil)
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.MaxAge >= 0 {
			r.AddCookie(c)
		}
	}
	var me struct{ Account struct{ Credits int } }
	if a := s.send(r); a.status != http.StatusOK {
		t.Errorf("got %d %s", a.status, a.body)
	} else if s.read(a, &me); me.Account.Credits != s.Config.AccountCredits {
		t.Errorf("a new account has %d credits", me.Account.Credits)
	}
	s.is(http.StatusBadRequest, "GET", "/api/sign-in/callback?code=1&state=2", "", nil)
}

func TestSignInIsThrottled(t *testing.T) {
	s := withProvider(t, func() (time.Duration, error) { return 1500 * time.Millisecond, nil })
	if a := s.send(s.begin()()); a.status != http.StatusTooManyRequests ||
		a.header.Get("Retry-After") != "2" {
		t.Errorf("got %d %v: %s", a.status, a.header, a.body)
	}
}

// A panic is answered and logged, and gives its place back.
func TestPanicInSignIn(t *testing.T) {
	s := withProvider(t, func() (time.Duration, error) { panic("of the tests") })
	back := s.begin()
	for range signInsAtOnce + 1 {
		if a := s.send(back()); a.status != http.StatusInternalServerError ||
			strings.Contains(string(a.body), "of the tests") {
			t.Fatalf("got %d %s", a.status, a.body)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "panic: of the tests") {
		t.Errorf("the log does not say so: %s", log)
	}
}

// Few sign in at once; who comes then is told to come again, and pages are cleaned all the same.
func TestFewSignInAtOnce(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	s := withProvider(t, func() (time.Duration, error) {
		inside <- struct{}{}
		<-release
		return time.Second, nil
	})
	back := s.begin()
	var all sync.WaitGroup
	for range signInsAtOnce {
		all.Go(func() {
			rec := httptest.NewRecorder()
			s.Handler().ServeHTTP(rec, back())
			if rec.Code != http.StatusTooManyRequests {
				t.Errorf("got %d %s", rec.Code, rec.Body)
			}
		})
	}
	for range signInsAtOnce {
		<-inside
	}
	for _, r := range []*http.Request{back(),
		httptest.NewRequest(http.MethodGet, "/api/sign-in", nil)} {
		if a := s.send(r); a.status != http.StatusServiceUnavailable ||
			a.header.Get("Retry-After") == "" {
			t.Errorf("%s: got %d %v: %s", r.URL.Path, a.status, a.header, a.body)
		}
	}
	s.is(http.StatusOK, "GET", "/api/catalogue", "", nil)
	close(release)
	all.Wait()
	s.begin()
}
