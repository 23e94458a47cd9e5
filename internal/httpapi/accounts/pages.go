package accounts

import "net/http"

// mountPages adds the pages of people who have accounts, or want one.
func (a *Accounts) mountPages(mux *http.ServeMux) {
	signIn := func(*http.Request) any {
		return signInPage{a.Services.Accounts.Provider(), a.Config.AccountCredits}
	}
	mux.Handle("GET /sign-up", a.pages.Page("sign-up", signIn))
	mux.Handle("GET /log-in", a.pages.Page("log-in", signIn))
	fromMail := func(r *http.Request) any { return linkPage{r.URL.Query().Get("token") != ""} }
	mux.Handle("GET /verify", a.pages.Page("verify", fromMail))
	mux.Handle("GET /reset", a.pages.Page("reset", fromMail))
	mux.Handle("GET /pricing", a.pages.Page("pricing", func(*http.Request) any {
		return a.pricingPage()
	}))
}

// signInPage is what the pages about logging in show.
type signInPage struct {
	Provider string // the host of whom to sign in with besides; empty where there is nobody
	Credits  int    // of a new account
}

// linkPage is what the pages show that mails link to.
type linkPage struct {
	Token bool // the link has one
}
