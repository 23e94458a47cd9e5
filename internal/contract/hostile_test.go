package contract

import (
	"net/http"
	"strings"
	"testing"

	"unink/internal/ident"
)

func TestHostile(t *testing.T) {
	each(t, []string{"--per-minute", "100", "--per-hour", "1000"}, func(t *testing.T, s *service) {
		u, c := s.newUser(t, 3), s.newCustomer(t)
		t.Run("cross-site", func(t *testing.T) { crossSite(t, s, u, c) })
		t.Run("session fixation", func(t *testing.T) { fixation(t, s, u) })
		t.Run("SQL", func(t *testing.T) { sql(t, s, u, c) })
		t.Run("log injection", func(t *testing.T) { logInjection(t, s, u, c) })
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		developerCleaned(t, s.send(t, c.cleanup(media(page))))
		if got := s.credits(t, u); got != 2 {
			t.Errorf("%d credits left of 3 after one page and attacks", got)
		}
		if l := s.ledger(t, c.id); l.sum() != 498 {
			t.Errorf("%d credits left of 500 after two pages and attacks", l.sum())
		}
		s.audit(t)
		log := s.log.text()
		for what, secret := range map[string]string{
			"session": u.session, "token": c.token, "address": u.email, "password": password,
			"image": media(page)[20:80],
		} {
			if strings.Contains(log, secret) {
				t.Errorf("the log tells the %s", what)
			}
		}
	})
}

// crossSite sends what a page of another site makes a browser send, with the user's cookie.
func crossSite(t *testing.T, s *service, u user, c customer) {
	cookie := map[string]string{"Cookie": "unink=" + u.session}
	for name, headers := range map[string]map[string]string{
		"fetch metadata": {"Sec-Fetch-Site": "cross-site"},
		"same site":      {"Sec-Fetch-Site": "same-site"},
		"origin":         {"Origin": "https://evil.example"},
		"null origin":    {"Origin": "null"},
	} {
		for _, path := range []string{"/api/process-image", "/api/log-out", "/api/log-out-everywhere",
			"/api/password", "/api/anonymous-accounts"} {
			r := request{path: path, header: cookie}
			for n, v := range headers {
				r = r.with(n, v)
			}
			a := s.upload(t, r, "image", page)
			if a.status != http.StatusForbidden || a.object(t)["error"] != "CROSS_SITE_REQUEST" {
				t.Errorf("%s: %s: %d %.200s", name, path, a.status, a.body)
			}
		}
		r := c.cleanup(media(page))
		for n, v := range headers {
			r = r.with(n, v)
		}
		a := s.send(t, r)
		a.code(t, http.StatusForbidden, 1008)
		a.cost(t, 0, 0)
	}
	r := request{method: http.MethodDelete, path: "/api/me", header: cookie}.with(
		"Sec-Fetch-Site", "cross-site",
	)
	if a := s.send(t, r); a.status != http.StatusForbidden {
		t.Errorf("DELETE /api/me: %d %.200s", a.status, a.body)
	}
	own := request{header: cookie}.with("Sec-Fetch-Site", "same-origin").with(
		"Origin", "http://localhost:"+s.port,
	)
	// refused for what it lacks, not for where it is from
	s.upload(t, own, "pageSlug", "a").is(t, 400, "MISSING_IMAGE")
}

// fixation logs in with a session in the cookie that somebody else chose.
func fixation(t *testing.T, s *service, u user) {
	chosen := ident.Secret()
	r := request{path: "/api/log-in", content: "application/json",
		header: map[string]string{"Cookie": "unink=" + chosen}}
	r.body = marshal(t, map[string]string{"email": u.email, "password": password})
	a := s.send(t, r)
	a.is(t, http.StatusOK, "")
	if a.object(t)["session"] == chosen {
		t.Error("the session is the one that the cookie brought")
	}
	s.send(t, request{method: http.MethodGet, path: "/api/me",
		header: map[string]string{"Cookie": "unink=" + chosen}}).is(t, 401, "NOT_LOGGED_IN")
}

var attacks = []string{`' OR '1'='1`, `'; DROP TABLE users; --`, `" OR 1=1 --`, `\'; SELECT pg_sleep(9); --`, "x' UNION SELECT 1,2,3 --"}

