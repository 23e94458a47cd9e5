package account_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"unink/internal/account"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

const clientSecret = "client's secret"

var providerKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

type claims = map[string]any

// idp is an OpenID Connect provider.
type idp struct {
	t      *testing.T
	server *httptest.Server
	away   atomic.Bool
	key    *rsa.PrivateKey // signs; what it publishes is providerKey

	mu    sync.Mutex
	codes map[string]grant
}

type grant struct {
	challenge string // of PKCE
	claims    claims
}

func newIDP(t *testing.T) *idp {
	p := &idp{t: t, key: providerKey(), codes: map[string]grant{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration",
		func(w http.ResponseWriter, _ *http.Request) {
			if p.away.Load() {
				http.Error(w, "away", http.StatusServiceUnavailable)
				return
			}
			p.answer(w, claims{
				"issuer": p.server.URL, "authorization_endpoint": p.server.URL + "/authorize",
				"token_endpoint": p.server.URL + "/token", "jwks_uri": p.server.URL + "/keys",
				"id_token_signing_alg_values_supported": []string{"RS256"},
			})
		})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		p.answer(w, jose.JSONWebKeySet{
			Keys: []jose.JSONWebKey{{Key: &providerKey().PublicKey, KeyID: "1", Algorithm: "RS256",
				Use: "sig"}},
		})
	})
	mux.HandleFunc("POST /token", p.token)
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func (p *idp) answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

// token exchanges a code, once, for an ID token (RFC 6749, 4.1.3; RFC 7636, 4.6).
func (p *idp) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	grant, known := p.codes[r.FormValue("code")]
	delete(p.codes, r.FormValue("code"))
	p.mu.Unlock()
	id, password, _ := r.BasicAuth()
	password, _ = url.QueryUnescape(password)
	verifier := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	switch {
	case p.away.Load():
		http.Error(w, "away", http.StatusBadGateway)
		return
	case id != "unink" || password != clientSecret:
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	case !known, grant.challenge != base64.RawURLEncoding.EncodeToString(verifier[:]),
		r.FormValue("redirect_uri") != "http://localhost/callback":
		http.Error(w, `{"error":"invalid_grant"}`, http.StatusBadRequest)
		return
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: p.key},
		(&jose.SignerOptions{}).WithHeader("kid", "1"))
	if err != nil {
		p.t.Error(err)
		return
	}
	text, _ := json.Marshal(grant.claims)
	signed, err := signer.Sign(text)
	if err != nil {
		p.t.Error(err)
		return
	}
	raw, _ := signed.CompactSerialize()
	p.answer(w, claims{"access_token": "access", "token_type": "Bearer", "expires_in": 60,
		"id_token": raw})
}

// authorize is what a person does in a browser at the provider: it returns the query that the
// browser comes back with.
func (p *idp) authorize(address string, about claims) url.Values {
	p.t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		p.t.Fatal(err)
	}
	q := u.Query()
	if !strings.HasPrefix(address, p.server.URL+"/authorize?") || q.Get("response_type") != "code" ||
		q.Get("code_challenge_method") != "S256" || len(q.Get("nonce")) < 20 ||
		q.Get("client_id") != "unink" {
		p.t.Fatalf("the browser was sent to %s", address)
	}
	all := claims{"iss": p.server.URL, "aud": "unink", "iat": began.Unix(),
		"exp": began.Add(time.Hour).Unix(), "nonce": q.Get("nonce")}
	maps.Copy(all, about)
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.codes[code] = grant{q.Get("code_challenge"), all}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// eachWithIDP runs a test on both databases, with a provider.
func eachWithIDP(t *testing.T, test func(w *world, p *idp)) {
	t.Helper()
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		p := newIDP(t)
		c := quick()
		c.OIDC = account.OIDC{Issuer: p.server.URL, ClientID: "unink", ClientSecret: clientSecret,
			RedirectURL: "http://localhost/callback"}
		test(newWorld(t, db, c), p)
	})
}

// signIn goes to the provider and back.
func (w *world) signIn(p *idp, about claims) (string, account.User, error) {
	w.t.Helper()
	location, cookie, err := w.BeginSignIn(w.ctx)
	w.must(err)
	return w.CompleteSignIn(w.ctx, p.authorize(location, about), cookie, address, agent)
}

