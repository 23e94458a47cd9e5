package httpapi

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"unink/internal/credit"
	"unink/internal/httpapi/failure"
	"unink/internal/usage"
)

// caller is who asks for a page, and on what terms.
type caller struct {
	kind       string
	owner      string         // whose list of uses this one is on; a guest has none
	payers     []string       // owners of credits, each of whom gives one; none in open mode
	allowances []credit.Grant // what the payers get before, once
	limited    []string       // keys of the rolling windows
	slot       string         // key of the requests at once
	trial      bool
	appCode    string // of a customer
	remaining  int    // credits left, once known
}

// door tells who a request comes from, or refuses it.
type door interface {
	web(r *http.Request, form *uploadForm) (*caller, error)
	developer(r *http.Request) (*caller, error)
	// userOf and customerOf name who is known by a request's header alone, and nobody where that
	// fails.
	userOf(r *http.Request) string
	customerOf(r *http.Request) string
}

// charge is what a request holds while its page is worked on.
type charge struct {
	hold    string // of the ledger; empty when nothing is held
	free    func() // gives the caller's slot back
	charged bool   // by this request, unless it fails yet
}

// admit holds the caller to its windows and its slots, and holds its credits. What it holds is
// given back by [charge.freeSlot] and [Server.conclude].
func (s *Server) admit(ctx context.Context, c *call) error {
	who := c.caller
	if full := s.work.Refusal(s.turnOf(c)); full != nil { // then it counts nowhere
		return cmp.Or(s.checkCredits(ctx, c), full)
	}
	if err := s.withinWindows(ctx, who); err != nil {
		return err
	}
	if who.slot != "" {
		free, ok := s.services.Slots.Acquire(who.slot)
		if !ok {
			return &failure.Failure{Kind: failure.TooManyOpen,
				Message:    "too many requests at once for this account; wait for one to end",
				RetryAfter: time.Second}
		}
		c.charge.free = free
	}
	return s.reserve(ctx, c)
}

func (s *Server) withinWindows(ctx context.Context, who *caller) error {
	if len(who.limited) == 0 {
		return nil
	}
	verdict, err := s.services.Limits.Allow(ctx, who.limited, s.cfg.Windows)
	if err != nil || verdict.OK {
		return err
	}
	s.metrics.limited.WithLabelValues(verdict.Window).Inc()
	return &failure.Failure{Kind: failure.RateLimited, Message: "too many requests",
		RetryAfter: verdict.RetryAfter,
		Window:     verdict.Window}
}

// answerTime is how long a client may take to receive its answer, which is rarely larger than two
// of what was uploaded.
func (c Config) answerTime() time.Duration { return 2 * c.UploadTimeout }

// lease is how long a credit is held at most: until a page that comes back as late as possible is
// settled. Twice the upload's time is room for work that notices its deadline late.
func (c Config) lease() time.Duration { return c.Deadline + c.answerTime() + concludeTime }

// price is what a request's page costs.
func (s *Server) price(c *call) credit.Reservation {
	return credit.Reservation{
		Owners: c.caller.payers, Allowances: c.caller.allowances,
		Lease: s.cfg.lease(), Idempotency: c.key,
	}
}

// checkCredits fails where the caller could not pay, and holds nothing.
func (s *Server) checkCredits(ctx context.Context, c *call) error {
	if len(c.caller.payers) == 0 {
		return nil
	}
	return creditFailure(s.services.Credits.Check(ctx, s.price(c)))
}

func (s *Server) reserve(ctx context.Context, c *call) error {
	if len(c.caller.payers) == 0 {
		return nil
	}
	hold, err := s.services.Credits.Reserve(ctx, s.price(c))
	if err != nil {
		return creditFailure(err)
	}
	c.caller.remaining = hold.Remaining
	c.charge.hold, c.charge.charged = hold.ID, hold.ID != ""
	return nil
}

// creditFailure is what an error of credits means for the caller.
func creditFailure(err error) error {
	var insufficient *credit.InsufficientError
	switch {
	case errors.As(err, &insufficient):
		return failure.With(err, failure.NoCredits, "there are no credits left, or they have expired")
	case errors.Is(err, credit.ErrKeyReused):
		return failure.With(err, failure.BadParameter,
			"this Idempotency-Key was used with another body; use a new key for each page")
	case errors.Is(err, credit.ErrKeyBusy):
		return &failure.Failure{Kind: failure.Overloaded,
			Message: "a request with this Idempotency-Key is being worked on", RetryAfter: time.Second,
			Cause: err}
	}
	return err
}

