// Package accounts is what people do with their accounts: sign up, log in, see and export what is
// theirs, buy.
package accounts

import (
	"context"
	"net/http"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/address"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/failure"
	"unink/internal/httpapi/session"
	"unink/internal/httpapi/setup"
	"unink/internal/httpapi/state"
	"unink/internal/webui"
)

// Accounts answers what people do with their accounts.
type Accounts struct {
	*setup.Setup
	entry    *call.Entry
	pages    *webui.UI
	sessions session.Sessions
	state    state.Reader
}

// New makes the accounts' part of a site.
func New(s *setup.Setup, site *call.Entry, pages *webui.UI) *Accounts {
	return &Accounts{s, site, pages, session.Sessions{Setup: s}, state.Reader{Setup: s}}
}

// Mount adds the routes. All bodies are JSON.
func (a *Accounts) Mount(mux *http.ServeMux) {
	for pattern, answer := range map[string]call.Answerer{
		"POST /api/anonymous-accounts":  a.anonymousAccount,
		"GET /api/bot-challenge":        a.botChallenge,
		"POST /api/sign-up":             call.WithBody(a.signUp),
		"POST /api/verify":              call.WithBody(a.verify),
		"POST /api/log-in":              call.WithBody(a.logIn),
		"POST /api/log-out":             a.logOut,
		"POST /api/log-out-everywhere":  a.sessions.ForUser(a.logOutEverywhere),
		"POST /api/password-reset":      call.WithBody(a.requestReset),
		"POST /api/password-reset/done": call.WithBody(a.reset),
		"POST /api/password":            call.WithBody(a.changePassword),
		"GET /api/me":                   a.sessions.ForUser(a.me),
		"DELETE /api/me":                a.sessions.ForUser(a.deleteMe),
		"GET /api/me/export":            a.sessions.ForUser(a.export),
		"GET /api/me/uses":              a.sessions.ForUser(a.myUses),
		"GET /api/me/sessions":          a.sessions.ForUser(a.openSessions),
		"DELETE /api/me/sessions/{id}":  a.sessions.ForUser(a.endSession),
		"GET /api/catalogue":            a.catalogue,
		"POST /api/checkout":            call.WithBody(a.checkout),
		"POST /api/stripe/webhook":      a.stripeWebhook,
	} {
		mux.Handle(pattern, a.entry.Handler(answer))
	}
	a.mountSignIn(mux)
	a.mountPages(mux)
}

// from is the address that a request comes from.
func (a *Accounts) from(r *http.Request) string {
	return address.Client(r, a.Config.TrustedProxies).String()
}

type identity struct {
	UserID  string `json:"userId"`
	Credits int    `json:"credits"`
}

// anonymousAccount establishes an app's account on a device, or finds it again.
func (a *Accounts) anonymousAccount(_ http.ResponseWriter, r *http.Request) (any, error) {
	device := r.Header.Get("X-Device-Id")
	if r.Header.Get("X-User-Type") != "anonymous" || device == "" {
		return nil, failure.New(failure.BadParameter,
			"send the headers X-User-Type: anonymous and X-Device-Id")
	}
	user, created, err := a.Services.Accounts.Anonymous(r.Context(), device, a.from(r),
		a.Config.AnonymousDaily)
	if err != nil {
		return nil, session.Failure(err)
	}
	if err := a.welcome(r.Context(), user); err != nil {
		return nil, err
	}
	credits, err := a.Services.Credits.Balance(r.Context(), call.UserOwner(user.ID))
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
	}
	return call.Answered{Status: status, Body: identity{user.ID, credits}}, nil
}

// welcome gives a new account its first credits, once for each person.
func (a *Accounts) welcome(ctx context.Context, u account.User) error {
	credits := a.Config.AccountCredits
	if u.Kind == account.Anonymous {
		credits = a.Config.AnonymousCredits
	}
	if credits == 0 {
		return nil
	}
	if first, err := a.Services.Accounts.Welcome(ctx, u); err != nil || !first {
		return err
	}
	_, _, err := a.Services.Credits.Grant(ctx, credit.Grant{
		Owner: call.UserOwner(u.ID), Plan: "welcome", Credits: credits, Expires: credit.Never,
		Source: account.WelcomePrefix + u.ID,
	})
	return err
}