func TestSignInMakesAndFindsUsers(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		token, u, err := w.signIn(
			p, claims{"sub": "1", "email": "Ann@example.com", "email_verified": true},
		)
		w.must(err)
		if u.Email != email || !u.Verified || u.Kind != account.Registered {
			t.Errorf("made %+v", u)
		}
		if got, err := w.Session(w.ctx, token); err != nil || got != u {
			t.Errorf("session is of %+v, %v", got, err)
		}
		second, again, err := w.signIn(
			p, claims{"sub": "1", "email": "moved@example.com", "email_verified": true},
		)
		if err != nil || again != u || second == token {
			t.Errorf("the same identity is %+v, %v", again, err)
		}
		_, stranger, err := w.signIn(p, claims{"sub": "2", "email": email, "email_verified": false})
		if err != nil || stranger.ID == u.ID || stranger.Email != "" || stranger.Verified {
			t.Errorf("an unverified claim makes %+v, %v", stranger, err)
		}
		_, bare, err := w.signIn(p, claims{"sub": "3"})
		if err != nil || bare.Email != "" || bare.ID == stranger.ID {
			t.Errorf("without an address: %+v, %v", bare, err)
		}
		w.refused(w.logIn(email, ""), account.ErrCredentials)
		e, err := w.Export(w.ctx, u.ID)
		if err != nil || len(e.Identities) != 1 ||
			e.Identities[0] != (account.Identity{Issuer: p.server.URL, Subject: "1", Linked: began}) {
			t.Errorf("export is %+v, %v", e, err)
		}
		w.must(w.Delete(w.ctx, u.ID))
		_, anew, err := w.signIn(p, claims{"sub": "1", "email": email, "email_verified": "true"})
		if err != nil || anew.ID == u.ID || anew.Email != email {
			t.Errorf("after deletion: %+v, %v", anew, err)
		}
	})
}

func TestSignInLinksByVerifiedAddress(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		u, _ := w.user()
		_, linked, err := w.signIn(p, claims{"sub": "1", "email": email, "email_verified": true})
		if err != nil || linked != u {
			t.Errorf("linked to %+v, %v, want %+v", linked, err, u)
		}
		w.must(w.logIn(email, password))

		// A stranger signed up with an address and waits for its owner to come.
		w.must(w.SignUp(w.ctx, "bea@example.com", other, address))
		verify := w.mail(account.NoticeVerify).Token
		_, bea, err := w.signIn(p, claims{"sub": "2", "email": "bea@example.com", "email_verified": true})
		if err != nil || !bea.Verified {
			t.Errorf("signed in as %+v, %v", bea, err)
		}
		w.refused(w.logIn("bea@example.com", other), account.ErrCredentials)
		_, err = w.Verify(w.ctx, verify)
		w.refused(err, account.ErrOneTimeToken)
	})
}

func TestSignInTwiceAtOnce(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		for _, about := range []claims{{"sub": "1"},
			{"sub": "2", "email": email, "email_verified": true}} {
			before, err := w.Users(w.ctx, 10, "")
			w.must(err)
			if got := w.atOnce(4, nil, func(int) error {
				_, _, err := w.signIn(p, about)
				return err
			}); got != 4 {
				t.Errorf("%d of 4 signed in", got)
			}
			if users, err := w.Users(w.ctx, 10, ""); err != nil || len(users) != len(before)+1 {
				t.Errorf("users are %v, %v", users, err)
			}
		}
	})
}

func TestSignInNeedsItsBrowser(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		about := claims{"sub": "1"}
		location, cookie, err := w.BeginSignIn(w.ctx)
		w.must(err)
		for _, inside := range []string{"state", "nonce"} {
			u, _ := url.Parse(location)
			if text, _ := base64.RawURLEncoding.DecodeString(cookie); strings.Contains(
				string(text), u.Query().Get(inside),
			) {
				t.Errorf("the cookie tells the %s", inside)
			}
		}
		_, another, err := w.BeginSignIn(w.ctx)
		w.must(err)
		query := p.authorize(location, about)
		for what, bad := range map[string]string{"none": "", "another's": another, "not base64": "%",
			"changed": "A" + cookie[1:], "short": cookie[:10]} {
			if bad == cookie {
				bad = "B" + cookie[1:]
			}
			if _, _, err := w.CompleteSignIn(w.ctx, query, bad, address, agent); !errors.Is(
				err, account.ErrSignInState,
			) {
				t.Errorf("cookie %s: error is %v", what, err)
			}
		}
		if _, _, err := w.CompleteSignIn(w.ctx, url.Values{"code": query["code"]}, cookie, address,
			agent); !errors.Is(err, account.ErrSignInState) {
			t.Errorf("no state: error is %v", err)
		}
		w.pass(10 * time.Minute)
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent)
		w.refused(err, account.ErrSignInState)
		w.pass(-time.Microsecond)
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent)
		w.must(err)
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent)
		w.refused(err, account.ErrSignInRefused)
	})
}

