package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"unink/internal/account"
	"unink/internal/billing"
	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/failure"
	"unink/internal/usage"
)

// accountRoutes are what people do with their accounts. All bodies are JSON.
func (s *Server) accountRoutes(mux *http.ServeMux) {
	for pattern, answer := range map[string]answerer{
		"POST /api/anonymous-accounts":      s.anonymousAccount,
		"GET /api/bot-challenge":            s.botChallenge,
		"GET /api/guest":                    s.guestLeft,
		"POST /api/sign-up":                 withBody(s, s.signUp),
		"POST /api/verify":                  withBody(s, s.verify),
		"POST /api/log-in":                  withBody(s, s.logIn),
		"POST /api/log-out":                 s.logOut,
		"POST /api/log-out-everywhere":      s.forUser(s.logOutEverywhere),
		"POST /api/password-reset":          withBody(s, s.requestReset),
		"POST /api/password-reset/done":     withBody(s, s.reset),
		"POST /api/password":                withBody(s, s.changePassword),
		"GET /api/me":                       s.forUser(s.me),
		"DELETE /api/me":                    s.forUser(s.deleteMe),
		"GET /api/me/export":                s.forUser(s.export),
		"GET /api/me/uses":                  s.forUser(s.myUses),
		"GET /api/me/sessions":              s.forUser(s.sessions),
		"DELETE /api/me/sessions/{id}":      s.forUser(s.endSession),
		"GET /api/customers":                s.forUser(s.customersOf),
		"POST /api/customers":               s.forUser(s.beginCustomer),
		"GET /api/customers/{slug}":         s.customer,
		"GET /api/customers/{slug}/uses":    s.customerUses,
		"POST /api/customers/{slug}/rotate": withBody(s, s.rotateToken),
		"GET /api/operator/statistics":      s.statistics,
		"GET /api/catalogue":                s.catalogue,
		"POST /api/checkout":                withBody(s, s.checkout),
		"POST /api/stripe/webhook":          s.stripeWebhook,

		"GET /api/operator/accounts": s.findAccounts,
		"GET /api/operator/acts":     s.acts,
		"POST /api/operator/grants":  forOperator(s, s.grantCredits),

		"POST /api/operator/customers/{id}/rotate":                forOperator(s, s.rotateFor),
		"POST /api/operator/customers/{id}/close":                 forOperator(s, s.closeCustomer),
		"POST /api/operator/customers/{id}/tokens/{token}/revoke": forOperator(s, s.endToken),
	} {
		mux.Handle(pattern, s.endpoint(answer, s.web()))
	}
	signIns, err := gate.New(gate.Config{Workers: signInsAtOnce})
	if err != nil {
		panic(err) // never: the number is a constant
	}
	mux.Handle("GET /api/sign-in", s.signingIn(signIns, s.beginSignIn))
	mux.Handle("GET /api/sign-in/callback", s.signingIn(signIns, s.completeSignIn))
}

const maxJSONBody = 16 << 10 // bytes: forms of a few fields

// readJSON reads a body into v, which has every field that may be there.
func (s *Server) readJSON(w http.ResponseWriter, r *http.Request, v any) error {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		media != "application/json" {
		return failure.New(failure.BadRequest, "Content-Type must be application/json")
	}
	return s.readBody(w, r, maxJSONBody, func() error {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return jsonError(err)
		}
		return parseJSON(body, v)
	})
}

// withBody is an answer to a request with a JSON object as its body.
func withBody[T any](s *Server,
	answer func(http.ResponseWriter, *http.Request, T) (any, error)) answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		var body T
		if err := s.readJSON(w, r, &body); err != nil {
			return nil, err
		}
		return answer(w, r, body)
	}
}

// forUser is an answer for the account that is logged in.
func (s *Server) forUser(
	answer func(http.ResponseWriter, *http.Request, account.User) (any, error),
) answerer {
	return func(w http.ResponseWriter, r *http.Request) (any, error) {
		u, err := s.user(r)
		if err != nil {
			return nil, err
		}
		return answer(w, r, u)
	}
}

