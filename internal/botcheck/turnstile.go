package botcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// SiteVerify is where Cloudflare checks tokens.
const SiteVerify = "https://challenges.cloudflare.com/turnstile/v0/siteverify"

const (
	maxTurnstile      = 2048 // bytes of a token
	maxSiteVerify     = 64 << 10
	siteVerifyTimeout = 5 * time.Second
	turnstileLifetime = 5 * time.Minute
)

// TurnstileConfig is the settings of a [Turnstile].
type TurnstileConfig struct {
	Secret string // the secret key of the widget
	URL    string // [SiteVerify], but for tests
}

// Validate says which field is out of range.
func (c TurnstileConfig) Validate() error {
	if c.Secret == "" {
		return errors.New("secret key of Turnstile is missing: it stands beside the site key in " +
			"Cloudflare's dashboard")
	}
	if u, err := url.Parse(c.URL); err != nil || u.Host == "" || u.Scheme != "https" &&
		u.Scheme != "http" {
		return fmt.Errorf("address of Turnstile must begin with https://, unlike %q", c.URL)
	}
	return nil
}

// Turnstile asks Cloudflare about tokens of its widget. It is a Checker.
type Turnstile struct {
	config TurnstileConfig
	client *http.Client
	replay Replay
	now    func() time.Time
}

// NewTurnstile makes a Turnstile.
func NewTurnstile(c TurnstileConfig, replay Replay, now func() time.Time) (*Turnstile, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	client := &http.Client{
		Timeout: siteVerifyTimeout,
		// The secret goes nowhere else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Turnstile{config: c, client: client, replay: replay, now: now}, nil
}

// Check implements [Checker]. It takes 5 seconds at most.
func (t *Turnstile) Check(ctx context.Context, token, remoteIP string) error {
	if err := bounded(token, maxTurnstile); err != nil {
		return err
	}
	v, err := t.ask(ctx, token, remoteIP)
	if err != nil {
		return fmt.Errorf("%w: Turnstile: %w", ErrUnavailable, err)
	}
	if err := v.err(); err != nil {
		return err
	}
	return useOnce(ctx, t.replay, "turnstile:"+token, t.now().Add(turnstileLifetime))
}

// verification is Cloudflare's answer.
type verification struct {
	Success bool     `json:"success"`
	Codes   []string `json:"error-codes"`
}

func (t *Turnstile) ask(ctx context.Context, token, remoteIP string) (v verification, err error) {
	form := url.Values{"secret": {t.config.Secret}, "response": {token}}
	if remoteIP != "" {
		form.Set("remoteip", remoteIP)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.config.URL,
		strings.NewReader(form.Encode()))
	if err != nil {
		return v, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := t.client.Do(req)
	if err != nil {
		return v, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxSiteVerify))
	if err != nil {
		return v, err
	}
	if err := json.Unmarshal(body, &v); err != nil {
		return v, fmt.Errorf("status %d with an unreadable answer: %w", resp.StatusCode, err)
	}
	if v.Success == (len(v.Codes) > 0) || v.Success && resp.StatusCode != http.StatusOK {
		return v, fmt.Errorf("status %d without a verdict", resp.StatusCode)
	}
	return v, nil
}

// err tells faults of the token from those of the service: of its secret, or of Cloudflare.
func (v verification) err() error {
	if v.Success {
		return nil
	}
	for _, code := range v.Codes {
		switch code {
		case "missing-input-response", "invalid-input-response", "timeout-or-duplicate":
		default:
			return fmt.Errorf("%w: Turnstile: %.100q", ErrUnavailable, v.Codes)
		}
	}
	return invalid(fmt.Sprintf("Turnstile: %q", v.Codes))
}