func TestSignInRefused(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		location, cookie, err := w.BeginSignIn(w.ctx)
		w.must(err)
		query := p.authorize(location, claims{"sub": "1"})
		_, _, err = w.CompleteSignIn(w.ctx,
			url.Values{"state": query["state"], "error": {"access_denied"}}, cookie, address, agent)
		w.refused(err, account.ErrSignInRefused)
		_, _, err = w.CompleteSignIn(w.ctx, url.Values{"state": query["state"], "code": {"guessed"}},
			cookie, address, agent)
		w.refused(err, account.ErrSignInRefused)
		for what, about := range map[string]claims{
			"nonce":    {"sub": "1", "nonce": "another"},
			"no nonce": {"sub": "1", "nonce": ""},
			"audience": {"sub": "1", "aud": "another"},
			"issuer":   {"sub": "1", "iss": "https://evil.example.com"},
			"expired":  {"sub": "1", "exp": began.Add(-time.Second).Unix()},
			"no one":   {"sub": ""},
			"NUL":      {"sub": "1\x00"},
			"long":     {"sub": strings.Repeat("1", 256)},
		} {
			if _, _, err := w.signIn(p, about); !errors.Is(err, account.ErrIDToken) {
				t.Errorf("%s: error is %v", what, err)
			}
		}
		p.key, err = rsa.GenerateKey(rand.Reader, 2048)
		w.must(err)
		_, _, err = w.signIn(p, claims{"sub": "1"})
		w.refused(err, account.ErrIDToken)
		if users, err := w.Users(w.ctx, 10, ""); err != nil || len(users) != 0 {
			t.Errorf("users are %v, %v", users, err)
		}
	})
}

func TestProviderAway(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		p.away.Store(true)
		_, _, err := w.BeginSignIn(w.ctx)
		w.refused(err, account.ErrProvider)
		p.away.Store(false)
		location, cookie, err := w.BeginSignIn(w.ctx)
		w.must(err)
		query := p.authorize(location, claims{"sub": "1"})
		p.away.Store(true)
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent)
		w.refused(err, account.ErrProvider)
		p.server.Close()
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent)
		w.refused(err, account.ErrProvider)
	})
}

// Only what a browser brings back that began here counts as an attempt, and a refused one asks the
// provider nothing.
func TestSignInIsThrottled(t *testing.T) {
	eachWithIDP(t, func(w *world, p *idp) {
		location, cookie, err := w.BeginSignIn(w.ctx)
		w.must(err)
		query := p.authorize(location, claims{"sub": "1"})
		_, _, err = w.CompleteSignIn(w.ctx, query, "", address, agent)
		w.refused(err, account.ErrSignInState)
		if len(w.attempts) != 0 {
			t.Errorf("attempts are %v", w.attempts)
		}
		w.wait = map[string]time.Duration{"sign-in-address:": 90 * time.Second}
		var throttled *account.ThrottledError
		if _, _, err = w.CompleteSignIn(w.ctx, query, cookie, address,
			agent); !errors.As(err, &throttled) || throttled.Wait != 90*time.Second {
			t.Errorf("error is %v", err)
		}
		if len(w.attempts) != 1 || strings.Contains(w.attempts[0], address) {
			t.Errorf("attempts are %v", w.attempts)
		}
		w.wait = nil
		_, _, err = w.CompleteSignIn(w.ctx, query, cookie, address, agent) // the code was not used
		w.must(err)
	})
}

func TestNoProvider(t *testing.T) {
	s := without(t, secret)
	if _, _, err := s.BeginSignIn(t.Context()); !errors.Is(err, account.ErrNoProvider) {
		t.Errorf("error is %v", err)
	}
	if _, _, err := s.CompleteSignIn(t.Context(), nil, "", address, agent); !errors.Is(
		err, account.ErrNoProvider,
	) {
		t.Errorf("error is %v", err)
	}
}
