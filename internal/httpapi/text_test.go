package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"unink/internal/credit"
	"unink/internal/httpapi/call"
	"unink/internal/store/storetest"
)

// unstorable are texts that PostgreSQL refuses.
var unstorable = []string{"\x80", "\xff\xfe", "a\x00b", "\xc0\xaf", "\xed\xa0\x80"}

// No text from outside reaches a database that the database refuses: each field that takes one is
// sent them all, on both databases. None is a mistake of the program's, and none is charged.
func TestTextsThatCannotBeStored(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		s := withAccountsOn(t, address)
		session := s.member("ann@example.com", "operator")
		c, token := s.bought("ann@example.com", "ann-shop")
		if _, _, err := s.Services.Credits.Grant(
			t.Context(), credit.Grant{Owner: call.CustomerOwner(c.ID), Credits: 5, Expires: credit.Never,
				Source: "test"},
		); err != nil {
			t.Fatal(err)
		}
		send := func(what, method, path, host, content, body string, header http.Header) {
			t.Helper()
			r := httptest.NewRequest(method, path, strings.NewReader(body))
			r.Host = host
			r.Header.Set("Authorization", "Bearer "+session)
			r.Header.Set("Content-Type", content)
			maps.Copy(r.Header, header)
			rec := &deadlineRecorder{httptest.NewRecorder()}
			s.Handler().ServeHTTP(rec, r)
			if rec.Code >= 500 {
				t.Errorf("%s: %d %s", what, rec.Code, rec.Body)
			}
		}
		page := mediaJSON(picture(t, 32, 32), "")
		for _, text := range unstorable {
			escaped := url.QueryEscape(text)
			for _, path := range []string{"/api/me/uses?after=1." + escaped,
				"/api/customers/ann-shop/uses?after=1." + escaped, "/api/operator/statistics?days=" + escaped,
				"/api/customers/" + escaped, "/api/customers/" + escaped + "/uses?after=1.x", "/api/me/uses?" +
					escaped + "=x", "/verify?token=" + escaped} {
				send("GET "+path, "GET", path, "localhost", "", "", nil)
			}
			send("a session", "DELETE", "/api/me/sessions/"+strings.Repeat(escaped, 32/len(text)),
				"localhost", "", "", nil)
			for path, keys := range map[string][]string{
				"/api/sign-up": {"email", "password", "cfTurnstileToken"}, "/api/verify": {"token"}, "/api/log-in": {"email", "password"},
				"/api/password-reset": {"email"}, "/api/password-reset/done": {"token", "password"}, "/api/password": {"old", "new"},
				"/api/checkout": {"plan", "email", "name", "slug"}, "/api/customers/" + escaped + "/rotate": {"graceHours"}, "/api/stripe/webhook": {"id"},
			} {
				for _, key := range keys {
					for _, value := range []string{text,
						strings.NewReplacer("\x00", `\u0000`, "\x80", `\udc80`).Replace(text), "ann" + text +
							"@example.com"} {
						send(path+" "+key, "POST", path, "localhost", "application/json",
							`{"`+key+`":"`+value+`"}`, nil)
					}
				}
			}
			for _, name := range []string{"userId", "deviceId", "cfTurnstileToken", "preserveColor",
				"pageSlug", "output_format", "remove", "isPdfProcessing", text} {
				body, content := formOf(t, field{name: name, value: text},
					field{name: "image", data: picture(t, 32, 32)})
				send("field "+name, "POST", "/api/process-image", "localhost", content, fmt.Sprint(body), nil)
				send("guest's field "+name, "POST", "/api/process-image", "localhost", content,
					fmt.Sprint(body), http.Header{"Authorization": nil})
			}
			for _, name := range []string{"Idempotency-Key", "X-Device-Id", "X-User-Type", "Authorization",
				"Cookie", "User-Agent", "Accept-Language", "X-Forwarded-For", "Stripe-Signature"} {
				form, content := formOf(t, field{name: "image", data: picture(t, 32, 32)},
					field{name: "userId", value: "x"})
				header := http.Header{name: {text}}
				send("header "+name, "POST", "/api/process-image", "localhost", content,
					fmt.Sprint(form), header)
				send("anonymous header "+name, "POST", "/api/anonymous-accounts", "localhost", "", "",
					http.Header{"X-User-Type": {"anonymous"}, name: {text}})
				send("developer's header "+name, "POST", "/cleanup", c.Slug+".localhost", "application/json",
					page, http.Header{"Authorization": {"Bearer " + token}, name: {text}})
			}
			send("a log-in's agent", "POST", "/api/log-in", "localhost", "application/json",
				`{"email":"ann@example.com","password":"`+passwordOfAll+`"}`, http.Header{"User-Agent": {text}})
			send("a host", "POST", "/cleanup", text+".localhost", "application/json", page,
				http.Header{"Authorization": {"Bearer " + token}})
			for _, key := range []string{"media_id", "output_format", text} {
				send("key "+key, "POST", "/cleanup", c.Slug+".localhost", "application/json",
					`{"`+key+`":"`+text+`"}`, http.Header{"Authorization": {"Bearer " + token}})
			}
		}
		key := httptest.NewRequest(http.MethodPost, "/cleanup", strings.NewReader(page))
		key.Host = c.Slug + ".localhost"
		key.Header = http.Header{"Authorization": {"Bearer " + token},
			"Content-Type": {"application/json"}, "Idempotency-Key": {"\x80"}}
		if a := s.send(key); !is(t, a, http.StatusBadRequest, "", 1001) ||
			a.header.Get("X-Credits-Charged") != "0" {
			t.Errorf("a key that is not UTF-8: %d %s", a.status, a.body)
		}
	})
}

// What is asked for in a query is not passed over because the query is malformed.
func TestMalformedQueries(t *testing.T) {
	s := start(t, &fakeCleaner{})
	page := field{name: "image", data: picture(t, 32, 32)}
	for _, query := range []string{"?preserveColor=%zz", "?preserveColor=maybe;x=1",
		"?preserveColor=true;x=1", "?%zz=1", "?preserveColor=", "?preserveColor=true&preserveColor=true",
		"?x=%ff", "?x=%00"} {
		if a := s.do(s.webRequest(query, page)); !is(
			t, a, http.StatusBadRequest, "INVALID_PARAMETER", 0,
		) {
			t.Errorf("%s: got %d %s", query, a.status, a.body)
		}
	}
	for _, query := range []string{"", "?", "?x=1", "?preserveColor=TRUE",
		"?preserveColor=false&x=%25"} {
		if a := s.do(s.webRequest(query, page)); a.status != http.StatusOK {
			t.Errorf("%s: got %d %s", query, a.status, a.body)
		}
	}
}