func parseJSON(body []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(v); err != nil {
		return jsonError(err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return failure.New(failure.BadRequest, "the body must be one JSON object and nothing after it")
	}
	if err := checkKeys(body, reflect.TypeOf(v).Elem()); err != nil {
		return err
	}
	var texts any
	if err := json.Unmarshal(body, &texts); err != nil {
		return jsonError(err)
	}
	return cmp.Or(checkText("the body", string(body)), checkTexts("the body", texts))
}

// checkKeys refuses keys of an object that are not written as its fields are, or come twice, which
// encoding/json passes over.
func checkKeys(body []byte, fields reflect.Type) error {
	decoder := json.NewDecoder(bytes.NewReader(body))
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return jsonError(err)
	}
	seen := map[string]bool{}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return jsonError(err)
		}
		key, _ := token.(string)
		written := slices.ContainsFunc(reflect.VisibleFields(fields), func(f reflect.StructField) bool {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			return name == key
		})
		switch {
		case !written:
			return failure.New(failure.BadParameter,
				"the key %.64q is not known; keys are written as in /openapi.json",
				key)
		case seen[key]:
			return failure.New(failure.BadParameter, "the key %s is given twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return jsonError(err)
		}
	}
	return nil
}

func jsonError(err error) error {
	if f := failure.Of(err); f.Kind != failure.Unexpected {
		return f
	}
	return failure.With(err, failure.BadRequest,
		"the body must be a JSON object with the fields that /openapi.json names")
}

// accountFailure tells what an error of the accounts means for the caller.
func accountFailure(err error) error {
	var throttled *account.ThrottledError
	var bad *account.InputError
	switch {
	case errors.As(err, &throttled):
		return &failure.Failure{Kind: failure.RateLimited, Message: "too many attempts",
			RetryAfter: throttled.Wait,
			Window:     "attempts", Cause: err}
	case errors.As(err, &bad):
		return failure.With(err, failure.BadParameter, bad.Error())
	case errors.Is(err, account.ErrCredentials):
		return failure.With(err, failure.Unverified,
			"the e-mail address or the password is wrong, or the address was not confirmed yet")
	case errors.Is(err, account.ErrNoProvider):
		return failure.With(err, failure.NotFound, "there is no provider to sign in with here")
	case errors.Is(err, account.ErrProvider):
		return failure.Busy(
			err, "the provider to sign in with does not answer; try again, or log in with a password",
		)
	case errors.Is(err, account.ErrSignInState), errors.Is(err, account.ErrSignInRefused),
		errors.Is(err, account.ErrIDToken):
		return failure.With(err, failure.Unverified, "signing in was not completed; begin again")
	case errors.Is(err, account.ErrOneTimeToken):
		return failure.With(err, failure.Unverified,
			"this link was used already or is too old; ask for a new one")
	case errors.Is(err, account.ErrNoSession):
		return failure.With(err, failure.LoggedOut, "log in first")
	}
	return err
}

// done is the answer where there is nothing to tell.
var done = answered{http.StatusNoContent, nil}

type identity struct {
	UserID  string `json:"userId"`
	Credits int    `json:"credits"`
}

// anonymousAccount establishes an app's account on a device, or finds it again.
func (s *Server) anonymousAccount(_ http.ResponseWriter, r *http.Request) (any, error) {
	device := r.Header.Get("X-Device-Id")
	if r.Header.Get("X-User-Type") != userAnonymous || device == "" {
		return nil, failure.New(failure.BadParameter,
			"send the headers X-User-Type: anonymous and X-Device-Id")
	}
	address := clientAddress(r, s.cfg.TrustedProxies)
	user, created, err := s.services.Accounts.Anonymous(r.Context(), device, address.String(),
		s.cfg.AnonymousDaily)
	if err != nil {
		return nil, accountFailure(err)
	}
	if err := s.welcome(r.Context(), user); err != nil {
		return nil, err
	}
	credits, err := s.services.Credits.Balance(r.Context(), userOwner(user.ID))
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return answered{status, identity{user.ID, credits}}, nil
}

// welcome gives a new account its first credits, once for each person.
func (s *Server) welcome(ctx context.Context, u account.User) error {
	credits := s.cfg.AccountCredits
	if u.Kind == account.Anonymous {
		credits = s.cfg.AnonymousCredits
	}
	if credits == 0 {
		return nil
	}
	if first, err := s.services.Accounts.Welcome(ctx, u); err != nil || !first {
		return err
	}
	_, _, err := s.services.Credits.Grant(ctx, credit.Grant{
		Owner: userOwner(u.ID), Plan: "welcome", Credits: credits, Expires: credit.Never,
		Source: account.WelcomePrefix + u.ID,
	})
	return err
}