// sql sends SQL in every field and header that is looked up. What is not a name that the caller may
// choose is refused.
func sql(t *testing.T, s *service, u user, c customer) {
	refused := func(what string, a answer) {
		t.Helper()
		if a.status < 400 || a.status >= 500 {
			t.Errorf("%s: %d %.200s", what, a.status, a.body)
		}
	}
	for _, x := range attacks {
		for _, field := range []string{"userId", "cfTurnstileToken", "pageSlug", "isPdfProcessing",
			"isBulkProcessing", "preserveColor", "output_format"} {
			refused(field, s.upload(t, request{}, "image", page, field, x))
		}
		refused("X-User-Type", s.upload(t, request{header: map[string]string{"X-User-Type": x}}, "image", page))
		refused("X-Device-Id", s.upload(t, request{header: map[string]string{"X-User-Type": "anonymous", "X-Device-Id": x}}, "image", page, "userId", x))
		refused("session", s.upload(t, request{header: map[string]string{"Authorization": "Bearer " + x}}, "image", page, "userId", u.id))
		refused("cookie", s.upload(t, request{header: map[string]string{"Cookie": "unink=" + x}}, "image", page, "userId", u.id))
		refused("query",
			s.upload(t, request{path: "/api/process-image?preserveColor=%27%20OR%201", header: u.bearer()},
				"image", page))
		refused("token", s.send(t, c.cleanup(media(page)).with("Authorization", "Bearer "+x)))
		refused("media_id", s.send(t, c.cleanup(string(marshal(t, map[string]string{"media_id": x})))))
		refused("key", s.send(t, c.cleanup(string(marshal(t, map[string]string{x: x})))))
		refused("email", s.post(t, "/api/log-in", map[string]string{"email": x, "password": x}))
		refused("sign-up", s.post(t, "/api/sign-up", map[string]string{"email": x, "password": password, "cfTurnstileToken": s.botToken(t)}))
		refused("verify", s.post(t, "/api/verify", map[string]string{"token": x}))
		refused("reset", s.post(t, "/api/password-reset/done", map[string]string{"token": x, "password": password}))
	}
	// A device and a key may be called anything, and are then no more than a name.
	x := attacks[1] + attacks[0]
	s.upload(t, request{}, "image", page, "isPdfProcessing", "true", "deviceId", x).cleaned(t, true)
	keyed := c.cleanup(media(page)).with("Idempotency-Key", x)
	s.send(t, keyed).cost(t, 1, 499)
	s.send(t, keyed).cost(t, 0, 499)
	foreign := c.cleanup(media(page))
	foreign.host = "x'or'1.localhost"
	refused("Host", s.send(t, foreign))
}

// logInjection sends what would be a line of the log, or a header of the answer, if it were copied.
func logInjection(t *testing.T, s *service, u user, c customer) {
	const bait = "x\r\nX-Injected: yes\r\n\n{\"msg\":\"injected\",\"level\":\"ERROR\"}\n\x1b[31m\x00"
	answers := []answer{
		s.upload(t, request{}, "image", page, "pageSlug", bait),
		s.upload(t, request{}, "image", page, "userId", bait),
		s.upload(t, request{}, "image", page, "cfTurnstileToken", bait),
		s.upload(t, request{header: u.bearer()}, "image", page, "isPdfProcessing", bait),
		s.upload(t, request{path: "/api/process-image?preserveColor=x%0d%0aX-Injected:%20yes",
			header: u.bearer()}, "image", page),
		s.send(t, c.cleanup(string(marshal(t, map[string]string{bait: "x"})))),
		s.send(t, c.cleanup(string(marshal(t, map[string]string{"media_id": bait})))),
		s.send(t, request{method: http.MethodGet, path: "/x%0d%0aX-Injected:%20yes/../../etc/passwd"}),
		s.send(t, request{method: http.MethodGet, path: "/%2e%2e/%2e%2e/etc/passwd"}),
		s.post(t, "/api/log-in", map[string]string{"email": bait, "password": bait}),
	}
	for _, a := range answers {
		if a.status < 400 || a.status >= 500 || a.header.Get("X-Injected") != "" ||
			strings.Contains(string(a.body), "root:") {
			t.Errorf("%d %v %.200s", a.status, a.header, a.body)
		}
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	for _, l := range s.log.lines {
		if l["msg"] == "injected" {
			t.Errorf("a line of the log was injected: %v", l)
		}
	}
	if len(s.log.strange) > 0 {
		t.Errorf("not lines of the log: %q", s.log.strange)
	}
}
