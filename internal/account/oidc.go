package account

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// OIDC says how to sign in at an OpenID Connect provider. The zero value is no provider.
type OIDC struct {
	Issuer       string // the provider's URL, https except on this machine
	ClientID     string
	ClientSecret string
	RedirectURL  string // where the provider sends the browser back to
}

func (o OIDC) validate() error {
	if o == (OIDC{}) {
		return nil
	}
	if o.ClientID == "" || o.ClientSecret == "" {
		return errors.New("the OpenID Connect provider needs a client id and a client secret")
	}
	return errors.Join(checkURL("issuer", o.Issuer), checkURL("redirect URL", o.RedirectURL))
}

func checkURL(what, address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" &&
		(u.Scheme != "http" || !local(u.Hostname())) {
		return fmt.Errorf("the OpenID Connect %s must be such as https://id.example.com, not %q",
			what, address)
	}
	return nil
}

func local(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// The reasons for which signing in at a provider fails.
var (
	ErrNoProvider  = errors.New("account: no OpenID Connect provider is configured")
	ErrProvider    = errors.New("account: the OpenID Connect provider does not answer as it should")
	ErrSignInState = errors.New(
		"account: the sign-in was not begun by this browser, or too long ago",
	)
	ErrSignInRefused = errors.New("account: the OpenID Connect provider refused the sign-in")
	ErrIDToken       = errors.New("account: the ID token is not valid")
)

const (
	signInFor       = 10 * time.Minute
	providerTimeout = 10 * time.Second
)

// provider is found when it is first needed, so that the service starts without it.
type provider struct {
	config OIDC
	client *http.Client
	turn   chan struct{} // guards found
	found  *oidc.Provider
}

func newProvider(c OIDC) *provider {
	return &provider{config: c, client: &http.Client{Timeout: providerTimeout},
		turn: make(chan struct{}, 1)}
}

func (p *provider) discover(ctx context.Context) (*oidc.Provider, error) {
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrProvider, ctx.Err())
	}
	if p.found == nil {
		found, err := oidc.NewProvider(ctx, p.config.Issuer)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrProvider, err)
		}
		p.found = found
	}
	return p.found, nil
}

func (p *provider) oauth(found *oidc.Provider) *oauth2.Config {
	return &oauth2.Config{
		ClientID: p.config.ClientID, ClientSecret: p.config.ClientSecret,
		RedirectURL: p.config.RedirectURL,
		Endpoint:    found.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "email"},
	}
}

// bounded is a context for talking to the provider.
func (p *provider) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(oidc.ClientContext(ctx, p.client), providerTimeout)
}

// signIn is what a browser keeps, sealed, between the two halves of a sign-in.
type signIn struct {
	State, Nonce, Verifier string
	Expires                time.Time
}

// Provider is the host name of the provider to sign in with, or empty where there is none.
func (s *Service) Provider() string {
	if s.provider == nil {
		return ""
	}
	issuer, err := url.Parse(s.provider.config.Issuer)
	if err != nil {
		return "" // never: the configuration was checked
	}
	return issuer.Hostname()
}

// BeginSignIn returns the provider's URL to send the browser to, and the value of a cookie that
// the browser must bring back to [Service.CompleteSignIn] within 10 minutes.
func (s *Service) BeginSignIn(ctx context.Context) (address, cookie string, err error) {
	if s.provider == nil {
		return "", "", ErrNoProvider
	}
	ctx, cancel := s.provider.bounded(ctx)
	defer cancel()
	found, err := s.provider.discover(ctx)
	if err != nil {
		return "", "", err
	}
	in := signIn{State: newToken(), Nonce: newToken(), Verifier: oauth2.GenerateVerifier(),
		Expires: s.now().Add(signInFor)}
	cookie, err = s.seal(in)
	address = s.provider.oauth(found).AuthCodeURL(
		in.State, oidc.Nonce(in.Nonce), oauth2.S256ChallengeOption(in.Verifier),
	)
	return address, cookie, err
}