// botChallenge is what a bot-check token is made from.
func (s *Server) botChallenge(http.ResponseWriter, *http.Request) (any, error) {
	if key := s.services.TurnstileKey; key != "" {
		return map[string]string{"turnstile": key}, nil
	}
	return s.services.Challenge()
}

type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	BotToken string `json:"cfTurnstileToken"`
}

// signUp always answers the same, whether the address is known or not: the rest is told by mail.
func (s *Server) signUp(_ http.ResponseWriter, r *http.Request, in credentials) (any, error) {
	address := clientAddress(r, s.cfg.TrustedProxies)
	if err := s.accounts().human(r, in.BotToken, address); err != nil {
		return nil, err
	}
	if err := s.services.Accounts.SignUp(r.Context(), in.Email, in.Password,
		address.String()); err != nil {
		return nil, accountFailure(err)
	}
	return answered{http.StatusAccepted,
		message{"we have sent a mail to this address; follow its link to go on"}}, nil
}

type message struct {
	Message string `json:"message"`
}

func (s *Server) accounts() *accountDoor { return s.door.(*accountDoor) }

type oneTimeToken struct {
	Token    string `json:"token"`
	Password string `json:"password,omitempty"`
}

// verify confirms an e-mail address by the token that was sent there.
func (s *Server) verify(_ http.ResponseWriter, r *http.Request, in oneTimeToken) (any, error) {
	user, err := s.services.Accounts.Verify(r.Context(), in.Token)
	if err != nil {
		return nil, accountFailure(err)
	}
	return done, s.welcome(r.Context(), user)
}

type loggedIn struct {
	UserID  string `json:"userId"`
	Session string `json:"session"` // for apps: Authorization: Bearer
}

// logIn opens a session. Browsers keep it in a cookie, apps take it from the answer.
func (s *Server) logIn(w http.ResponseWriter, r *http.Request, in credentials) (any, error) {
	token, user, err := s.services.Accounts.LogIn(
		r.Context(), in.Email, in.Password, clientAddress(r, s.cfg.TrustedProxies).String(),
		agentName(r.UserAgent()),
	)
	if err != nil {
		return nil, accountFailure(err)
	}
	http.SetCookie(w, sessionCookie(s.cfg, token))
	return loggedIn{user.ID, token}, nil
}

func (s *Server) logOut(w http.ResponseWriter, r *http.Request) (any, error) {
	if token := sessionToken(r, s.cfg); token != "" {
		if err := s.services.Accounts.LogOut(r.Context(), token); err != nil {
			return nil, err
		}
	}
	http.SetCookie(w, sessionCookie(s.cfg, ""))
	return done, nil
}

// user is who is logged in.
func (s *Server) user(r *http.Request) (account.User, error) {
	u, err := s.accounts().session(r)
	if err != nil {
		return u, accountFailure(err)
	}
	return u, nil
}

func (s *Server) logOutEverywhere(w http.ResponseWriter, r *http.Request,
	u account.User) (any, error) {
	if err := s.services.Accounts.LogOutEverywhere(r.Context(), u.ID); err != nil {
		return nil, err
	}
	http.SetCookie(w, sessionCookie(s.cfg, ""))
	return done, nil
}

type sessionState struct {
	account.Session
	Current bool `json:"current"` // this request's
}

// sessions are those of the account that is logged in, the last used first.
func (s *Server) sessions(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	open, err := s.services.Accounts.Sessions(r.Context(), u.ID)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(open, func(a, b account.Session) int { return b.Seen.Compare(a.Seen) })
	current := account.SessionID(sessionToken(r, s.cfg))
	list := make([]sessionState, len(open))
	for i, session := range open {
		list[i] = sessionState{session, session.ID == current}
	}
	return map[string]any{"sessions": list}, nil
}

// endSession ends one of the sessions of the account that is logged in.
func (s *Server) endSession(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	id := r.PathValue("id")
	if err := s.services.Accounts.EndSession(r.Context(), u.ID, id); err != nil {
		if isNotFound(err) {
			return nil, failure.With(err, failure.NotFound,
				"your account has no such session; GET /api/me/sessions lists them")
		}
		return nil, err
	}
	if id == account.SessionID(sessionToken(r, s.cfg)) {
		http.SetCookie(w, sessionCookie(s.cfg, ""))
	}
	return done, nil
}

func isNotFound(err error) bool { return errors.Is(err, account.ErrNotFound) }

