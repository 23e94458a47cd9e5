package pdfjob

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	hookTime   = 10 * time.Second // for one attempt
	hookLease  = time.Minute      // of an attempt, before another process makes one
	firstPause = 2 * time.Second
	lastPause  = time.Hour
	maxURL     = 2000 // bytes
)

// secretPrefix begins a hook's secret, as Standard Webhooks has it.
const secretPrefix = "whsec_"

// ParseSecret reads a hook's secret: whsec_ and 24 to 64 bytes in Base64 (standardwebhooks.com).
func ParseSecret(s string) ([]byte, error) {
	text, found := strings.CutPrefix(s, secretPrefix)
	key, err := base64.StdEncoding.DecodeString(text)
	if !found || err != nil || len(key) < 24 || len(key) > 64 {
		return nil, errors.New("it must be whsec_ and the standard Base64 of 24 to 64 random bytes, " +
			"such as of: echo whsec_$(openssl rand -base64 32)")
	}
	return key, nil
}

// event is what a hook is sent.
type event struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Data      Status    `json:"data"`
}

// tellNext makes an attempt at the hook that is due longest, and returns when the next one is due.
func (s *Service) tellNext(ctx context.Context) (time.Time, error) {
	now := s.now()
	j, due, err := s.store.ClaimHook(ctx, now, now.Add(hookLease))
	if err != nil {
		return time.Time{}, err
	}
	if !due {
		return s.store.NextHook(ctx)
	}
	nudge(s.hooks) // there may be more
	refused := s.tell(ctx, j)
	if ctx.Err() != nil {
		return time.Time{}, nil // it is due again at the lease's end
	}
	var next time.Time
	if refused == nil || errors.Is(refused, errGone) {
		s.log.Info("a PDF's webhook ended", "job", j.ID, "tries", j.HookTries, "told", refused == nil)
	} else {
		next = s.now().Add(hookPause(j.HookTries))
		s.log.Warn("a PDF's webhook was not told yet", "job", j.ID, "tries", j.HookTries, "next", next,
			"error", refused)
	}
	return next, s.store.HookDue(ctx, j.ID, j.HookTries, next)
}

// hookPause is how long to wait after a number of attempts: twice as long each time, up to a bound,
// and a little less by chance. The job's end is the last attempt's.
func hookPause(tries int) time.Duration {
	most := lastPause
	if shift := tries - 1; shift < 11 {
		most = firstPause << max(0, shift)
	}
	return most - rand.N(most/5)
}

// errGone says that the receiver wants to hear nothing more.
var errGone = errors.New("the receiver answered 410")

// tell sends a job's end to its hook.
func (s *Service) tell(ctx context.Context, j Job) error {
	key, err := ParseSecret(j.Hook.Secret)
	if err != nil {
		return err
	}
	now := s.now()
	body, err := json.Marshal(event{"pdf." + string(j.State), j.Finished.UTC(), j.Status()})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, j.Hook.URL, bytes.NewReader(body))
	if err != nil {
		return err
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "unink")
	r.Header.Set("Webhook-Id", j.ID)
	r.Header.Set("Webhook-Timestamp", stamp)
	r.Header.Set("Webhook-Signature", "v1,"+signature(key, j.ID, stamp, body))
	return s.post.send(r)
}

func signature(key []byte, id, stamp string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.%s", id, stamp, body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// poster sends requests to addresses that callers chose: never to private ones, whatever a name
// resolves to, and never on to where a redirect points.
type poster struct {
	allowed []netip.Prefix
	client  *http.Client
}

func newPoster(allowed []netip.Prefix) poster {
	p := poster{allowed: allowed}
	dialer := &net.Dialer{Timeout: hookTime, Control: func(_, address string,
		_ syscall.RawConn) error {
		to, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return p.permit(to.Addr())
	}}
	p.client = &http.Client{
		Timeout: hookTime,
		Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true,
			MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return p
}

func (p poster) send(r *http.Request) error {
	res, err := p.client.Do(r)
	if err != nil {
		var at *url.Error
		if errors.As(err, &at) { // without the address, which may hold a secret
			err = at.Err
		}
		return err
	}
	defer func() { _ = res.Body.Close() }()
	_, _ = io.CopyN(io.Discard, res.Body, 64<<10) // the status is all that counts
	switch {
	case res.StatusCode == http.StatusGone:
		return errGone
	case res.StatusCode/100 != 2:
		return fmt.Errorf("the receiver answered %d", res.StatusCode)
	}
	return nil
}

// check refuses an address that no hook can have. What its name resolves to is looked at when it is
// told.
func (p poster) check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil, len(address) > maxURL, u.Scheme != "https" && u.Scheme != "http",
		u.Hostname() == "":
		return fmt.Errorf("it must be an http or https address of at most %d bytes", maxURL)
	case u.User != nil:
		return errors.New("it must have no user and password; the signature says who sends it")
	}
	host := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(host); err == nil {
		return p.permit(ip)
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return p.permit(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	return nil
}

// special are addresses that are nobody's on the internet, beside those that netip knows (IANA's
// registries of special-purpose addresses).
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"),
	netip.MustParsePrefix("192.0.0.0/24"), netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// internet is what has been given out of IPv6; all else there is local, or stands for IPv4.
var internet = netip.MustParsePrefix("2000::/3")

// permit refuses addresses that are not on the internet, unless the operator allows them.
func (p poster) permit(a netip.Addr) error {
	a = a.Unmap().WithZone("")
	for _, network := range p.allowed {
		if network.Contains(a) {
			return nil
		}
	}
	refused := a.IsPrivate() || a.IsLoopback() || a.IsLinkLocalUnicast() || a.IsMulticast() ||
		a.IsUnspecified() || a.Is6() && !internet.Contains(a)
	for _, network := range special {
		refused = refused || network.Contains(a)
	}
	if refused {
		return errors.New("it is a private, local or reserved address, which webhooks are not sent to")
	}
	return nil
}
