package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"unink/internal/account"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/state"
	"unink/internal/operator"
	"unink/internal/store/storetest"
)

// operatorRequests are what operators can ask for, each with a body that would be right.
func operatorRequests(customer, token string) map[string]map[string]any {
	path := "POST /api/operator/customers/" + customer
	why := map[string]any{"reason": "she asked"}
	return map[string]map[string]any{
		"GET /api/operator/accounts?find=dev": nil,
		"GET /api/operator/acts":              nil,
		"POST /api/operator/grants": {
			"to": customer, "credits": 3, "months": 12, "reason": "she asked",
		},
		path + "/rotate":                      why,
		path + "/tokens/" + token + "/revoke": why,
		path + "/close":                       why,
	}
}

// keyed posts a body with an Idempotency-Key, unless that is empty, and wants a status.
func (s *accountServer) keyed(status int, key, path, session, body string,
	headers ...string) answer {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+session)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	a := s.send(r)
	if a.status != status {
		s.t.Errorf("%s with key %.10q: status %d, want %d: %.200s", path, key, a.status, status,
			a.body)
	}
	return a
}

// acted is the log as an operator sees it.
func (s *accountServer) acted(session string) []operator.Entry {
	s.t.Helper()
	var list struct{ Acts []operator.Entry }
	s.read(s.is(http.StatusOK, "GET", "/api/operator/acts", session, nil), &list)
	return list.Acts
}

func TestOnlyOperatorsAct(t *testing.T) {
	s := withAccounts(t)
	c, token := s.bought("dev@example.com", "dev-shop")
	tokens, err := s.Services.Accounts.Tokens(t.Context(), c.ID)
	if err != nil || len(tokens) != 1 {
		t.Fatal(tokens, err)
	}
	member := s.member("ann@example.com", "")
	session := s.member("op@example.com", account.Operator)
	for name, body := range operatorRequests(c.Slug, tokens[0].ID) {
		method, path, _ := strings.Cut(name, " ")
		s.is(http.StatusUnauthorized, method, path, "", body)
		s.is(http.StatusNotFound, method, path, member, body)
		s.is(http.StatusUnauthorized, method, path, token, body)
		if method == http.MethodPost {
			s.is(http.StatusNotFound, method, path, member,
				map[string]string{"no": "body"}) // not even read
			s.keyed(http.StatusForbidden, "k", path, session, "{}", "Sec-Fetch-Site", "cross-site")
		}
	}
	if log := s.acted(session); len(log) > 0 || s.authorized(c.Slug, token) != http.StatusOK {
		t.Errorf("something happened: %+v", log)
	}
}

func TestOperatorsFindAndAct(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		s := withAccountsOn(t, address)
		c, token := s.bought("dev@example.com", "dev-shop")
		session := s.member("op@example.com", account.Operator)
		var found foundAnswer
		find := func() foundCustomer {
			t.Helper()
			s.read(s.is(http.StatusOK, "GET", "/api/operator/accounts?find=DEV", session, nil),
				&found)
			if len(found.Customers) != 1 || len(found.Users) > 0 || found.More {
				t.Fatalf("found %+v", found)
			}
			return found.Customers[0]
		}
		if got := find(); got.ID != c.ID || len(got.Tokens) != 1 || got.Credits != 0 {
			t.Errorf("found %+v", got)
		}
		s.keyed(http.StatusOK, "k", "/api/operator/grants", session,
			`{"to": "dev-shop", "credits": 3, "months": 12, "reason": " she asked "}`)
		if got := find(); got.Credits != 3 {
			t.Errorf("found %+v", got)
		}
		var made state.NewToken
		s.read(s.is(http.StatusOK, "POST", "/api/operator/customers/dev-shop/rotate", session,
			map[string]any{"graceHours": 1, "reason": "lost"}), &made)
		good := func(token string, want int) {
			t.Helper()
			if got := s.authorized(c.Slug, token); got != want {
				t.Errorf("a token is answered %d, want %d", got, want)
			}
		}
		good(token, http.StatusOK)
		good(made.Token, http.StatusOK)
		old := find().Tokens[1].ID
		path := "/api/operator/customers/" + c.ID
		s.is(http.StatusNoContent, "POST", path+"/tokens/"+old+"/revoke", session,
			reasoned{"leaked"})
		s.is(http.StatusNotFound, "POST", path+"/tokens/"+old+"/revoke", session,
			reasoned{"leaked"})
		good(token, http.StatusUnauthorized)
		good(made.Token, http.StatusOK)
		s.is(http.StatusNoContent, "POST", path+"/close", session, reasoned{"gone"})
		s.is(http.StatusNoContent, "POST", path+"/close", session, reasoned{"again"})
		good(made.Token, http.StatusUnauthorized)
		s.is(http.StatusNotFound, "POST", path+"/rotate", session, reasoned{"too late"})
		if got := find(); got.Revoked.IsZero() || len(got.Tokens) > 0 {
			t.Errorf("found %+v", got)
		}

		var me struct{ UserID string }
		s.read(s.is(http.StatusOK, "GET", "/api/me", session, nil), &me)
		want := []operator.Entry{
			{Kind: operator.Closed, Reason: "gone"},
			{Kind: operator.TokenEnded, Reason: "leaked"},
			{Kind: operator.Rotated, Reason: "lost"},
			{Kind: operator.Granted, Reason: "she asked", Credits: 3},
		}
		log := s.acted(session)
		if len(log) != len(want) {
			t.Fatalf("the log is %+v", log)
		}
		kinds := map[operator.Kind]operator.Entry{} // of one millisecond, the order is any
		for _, e := range log {
			kinds[e.Kind] = e
		}
		for _, w := range want {
			e := kinds[w.Kind]
			if e.Reason != w.Reason || e.Credits != w.Credits ||
				e.Target != call.CustomerOwner(c.ID) || e.Actor != call.UserOwner(me.UserID) ||
				e.ActorName != "op@example.com" || e.TargetName != "dev-shop" {
				t.Errorf("the log says %+v, want %+v", e, w)
			}
		}
	})
}