// CompleteSignIn opens a session for whom the provider sent back, with the query of that request
// and the cookie of [Service.BeginSignIn]. The user is that of the identity; else that with the
// e-mail address, if the provider says it verified it; else a new one. Attempts from a network
// address are throttled once the cookie fits: pages of other sites can make a browser send the
// rest.
func (s *Service) CompleteSignIn(ctx context.Context, query url.Values, cookie, address,
	agent string) (string, User, error) {
	if s.provider == nil {
		return "", User{}, ErrNoProvider
	}
	in, err := s.unseal(cookie)
	if err != nil || !s.now().Before(in.Expires) ||
		subtle.ConstantTimeCompare([]byte(in.State), []byte(query.Get("state"))) != 1 {
		return "", User{}, ErrSignInState
	}
	if reason := query.Get("error"); reason != "" {
		return "", User{}, fmt.Errorf("%w: %.64q", ErrSignInRefused, reason)
	}
	if err := s.allow(ctx, "sign-in-address:"+s.hashAddress(address)); err != nil {
		return "", User{}, err
	}
	claims, err := s.claims(ctx, query.Get("code"), in)
	if err != nil {
		return "", User{}, err
	}
	u := s.newUser(Registered, claims.email())
	u.Verified = u.Email != ""
	u, hash, err := s.store.Identify(
		ctx, Identity{Issuer: s.provider.config.Issuer, Subject: claims.Subject, Linked: s.now()}, u,
	)
	if err != nil {
		return "", User{}, err
	}
	return s.open(ctx, u, hash, address, agent)
}

// claims is what is read of an ID token.
type claims struct {
	Subject       string `json:"sub"`
	Email         string `json:"email"`
	EmailVerified any    `json:"email_verified"` // some providers send "true"
}

// email is the address that the provider verified, or empty.
func (c claims) email() string {
	if c.EmailVerified != true && c.EmailVerified != "true" {
		return ""
	}
	email, err := checkEmail(c.Email)
	if err != nil {
		return ""
	}
	return email
}

// claims exchanges a code for an ID token, and checks that.
func (s *Service) claims(ctx context.Context, code string, in signIn) (c claims, err error) {
	ctx, cancel := s.provider.bounded(ctx)
	defer cancel()
	found, err := s.provider.discover(ctx)
	if err != nil {
		return c, err
	}
	answer, err := s.provider.oauth(found).Exchange(ctx, code, oauth2.VerifierOption(in.Verifier))
	if err != nil {
		return c, exchangeError(err)
	}
	raw, _ := answer.Extra("id_token").(string)
	token, err := found.Verifier(
		&oidc.Config{ClientID: s.provider.config.ClientID, Now: s.now},
	).Verify(ctx, raw)
	if err != nil {
		return c, fmt.Errorf("%w: %w", ErrIDToken, err)
	}
	if subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(in.Nonce)) != 1 {
		return c, fmt.Errorf("%w: its nonce is another's", ErrIDToken)
	}
	if err := token.Claims(&c); err != nil || !plain(c.Subject) || c.Subject == "" ||
		len(c.Subject) > 255 {
		return c, fmt.Errorf("%w: its claims cannot be read", ErrIDToken)
	}
	return c, nil
}

// exchangeError tells a code that was refused from a provider in trouble. Of the provider's answer
// it keeps the status alone: the rest may hold what must not be logged.
func exchangeError(err error) error {
	var answer *oauth2.RetrieveError
	var away net.Error
	switch {
	case errors.As(err, &answer) && answer.Response.StatusCode/100 == 4:
		return fmt.Errorf("%w: status %d for the code", ErrSignInRefused, answer.Response.StatusCode)
	case errors.As(err, &answer):
		return fmt.Errorf("%w: status %d for the code", ErrProvider, answer.Response.StatusCode)
	case errors.As(err, &away):
		return fmt.Errorf("%w: %w", ErrProvider, err)
	}
	return fmt.Errorf("%w: the code cannot be exchanged", ErrProvider)
}

func (s *Service) sealer() (cipher.AEAD, error) {
	block, err := aes.NewCipher(s.keys.signIn)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// seal makes a sign-in unreadable and unchangeable to all but this server.
func (s *Service) seal(in signIn) (string, error) {
	sealer, err := s.sealer()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(in)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(sealer.Seal(nil, nil, text, nil)), nil
}

func (s *Service) unseal(cookie string) (in signIn, err error) {
	sealer, err := s.sealer()
	if err != nil {
		return in, err
	}
	sealed, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil {
		return in, err
	}
	text, err := sealer.Open(nil, nil, sealed, nil)
	if err != nil {
		return in, err
	}
	return in, json.Unmarshal(text, &in)
}
