package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"unink/internal/account"
	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/state"
	"unink/internal/usage"
)

const passwordOfAll = "correct horse battery"

// member makes an account and logs in.
func (s *accountServer) member(email, role string) (session string) {
	s.t.Helper()
	if _, err := s.Services.Accounts.CreateUser(
		s.t.Context(), email, passwordOfAll, role,
	); err != nil {
		s.t.Fatal(err)
	}
	return s.logIn(email, passwordOfAll)
}

// bought makes a customer with a token.
func (s *accountServer) bought(email, slug string) (c account.Customer, token string) {
	s.t.Helper()
	c, _, err := s.Services.Accounts.CreateCustomer(s.t.Context(), email, "Dev", slug, "")
	if err != nil {
		s.t.Fatal(err)
	}
	token, _, err = s.Services.Accounts.NewToken(s.t.Context(), c.ID, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	return c, token
}

// authorized asks the developer entry point as a customer.
func (s *accountServer) authorized(slug, token string) int {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/account", nil)
	r.Host = slug + "." + s.Config.Domain
	r.Header.Set("Authorization", "Bearer "+token)
	return s.send(r).status
}

func TestSessionsAreListedAndEndedOneByOne(t *testing.T) {
	s := withAccounts(t)
	first := s.member("ann@example.com", "")
	second := s.logIn("ann@example.com", passwordOfAll)
	other := s.member("bob@example.com", "")
	type session struct {
		ID, Agent string
		Current   bool
	}
	var list struct{ Sessions []session }
	a := s.is(http.StatusOK, "GET", "/api/me/sessions", second, nil)
	if s.read(a, &list); len(list.Sessions) != 2 || strings.Contains(string(a.body), second) {
		t.Fatalf("sessions are %s", a.body)
	}
	of := map[bool]string{}
	for _, one := range list.Sessions {
		of[one.Current] = one.ID
	}
	if of[true] != account.SessionID(second) || of[false] != account.SessionID(first) {
		t.Errorf("sessions are %+v", list.Sessions)
	}
	s.is(http.StatusNotFound, "DELETE", "/api/me/sessions/"+of[false], other, nil)
	s.is(http.StatusNotFound, "DELETE", "/api/me/sessions/no", second, nil)
	s.is(http.StatusNoContent, "DELETE", "/api/me/sessions/"+of[false], second, nil)
	s.is(http.StatusUnauthorized, "GET", "/api/me", first, nil)
	s.is(http.StatusNotFound, "DELETE", "/api/me/sessions/"+of[false], second, nil)
	if a := s.is(http.StatusNoContent, "DELETE", "/api/me/sessions/"+of[true], second,
		nil); !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("the browser keeps its cookie: %v", a.header)
	}
	s.is(http.StatusUnauthorized, "GET", "/api/me/sessions", second, nil)
	s.is(http.StatusOK, "GET", "/api/me/sessions", other, nil)
}