// A click that comes twice gives once; a key that comes with something else is refused.
func TestOperatorsGrantOnce(t *testing.T) {
	s := withAccounts(t)
	session := s.member("op@example.com", account.Operator)
	other := s.member("op2@example.com", account.Operator)
	owner := s.userWith(1)
	const path, body = "/api/operator/grants",
		`{"to": "pia@example.com", "credits": 3, "months": 12, "reason": "r"}`
	var first, again given
	s.read(s.keyed(http.StatusOK, "k", path, session, body), &first)
	s.read(s.keyed(http.StatusOK, "k", path, session, body), &again)
	if first.To != owner || first.Credits != 4 || again.Credits != 4 {
		t.Errorf("given %+v, then %+v", first, again)
	}
	s.keyed(http.StatusBadRequest, "k", path, session, strings.Replace(body, "3", "4", 1))
	s.left(owner, 4)
	s.keyed(http.StatusOK, "other", path, session, body)
	s.keyed(http.StatusOK, "k", path, other, body) // keys are each operator's own
	s.left(owner, 10)
	if log := s.acted(session); len(log) != 3 {
		t.Errorf("the log is %+v", log)
	}
}

func TestOperatorsInputIsBounded(t *testing.T) {
	s := withAccounts(t)
	session := s.member("op@example.com", account.Operator)
	owner := s.userWith(1)
	c, token := s.bought("dev@example.com", "dev-shop")
	const grants = "/api/operator/grants"
	gift := func(to string, credits, months int, reason string) string {
		return fmt.Sprintf(`{"to": "%s", "credits": %d, "months": %d, "reason": "%s"}`,
			to, credits, months, reason)
	}
	long := strings.Repeat("é", operator.MaxReason+1)
	for name, body := range map[string]string{
		"no credits": gift(pia, 0, 12, "r"), "negative": gift(pia, -1, 12, "r"),
		"many":    gift(pia, maxGrant+1, 12, "r"),
		"no time": gift(pia, 1, 0, "r"), "long": gift(pia, 1, maxGrantMonths+1, "r"),
		"no reason": gift(pia, 1, 12, " "), "long reason": gift(pia, 1, 12, long),
		"two lines":     gift(pia, 1, 12, `a\nb`),
		"a fraction":    `{"to": "pia@example.com", "credits": 1.5, "months": 12, "reason": "r"}`,
		"unknown field": `{"who": "x"}`,
	} {
		t.Run(name, func(*testing.T) {
			s.keyed(http.StatusBadRequest, "k", grants, session, body)
		})
	}
	s.keyed(http.StatusBadRequest, "", grants, session, gift(pia, 1, 12, "r"))
	s.keyed(http.StatusBadRequest, strings.Repeat("k", maxKeyBytes+1), grants, session,
		gift(pia, 1, 12, "r"))
	s.keyed(http.StatusNotFound, "k", grants, session, gift("nobody", 1, 12, "r"))
	s.left(owner, 1)

	for _, reason := range []string{"", " ", long, "a\nb"} {
		for _, act := range []string{"/rotate", "/close", "/tokens/tok_1/revoke"} {
			s.is(http.StatusBadRequest, "POST", "/api/operator/customers/"+c.ID+act, session,
				reasoned{reason})
		}
	}
	for _, hours := range []int{-1, maxGraceHours + 1} {
		s.is(http.StatusBadRequest, "POST", "/api/operator/customers/"+c.ID+"/rotate", session,
			map[string]any{"graceHours": hours, "reason": "r"})
	}
	s.is(http.StatusNotFound, "POST", "/api/operator/customers/nobody/close", session,
		reasoned{"r"})
	for _, find := range []string{"", "a", "%20a%20", strings.Repeat("a", operator.MaxFind+1)} {
		s.is(http.StatusBadRequest, "GET", "/api/operator/accounts?find="+find, session, nil)
	}
	for _, before := range []string{"", "x", "usr_1"} {
		s.is(http.StatusBadRequest, "GET", "/api/operator/acts?before="+before, session, nil)
	}
	if log := s.acted(session); len(log) > 0 || s.authorized(c.Slug, token) != http.StatusOK {
		t.Errorf("something happened: %+v", log)
	}
}

func TestActsArePaged(t *testing.T) {
	s := withAccounts(t)
	session := s.member("op@example.com", account.Operator)
	s.userWith(1)
	for i := range actsShown + 1 {
		s.keyed(http.StatusOK, strconv.Itoa(i), "/api/operator/grants", session,
			`{"to": "pia@example.com", "credits": 1, "months": 1, "reason": "r"}`)
	}
	var first, second actList
	s.read(s.is(http.StatusOK, "GET", "/api/operator/acts", session, nil), &first)
	s.read(s.is(http.StatusOK, "GET", "/api/operator/acts?before="+first.Older, session, nil),
		&second)
	if len(first.Acts) != actsShown || len(second.Acts) != 1 || second.Older != "" ||
		second.Acts[0].ID >= first.Older {
		t.Errorf("%d acts, then %+v", len(first.Acts), second)
	}
}