// botChallenge is what a bot-check token is made from.
func (a *Accounts) botChallenge(http.ResponseWriter, *http.Request) (any, error) {
	if key := a.Services.TurnstileKey; key != "" {
		return map[string]string{"turnstile": key}, nil
	}
	return a.Services.Challenge()
}

type credentials struct {
	Email    string `json:"email"`
	Password string `json:"password"`
	BotToken string `json:"cfTurnstileToken"`
}

// signUp always answers the same, whether the address is known or not: the rest is told by mail.
func (a *Accounts) signUp(_ http.ResponseWriter, r *http.Request, in credentials) (any, error) {
	if err := a.sessions.CheckHuman(r, in.BotToken); err != nil {
		return nil, err
	}
	if err := a.Services.Accounts.SignUp(r.Context(), in.Email, in.Password,
		a.from(r)); err != nil {
		return nil, session.Failure(err)
	}
	return call.Answered{Status: http.StatusAccepted,
		Body: message{"we have sent a mail to this address; follow its link to go on"}}, nil
}

type message struct {
	Message string `json:"message"`
}

type oneTimeToken struct {
	Token    string `json:"token"`
	Password string `json:"password,omitempty"`
}

// verify confirms an e-mail address by the token that was sent there.
func (a *Accounts) verify(_ http.ResponseWriter, r *http.Request, in oneTimeToken) (any, error) {
	user, err := a.Services.Accounts.Verify(r.Context(), in.Token)
	if err != nil {
		return nil, session.Failure(err)
	}
	return call.Done, a.welcome(r.Context(), user)
}

type loggedIn struct {
	UserID  string `json:"userId"`
	Session string `json:"session"` // for apps: Authorization: Bearer
}

// logIn opens a session. Browsers keep it in a cookie, apps take it from the answer.
func (a *Accounts) logIn(w http.ResponseWriter, r *http.Request, in credentials) (any, error) {
	token, user, err := a.Services.Accounts.LogIn(
		r.Context(), in.Email, in.Password, a.from(r), agentName(r.UserAgent()),
	)
	if err != nil {
		return nil, session.Failure(err)
	}
	http.SetCookie(w, session.Cookie(a.Config, token))
	return loggedIn{user.ID, token}, nil
}

func (a *Accounts) logOut(w http.ResponseWriter, r *http.Request) (any, error) {
	if token := session.Token(r, a.Config); token != "" {
		if err := a.Services.Accounts.LogOut(r.Context(), token); err != nil {
			return nil, err
		}
	}
	http.SetCookie(w, session.Cookie(a.Config, ""))
	return call.Done, nil
}

// requestReset sends a mail to an address that is known, and says the same of any.
func (a *Accounts) requestReset(_ http.ResponseWriter, r *http.Request, in credentials) (any,
	error) {
	if err := a.sessions.CheckHuman(r, in.BotToken); err != nil {
		return nil, err
	}
	if err := a.Services.Accounts.RequestReset(r.Context(), in.Email, a.from(r)); err != nil {
		return nil, session.Failure(err)
	}
	return call.Answered{Status: http.StatusAccepted,
		Body: message{"if there is an account with this address, a mail is on its way"}}, nil
}

func (a *Accounts) reset(_ http.ResponseWriter, r *http.Request, in oneTimeToken) (any, error) {
	user, err := a.Services.Accounts.Reset(r.Context(), in.Token, in.Password, a.from(r))
	if err != nil {
		return nil, session.Failure(err)
	}
	return call.Done, a.welcome(r.Context(), user) // a reset confirms the address too
}

type passwordChange struct {
	Old string `json:"old"`
	New string `json:"new"`
}

func (a *Accounts) changePassword(w http.ResponseWriter, r *http.Request,
	in passwordChange) (any, error) {
	u, err := a.sessions.User(r)
	if err != nil {
		return nil, err
	}
	if err := a.Services.Accounts.ChangePassword(r.Context(), u.ID, in.Old, in.New); err != nil {
		return nil, session.Failure(err)
	}
	http.SetCookie(w, session.Cookie(a.Config, "")) // all sessions have ended
	return call.Done, nil
}