func TestSessionsSayWhatOpenedThem(t *testing.T) {
	s := withAccounts(t)
	s.member("ann@example.com", "")
	r := httptest.NewRequest(http.MethodPost, "/api/log-in",
		strings.NewReader(`{"email":"ann@example.com","password":"`+passwordOfAll+`"}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	var in struct{ Session string }
	s.read(s.send(r), &in)
	if a := s.is(http.StatusOK, "GET", "/api/me/sessions", in.Session, nil); !strings.Contains(
		string(a.body), `"agent":"Firefox · Linux"`,
	) {
		t.Errorf("sessions are %s", a.body)
	}
}

func TestDevelopersSeeTheirOwnCustomer(t *testing.T) {
	s := withAccounts(t)
	session := s.member("dev@example.com", "")
	var list struct{ Customers []customerSummary }
	if s.read(s.is(http.StatusOK, "GET", "/api/customers", session, nil),
		&list); len(list.Customers) != 0 {
		t.Errorf("customers are %+v before anything was bought", list)
	}
	c, _ := s.bought("dev@example.com", "dev-shop")
	s.bought("else@example.com", "else-shop")
	if _, _, err := s.Services.Credits.Grant(t.Context(), credit.Grant{
		Owner: call.CustomerOwner(c.ID), Plan: "starter", Credits: 7, Expires: credit.Never,
		Source: "test",
	}); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	s.used(
		usage.Use{At: now.AddDate(0, 0, -40), Owner: call.CustomerOwner(c.ID), Outcome: "ok", Charged: 1},
		usage.Use{At: now, Owner: call.CustomerOwner(c.ID), Outcome: "ok", Charged: 1},
		usage.Use{At: now, Owner: call.CustomerOwner(c.ID), Outcome: "1005"},
		usage.Use{At: now, Owner: "customer:else", Outcome: "ok", Charged: 1},
	)
	s.read(s.is(http.StatusOK, "GET", "/api/customers", session, nil), &list)
	if len(list.Customers) != 1 || list.Customers[0].Slug != "dev-shop" ||
		list.Customers[0].Credits != 7 || list.Customers[0].URL != "http://dev-shop.localhost:8080" {
		t.Errorf("customers are %+v", list)
	}
	var details customerDetails
	s.read(s.is(http.StatusOK, "GET", "/api/customers/dev-shop", session, nil), &details)
	want := usage.Day{Day: now.Format(time.DateOnly), Uses: 2, Cleaned: 1, Charged: 1}
	if len(details.Days) != 1 || details.Days[0] != want || len(details.Uses) != 2 ||
		len(details.Refusals) != 1 || details.Refusals[0].Outcome != "1005" ||
		len(details.Packages) != 1 || len(details.Tokens) != 1 {
		t.Errorf("details are %+v", details)
	}
	for _, path := range []string{"/api/customers/else-shop", "/api/customers/nobody"} {
		s.is(http.StatusNotFound, "GET", path, session, nil)
		s.is(http.StatusNotFound, "POST", path+"/rotate", session, map[string]int{})
		s.is(http.StatusUnauthorized, "GET", path, "", nil)
	}
}

func TestRotatingATokenGivesTheOldOneItsGrace(t *testing.T) {
	s := withAccounts(t)
	session := s.member("dev@example.com", "")
	_, old := s.bought("dev@example.com", "dev-shop")
	const rotate = "/api/customers/dev-shop/rotate"
	var made state.NewToken
	s.read(s.is(http.StatusOK, "POST", rotate, session, map[string]int{"graceHours": 24}), &made)
	if s.authorized("dev-shop", old) != http.StatusOK ||
		s.authorized("dev-shop", made.Token) != http.StatusOK {
		t.Error("one of the tokens is not good in the grace period")
	}
	if left := time.Until(made.OthersEnd); left < 23*time.Hour || left > 24*time.Hour {
		t.Errorf("the others end in %v", left)
	}
	var again state.NewToken
	s.read(s.is(http.StatusOK, "POST", rotate, session, map[string]int{}), &again)
	if s.authorized("dev-shop", made.Token) != http.StatusUnauthorized ||
		s.authorized("dev-shop", old) != http.StatusUnauthorized ||
		s.authorized("dev-shop", again.Token) != http.StatusOK {
		t.Error("without a grace period the earlier tokens are not the ones that ended")
	}
	if strings.Contains(s.log.String(), again.Token) {
		t.Error("the log has the token")
	}
	if a := s.is(http.StatusOK, "GET", "/api/customers/dev-shop", session, nil); strings.Contains(
		string(a.body), again.Token[:20],
	) || strings.Count(string(a.body), `"created"`) != 2 {
		t.Errorf("the customer's page: %s", a.body)
	}
	s.is(http.StatusBadRequest, "POST", rotate, session, map[string]int{"graceHours": 169})
	s.is(http.StatusBadRequest, "POST", rotate, session, map[string]int{"graceHours": -1})
	s.is(http.StatusUnauthorized, "POST", rotate, "", map[string]int{})
	s.refuseAttempts = true
	s.is(http.StatusTooManyRequests, "POST", rotate, session, map[string]int{})
}

func TestRevokedCustomersAreGone(t *testing.T) {
	s := withAccounts(t)
	session := s.member("dev@example.com", "")
	c, _ := s.bought("dev@example.com", "dev-shop")
	if err := s.Services.Accounts.RevokeCustomer(t.Context(), c.ID); err != nil {
		t.Fatal(err)
	}
	s.is(http.StatusNotFound, "GET", "/api/customers/dev-shop", session, nil)
	s.is(http.StatusNotFound, "POST", "/api/customers/dev-shop/rotate", session, map[string]int{})
}

// Whoever signs up with somebody's address, or asks the provider for it, has nothing of theirs
// before the address is confirmed.
func TestUnconfirmedAddressesHaveNoCustomer(t *testing.T) {
	s := withAccounts(t)
	s.bought("dev@example.com", "dev-shop")
	if _, err := s.Services.Accounts.CustomerOf(
		t.Context(), account.User{ID: "usr_1", Kind: account.Registered, Email: "dev@example.com"},
	); !errors.Is(err, account.ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// GET /account is a page for people and the API for programs, which are told apart by what they
// send.
func TestAccountIsAPageAndAnAPI(t *testing.T) {
	s := withAccounts(t)
	session := s.member("dev@example.com", "")
	_, token := s.bought("dev@example.com", "dev-shop")
	for name, c := range map[string]struct {
		host, accept, authorization, cookie string
		status                              int
		content                             string
	}{
		"browser": {"localhost:8080", "text/html,*/*;q=0.8", "", "unink=" + session,
			http.StatusOK, "text/html; charset=utf-8"},
		"browser, not logged in": {"localhost:8080", "text/html", "", "", http.StatusSeeOther,
			"text/html; charset=utf-8"},
		"program": {"dev-shop.localhost", "*/*", "Bearer " + token, "", http.StatusOK,
			contentType},
		"program that says text/html": {"dev-shop.localhost", "text/html", "Bearer " + token, "",
			http.StatusOK, contentType},
		"browser at a customer's": {"dev-shop.localhost", "text/html", "", "",
			http.StatusUnauthorized, contentType},
		"program without a token": {"localhost:8080", "*/*", "", "", http.StatusUnauthorized,
			contentType},
	} {
		r := httptest.NewRequest(http.MethodGet, "/account", nil)
		r.Host = c.host
		for header, value := range map[string]string{
			"Accept": c.accept, "Authorization": c.authorization, "Cookie": c.cookie,
		} {
			if value != "" {
				r.Header.Set(header, value)
			}
		}
		rec := httptest.NewRecorder()
		s.Handler().ServeHTTP(rec, r)
		if rec.Code != c.status || rec.Header().Get("Content-Type") != c.content {
			t.Errorf("%s: %d %s", name, rec.Code, rec.Header())
		}
	}
}

// A list of uses that is longer than an answer goes on where the answer ends, for the account and
// for its customer.
func TestOlderUses(t *testing.T) {
	s := withAccounts(t)
	session := s.member("ann@example.com", "")
	u, err := s.Services.Accounts.FindUser(t.Context(), "ann@example.com")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := s.bought("ann@example.com", "ann-shop")
	var uses []usage.Use
	for i := range state.Shown + 3 {
		at := time.Now().Add(-time.Duration(i) * time.Minute)
		uses = append(uses, usage.Use{At: at, Owner: call.UserOwner(u.ID), Outcome: fmt.Sprint(i),
			Charged: 1},
			usage.Use{At: at, Owner: call.CustomerOwner(c.ID), Outcome: fmt.Sprint(i), Charged: 1})
	}
	s.used(uses...)
	for _, path := range []string{"/api/me", "/api/customers/ann-shop"} {
		var first, rest state.UseList
		s.read(s.is(http.StatusOK, "GET", path, session, nil), &first)
		s.read(s.is(http.StatusOK, "GET", path+"/uses?after="+url.QueryEscape(first.Older), session, nil),
			&rest)
		if len(first.Uses) != state.Shown || len(rest.Uses) != 3 ||
			rest.Uses[0].Outcome != fmt.Sprint(state.Shown) || rest.Older != "" {
			t.Errorf("%s: %d uses, then %+v", path, len(first.Uses), rest)
		}
		for _, after := range []string{"", "x", "1", "1.", "x.use_1", "99999999999999999999.use_1"} {
			s.is(http.StatusBadRequest, "GET", path+"/uses?after="+after, session, nil)
		}
		s.is(http.StatusUnauthorized, "GET", path+"/uses?after=1.use_1", "", nil)
	}
	s.is(http.StatusNotFound, "GET", "/api/customers/bob-shop/uses?after=1.use_1", session, nil)
}

// The name of a scheme is read in any case (RFC 9110, 11.1), on both entry points.
func TestBearerInAnyCase(t *testing.T) {
	s := withAccounts(t)
	session := s.member("ann@example.com", "")
	c, token := s.bought("dev@example.com", "dev-shop")
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		r := httptest.NewRequest(http.MethodGet, "/api/me", nil)
		r.Header.Set("Authorization", scheme+" "+session)
		if a := s.send(r); a.status != http.StatusOK {
			t.Errorf("%s: a session got %d %s", scheme, a.status, a.body)
		}
		r = httptest.NewRequest(http.MethodGet, "/account", nil)
		r.Host = c.Slug + "." + s.Config.Domain
		r.Header.Set("Authorization", scheme+" "+token)
		if a := s.send(r); a.status != http.StatusOK {
			t.Errorf("%s: a token got %d %s", scheme, a.status, a.body)
		}
	}
}

// A domain that is nobody's answers a bad token as a customer's does, so that it tells no stranger
// whose it is.
func TestUnknownDomainsAreNotToldApart(t *testing.T) {
	s := withAccounts(t)
	c, token := s.bought("dev@example.com", "dev-shop")
	ask := func(slug, token string) string {
		r := httptest.NewRequest(http.MethodPost, "/cleanup", strings.NewReader("{}"))
		r.Host = slug + "." + s.Config.Domain
		r.Header.Set("Content-Type", contentType)
		if token != "" {
			r.Header.Set("Authorization", token)
		}
		a := s.send(r)
		return fmt.Sprint(a.status, string(a.body), a.header.Get("X-Credits-Remaining"))
	}
	for _, bad := range []string{"", "Bearer " + strings.ToUpper(token), "Basic " + token,
		"Bearer x"} {
		if known, unknown := ask(c.Slug, bad), ask("nobody", bad); known != unknown {
			t.Errorf("%q: a customer's domain says %s, nobody's %s", bad, known, unknown)
		}
	}
}