// requestReset sends a mail to an address that is known, and says the same of any.
func (s *Server) requestReset(_ http.ResponseWriter, r *http.Request, in credentials) (any, error) {
	address := clientAddress(r, s.cfg.TrustedProxies)
	if err := s.accounts().human(r, in.BotToken, address); err != nil {
		return nil, err
	}
	if err := s.services.Accounts.RequestReset(r.Context(), in.Email, address.String()); err != nil {
		return nil, accountFailure(err)
	}
	return answered{http.StatusAccepted,
		message{"if there is an account with this address, a mail is on its way"}}, nil
}

func (s *Server) reset(_ http.ResponseWriter, r *http.Request, in oneTimeToken) (any, error) {
	address := clientAddress(r, s.cfg.TrustedProxies).String()
	user, err := s.services.Accounts.Reset(r.Context(), in.Token, in.Password, address)
	if err != nil {
		return nil, accountFailure(err)
	}
	return done, s.welcome(r.Context(), user) // a reset confirms the address too
}

type passwordChange struct {
	Old string `json:"old"`
	New string `json:"new"`
}

func (s *Server) changePassword(w http.ResponseWriter, r *http.Request,
	in passwordChange) (any, error) {
	u, err := s.user(r)
	if err != nil {
		return nil, err
	}
	if err := s.services.Accounts.ChangePassword(r.Context(), u.ID, in.Old, in.New); err != nil {
		return nil, accountFailure(err)
	}
	http.SetCookie(w, sessionCookie(s.cfg, "")) // all sessions have ended
	return done, nil
}

type meAnswer struct {
	UserID  string       `json:"userId"`
	Email   string       `json:"email,omitempty"`
	Kind    string       `json:"kind"`
	Role    string       `json:"role,omitempty"`
	IsTrial bool         `json:"isTrial"`
	Account accountState `json:"account"`
	useList
	Refusals []refusalAnswer `json:"refusals"` // of the last minutes with some, newest first
}

// useList is a part of the uses of somebody, the newest first.
type useList struct {
	Uses  []useAnswer `json:"uses"`
	Older string      `json:"older,omitempty"` // what after takes to go on; empty at the end
}

type useAnswer struct {
	At      time.Time `json:"at"`
	Outcome string    `json:"outcome"`
	Charged int       `json:"charged"`
}

// refusalAnswer counts the requests of a minute that were refused alike.
type refusalAnswer struct {
	Minute   time.Time `json:"minute"` // when it began
	Outcome  string    `json:"outcome"`
	Requests int       `json:"requests"`
}

const usesShown = 100 // and sums of refusals

// me is the account that is logged in.
func (s *Server) me(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	return s.about(r.Context(), u, usesShown)
}

func (s *Server) about(ctx context.Context, u account.User, uses int) (*meAnswer, error) {
	state, err := s.credits(ctx, userOwner(u.ID))
	if err != nil {
		return nil, err
	}
	list, err := s.usesOf(ctx, userOwner(u.ID), usage.Place{}, uses)
	if err != nil {
		return nil, err
	}
	refusals, err := s.refusalsOf(ctx, userOwner(u.ID), uses)
	if err != nil {
		return nil, err
	}
	return &meAnswer{UserID: u.ID, Email: u.Email, Kind: string(u.Kind), Role: u.Role,
		IsTrial: !u.Bought, Account: state, useList: list, Refusals: refusals}, nil
}

func (s *Server) refusalsOf(ctx context.Context, owner string, limit int) ([]refusalAnswer, error) {
	known, err := s.services.History.Refusals(ctx, owner, limit)
	if err != nil {
		return nil, err
	}
	list := make([]refusalAnswer, len(known))
	for i, r := range known {
		list[i] = refusalAnswer{r.Minute, r.Outcome, r.Requests}
	}
	return list, nil
}

func (s *Server) usesOf(ctx context.Context, owner string, from usage.Place,
	limit int) (useList, error) {
	history, next, err := s.services.History.History(ctx, owner, from, limit)
	if err != nil {
		return useList{}, err
	}
	list := useList{Uses: make([]useAnswer, len(history))}
	for i, use := range history {
		list.Uses[i] = useAnswer{use.At, use.Outcome, use.Charged}
	}
	if next != (usage.Place{}) {
		list.Older = strconv.FormatInt(next.At.UnixMicro(), 10) + "." + next.ID
	}
	return list, nil
}