// concludeTime bounds what is written down after a request.
const concludeTime = 5 * time.Second

// freeSlot gives the caller's slot back.
func (c *charge) freeSlot() {
	if c.free != nil {
		c.free()
	}
}

// conclude settles what a request holds when its page came back, and releases it otherwise. A
// process that is killed before has charged nothing, and the hold is found by the sweeper.
func (s *Server) conclude(r *http.Request, c *call, cleaned bool) {
	if c.charge.hold == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), concludeTime)
	defer cancel()
	end, outcome := s.services.Credits.Release, "released"
	if cleaned {
		end, outcome = s.services.Credits.Settle, "settled"
	}
	err := end(ctx, c.charge.hold)
	c.charge.charged = cleaned && err == nil
	switch {
	case err != nil:
		s.log.Error("a hold was not "+outcome, "request_id", c.id, "hold", c.charge.hold, "cause", err)
		outcome = "failed"
	case !cleaned:
		c.caller.remaining++
	}
	s.metrics.credits.WithLabelValues(outcome).Inc()
}

// record adds a request for a page to the statistics.
func (s *Server) record(r *http.Request, c *call, took time.Duration) {
	if s.services == nil || c.caller == nil {
		return
	}
	entry, outcome := outcomeOf(r, c)
	if entry == "" {
		return
	}
	charged := 0
	if c.charge.charged {
		charged = 1
	}
	s.services.Uses.Record(usage.Use{
		At: s.now(), Entry: entry, Caller: c.caller.kind, Owner: c.caller.owner,
		PageSlug: c.form.pageSlug,
		Bulk:     c.form.bulk, PDF: c.form.pdf, Outcome: outcome, Charged: charged,
		Millis: took.Milliseconds(),
	})
}

// outcomeOf names the entry point of a request for a page, and how it ended: [usage.OK],
// [usage.Cancelled], or the error's name or code there. Other requests have no entry point.
func outcomeOf(r *http.Request, c *call) (entry, outcome string) {
	var named func(failure.Kind) string
	switch r.Pattern {
	case "POST /api/process-image":
		entry, named = credit.Web, func(k failure.Kind) string { return webRowOf(k).name }
	case "POST /cleanup":
		entry = credit.Developer
		named = func(k failure.Kind) string { return strconv.Itoa(developerRowOf(k).code) }
	default:
		return "", ""
	}
	switch {
	case c.failure == nil:
		return entry, usage.OK
	case c.failure.Kind == failure.Gone:
		return entry, usage.Cancelled
	}
	return entry, named(c.failure.Kind)
}

// The kinds of callers, as the statistics have them.
const (
	callerUser      = "user"
	callerAnonymous = "anonymous"
	callerGuest     = "guest"
	callerPDFGuest  = "pdf-guest"
	callerCustomer  = "customer"
	callerOpen      = "open"
)

// openDoor lets in everybody who reaches the address, and programs with its one token.
type openDoor struct{ token string }

func (openDoor) web(r *http.Request, form *uploadForm) (*caller, error) {
	switch t := r.Header.Get("X-User-Type"); t {
	case "", userRegistered, userGuest:
	case userAnonymous:
		if r.Header.Get("X-Device-Id") == "" || form.userID == "" {
			return nil, failure.New(failure.Unverified,
				"an anonymous account is identified by the header X-Device-Id "+
					"and the field userId; one is missing")
		}
	default:
		return nil, unknownUserType(t)
	}
	// whoever asks an open service has bought nothing
	return &caller{kind: callerOpen, trial: true}, nil
}

func (openDoor) userOf(*http.Request) string { return "" }

func (d openDoor) customerOf(r *http.Request) string {
	if _, err := d.developer(r); err != nil {
		return ""
	}
	return callerOpen
}

func (d openDoor) developer(r *http.Request) (*caller, error) {
	token, err := bearer(r)
	if err != nil {
		return nil, err
	}
	if !equal(token, d.token) {
		return nil, failure.New(failure.Unauthorized, "the token is not known here")
	}
	return &caller{kind: callerOpen}, nil
}

// The values of X-User-Type.
const (
	userAnonymous  = "anonymous"
	userRegistered = "registered"
	userGuest      = "guest"
)

func unknownUserType(t string) error {
	return failure.New(failure.BadParameter,
		"X-User-Type must be anonymous, registered or guest, not %.64q", t)
}