// placeAsked reads where a list of uses is to go on.
func placeAsked(r *http.Request) (usage.Place, error) {
	text, _, err := queryText(r, "after")
	if err != nil {
		return usage.Place{}, err
	}
	at, id, ok := strings.Cut(text, ".")
	micros, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil || id == "" {
		return usage.Place{}, failure.New(failure.BadParameter,
			"after must be what an earlier answer calls older, not %.40q", text)
	}
	return usage.Place{At: time.UnixMicro(micros), ID: id}, nil
}

// myUses goes on with the uses of the account that is logged in.
func (s *Server) myUses(_ http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	from, err := placeAsked(r)
	if err != nil {
		return nil, err
	}
	return s.usesOf(r.Context(), userOwner(u.ID), from, usesShown)
}

const usesExported = 10_000 // and sums of refusals

// export is everything that is known of the account that is logged in.
func (s *Server) export(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	about, err := s.about(r.Context(), u, usesExported)
	if err != nil {
		return nil, err
	}
	export, err := s.services.Accounts.Export(r.Context(), u.ID)
	if err != nil {
		return nil, err
	}
	w.Header().Set("Content-Disposition", `attachment; filename="unink-account.json"`)
	return map[string]any{"account": export, "credits": about.Account, "uses": about.Uses,
		"refusals": about.Refusals}, nil
}

// deleteMe deletes the account that is logged in. Its movements of credits stay, under an
// identifier that means nobody any more.
func (s *Server) deleteMe(w http.ResponseWriter, r *http.Request, u account.User) (any, error) {
	if _, err := s.services.Credits.RevokeOwner(
		r.Context(), userOwner(u.ID), "account deleted",
	); err != nil {
		return nil, err
	}
	if err := s.services.History.Forget(r.Context(), userOwner(u.ID)); err != nil {
		return nil, err
	}
	http.SetCookie(w, sessionCookie(s.cfg, ""))
	return done, s.services.Accounts.Delete(r.Context(), u.ID)
}

// catalogueAnswer is what is sold, and how.
type catalogueAnswer struct {
	credit.Catalogue
	Online  bool   `json:"online"`            // POST /api/checkout sells
	Contact string `json:"contact,omitempty"` // the e-mail address of who sells otherwise
}

func (s *Server) catalogue(http.ResponseWriter, *http.Request) (any, error) {
	return catalogueAnswer{s.services.Catalogue, s.services.Selling != nil, s.cfg.Contact}, nil
}

type order struct {
	Plan  string `json:"plan"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Slug  string `json:"slug"`
}

type redirect struct {
	URL string `json:"url"`
}

// checkout begins a purchase at Stripe. A web pack needs a log-in, since it is for an account.
func (s *Server) checkout(_ http.ResponseWriter, r *http.Request, in order) (any, error) {
	if s.services.Selling == nil {
		return nil, failure.New(failure.NotFound, "nothing is sold here online; ask the operator")
	}
	plan, known := s.services.Catalogue.Plan(in.Plan)
	if !known {
		return nil, failure.New(failure.BadParameter,
			"there is no plan %.64q; GET /api/catalogue lists them", in.Plan)
	}
	buyer := billing.Buyer{Email: in.Email, Name: in.Name, Slug: in.Slug}
	if plan.Entry == credit.Web {
		u, err := s.user(r)
		if err != nil {
			return nil, err
		}
		buyer = billing.Buyer{Email: u.Email, UserID: u.ID}
	}
	back := pricing
	if plan.Entry == credit.Web {
		back = "/account"
	}
	url, err := s.services.Selling.Checkout(r.Context(), plan.ID, buyer,
		s.cfg.PublicURL+back+"?bought="+plan.ID, s.cfg.PublicURL+pricing)
	if err != nil {
		return nil, err
	}
	return redirect{url}, nil
}

const maxWebhookBody = 1 << 20

// stripeWebhook takes Stripe's events. An error makes Stripe send the event again.
func (s *Server) stripeWebhook(w http.ResponseWriter, r *http.Request) (any, error) {
	if s.services.Selling == nil {
		return nil, failure.New(failure.NotFound, "Stripe is not configured here")
	}
	var payload []byte
	err := s.readBody(w, r, maxWebhookBody, func() (err error) {
		payload, err = io.ReadAll(r.Body)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.services.Selling.Webhook(r.Context(), payload, r.Header.Get("Stripe-Signature"))
	if errors.Is(err, billing.ErrSignature) {
		return nil, failure.With(err, failure.Unverified, "the signature is wrong or too old")
	}
	return done, err
}
