package contract

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"unink/internal/ident"
)

func TestWebCallers(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		t.Run("session", func(t *testing.T) { session(t, s) })
		t.Run("guest", func(t *testing.T) { guest(t, s) })
		t.Run("guest's PDF", func(t *testing.T) { guestPDF(t, s) })
		t.Run("anonymous account", func(t *testing.T) { anonymousAccount(t, s) })
		t.Run("rate limit", func(t *testing.T) { rateLimit(t, s) })
		s.audit(t)
	})
}

func session(t *testing.T, s *service) {
	u := s.newUser(t, 4)
	s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
	s.upload(t, request{header: map[string]string{"Cookie": "unink=" + u.session}}, "image", page,
		"userId", u.id).cleaned(t, true)
	s.upload(t, request{header: u.bearer()}.with("X-User-Type", "registered"), "image", page, "userId",
		u.id).cleaned(t, true)
	if got := s.credits(t, u); got != 1 {
		t.Errorf("%d credits left of 4 after 3 pages", got)
	}

	other := s.newUser(t, 0)
	s.upload(t, request{header: u.bearer()}, "image", page, "userId", other.id).is(
		t, 400, "VERIFICATION_FAILED",
	)
	s.upload(t, request{}, "image", page, "userId", u.id).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{header: map[string]string{"Authorization": "Bearer " + ident.Secret()}},
		"image", page, "userId", u.id).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{header: map[string]string{"X-User-Type": "registered"}}, "image", page).is(
		t, 400, "VERIFICATION_FAILED",
	)
	s.upload(t, request{header: u.bearer()}.with("X-User-Type", "root"), "image", page).is(
		t, 400, "INVALID_PARAMETER",
	)

	if l := s.ledger(t, u.id); l.count("settle") != 3 || l.count("reserve") != 3 || l.sum() != 1 {
		t.Errorf("the ledger of 3 pages: %+v", l.Entries)
	}

	a := s.upload(t, request{header: other.bearer()}, "image", page)
	a.is(t, 402, "INSUFFICIENT_CREDITS")
	if v := a.object(t); v["redirectUrl"] != "/pricing" || v["message"] == "" || len(v) != 3 {
		t.Errorf("402 with %s", a.body)
	}

	if a := s.send(t, request{path: "/api/log-out",
		header: u.bearer()}); a.status != http.StatusNoContent {
		t.Errorf("log-out: %d", a.status)
	}
	s.upload(t, request{header: u.bearer()}, "image", page, "userId", u.id).is(
		t, 400, "VERIFICATION_FAILED",
	)
}

func guest(t *testing.T, s *service) {
	s.upload(t, request{}, "image", page, "deviceId", ident.Secret()).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{}, "image", page, "cfTurnstileToken", "forged").is(
		t, 400, "VERIFICATION_FAILED",
	)

	token := s.botToken(t)
	s.upload(t, request{header: map[string]string{"X-User-Type": "guest"}}, "image", page,
		"cfTurnstileToken", token).cleaned(t, true)
	s.upload(t, request{}, "image", page, "deviceId", ident.Secret(), "cfTurnstileToken", token).is(
		t, 400, "VERIFICATION_FAILED",
	)
}

func guestPDF(t *testing.T, s *service) {
	s.upload(t, request{}, "image", page, "isPdfProcessing", "true", "deviceId",
		ident.Secret()).cleaned(t, true)
	s.upload(t, request{}, "image", page, "isPdfProcessing", "true").is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{}, "image", page, "isPdfProcessing", "true", "deviceId", "short").is(
		t, 400, "INVALID_PARAMETER",
	)
}

func anonymousAccount(t *testing.T, s *service) {
	device := map[string]string{"X-User-Type": "anonymous", "X-Device-Id": ident.Secret()}
	establish := request{path: "/api/anonymous-accounts", header: device}
	a := s.send(t, establish)
	a.is(t, http.StatusCreated, "")
	id, _ := a.object(t)["userId"].(string)
	if id == "" || a.object(t)["credits"] != 3.0 {
		t.Fatalf("established %s", a.body)
	}
	again := s.send(t, establish)
	again.is(t, http.StatusOK, "")
	if again.object(t)["userId"] != id {
		t.Errorf("another account on the same device: %s", again.body)
	}
	s.send(t, request{path: "/api/anonymous-accounts"}).is(t, 400, "INVALID_PARAMETER")

	s.upload(t, request{header: device}, "image", page, "userId", id).cleaned(t, true)
	if a := s.send(t, establish); a.object(t)["credits"] != 2.0 {
		t.Errorf("after one page of 3: %s", a.body)
	}
	s.upload(t, request{header: device}, "image", page).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{header: device}, "image", page, "userId", "usr_of_nobody").is(
		t, 400, "VERIFICATION_FAILED",
	)
	s.upload(t, request{header: device}.with("X-Device-Id", ident.Secret()), "image", page, "userId",
		id).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{header: map[string]string{"X-User-Type": "anonymous"}}, "image", page,
		"userId", id).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{}, "image", page, "userId", id).is(t, 400, "VERIFICATION_FAILED")
	s.upload(t, request{header: map[string]string{"X-Device-Id": device["X-Device-Id"]}}, "image",
		page, "userId", id).is(t, 400, "VERIFICATION_FAILED")
}

// rateLimit sends one page more than the five a minute, from changing addresses.
func rateLimit(t *testing.T, s *service) {
	u := s.newUser(t, 10)
	for range 5 {
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
	}
	a := s.upload(t, request{header: u.bearer()}, "image", page)
	limited(t, a, "minute", 60)
	if got := s.credits(t, u); got != 5 {
		t.Errorf("%d credits left of 10 after 5 pages and a refusal", got)
	}
}

func limited(t *testing.T, a answer, window string, atMost float64) {
	t.Helper()
	a.is(t, 429, "RATE_LIMIT_EXCEEDED")
	after, _ := a.object(t)["retryAfter"].(float64)
	want := map[string]any{"error": "RATE_LIMIT_EXCEEDED", "limitType": window, "retryAfter": after}
	if got := a.object(t); !reflect.DeepEqual(got, want) || after < 1 || after > atMost ||
		after != float64(int(after)) {
		t.Errorf("429 with %s", a.body)
	}
	if got := a.header.Get("Retry-After"); got != strconv.Itoa(int(after)) {
		t.Errorf("Retry-After %q, retryAfter %v", got, after)
	}
}

func TestGuestAllowances(t *testing.T) {
	flags := []string{"--per-minute", "100", "--per-hour", "5", "--pdf-guest-credits", "2",
		"--pdf-guest-address", "3", "--guest-credits", "1", "--guest-address", "2"}
	each(t, flags, func(t *testing.T, s *service) {
		home, first, second := request{from: newAddress()}, ident.Secret(), ident.Secret()
		send := func(device string) answer {
			return s.upload(t, home, "image", page, "isPdfProcessing", "true", "deviceId", device)
		}
		send(first).cleaned(t, true)
		send(first).cleaned(t, true)
		send(first).is(t, 402, "INSUFFICIENT_CREDITS") // the device's are used up
		send(second).cleaned(t, true)
		send(second).is(t, 402, "INSUFFICIENT_CREDITS") // the address's are
		limited(t, send(second), "hour", 3600)

		device := ident.Secret()
		other := func() answer {
			return s.upload(t, request{}, "image", page, "deviceId", device, "cfTurnstileToken",
				s.botToken(t))
		}
		other().cleaned(t, true)
		a := other()
		a.is(t, 402, "INSUFFICIENT_CREDITS")
		if a.object(t)["redirectUrl"] != "/pricing" {
			t.Errorf("402 with %s", a.body)
		}

		office := request{from: newAddress()}
		colleague := func() answer {
			return s.upload(t, office, "image", page, "deviceId", ident.Secret(), "cfTurnstileToken",
				s.botToken(t))
		}
		colleague().cleaned(t, true)
		colleague().cleaned(t, true)
		colleague().is(t, 402, "INSUFFICIENT_CREDITS") // the address's are used up
		s.audit(t)
	})
}

func TestWebRefusals(t *testing.T) {
	each(t, []string{"--per-minute", "100", "--per-hour", "1000"}, func(t *testing.T, s *service) {
		u := s.newUser(t, 1)
		broken := page[:len(page)/2]
		for name, c := range map[string]struct {
			path   string
			fields []string
			want   string
		}{
			"no image":           {"", []string{"pageSlug", "a"}, "MISSING_IMAGE"},
			"empty image":        {"", []string{"image", ""}, "MISSING_IMAGE"},
			"text":               {"", []string{"image", "I am a text, not a picture."}, "INVALID_FILE_TYPE"},
			"over 5 MiB":         {"", []string{"image", page + strings.Repeat("x", 5<<20)}, "FILE_TOO_LARGE"},
			"over 50 megapixels": {"", []string{"image", hollow(10_000, 5_001)}, "IMAGE_TOO_LARGE"},
			"broken":             {"", []string{"image", broken}, "INVALID_IMAGE"},
			"hollow":             {"", []string{"image", hollow(100, 100)}, "INVALID_IMAGE"},
			"two images":         {"", []string{"image", page, "image", page}, "INVALID_PARAMETER"},
			"bad flag":           {"", []string{"image", page, "isBulkProcessing", "yes"}, "INVALID_PARAMETER"},
			"bad query":          {"/api/process-image?preserveColor=1", []string{"image", page}, "INVALID_PARAMETER"},
			"bad slug":           {"", []string{"image", page, "pageSlug", "A_B"}, "INVALID_PARAMETER"},
			"long slug":          {"", []string{"image", page, "pageSlug", strings.Repeat("a", 65)}, "INVALID_PARAMETER"},
			"bad format":         {"", []string{"image", page, "output_format", "exe"}, "INVALID_PARAMETER"},
		} {
			t.Run(name, func(t *testing.T) {
				s.upload(t, request{path: c.path, header: u.bearer()}, c.fields...).is(t, 400, c.want)
			})
		}
		t.Run("not multipart", func(t *testing.T) {
			s.send(t, request{path: "/api/process-image", header: u.bearer(), content: "application/json",
				body: []byte("{}")}).is(t, 400, "INVALID_REQUEST")
		})
		t.Run("without Content-Length", func(t *testing.T) {
			r := request{path: "/api/process-image", header: u.bearer(), chunked: true}
			r.content, r.body = form(t, "image", strings.Repeat("x", 5<<20+1))
			s.send(t, r).is(t, 400, "FILE_TOO_LARGE")
		})
		t.Run("refused before it is sent", func(t *testing.T) {
			r := request{header: u.bearer()}.with("Expect", "100-continue")
			s.upload(t, r, "image", strings.Repeat("x", 6<<20)).is(t, 400, "FILE_TOO_LARGE")
		})
		if got := s.credits(t, u); got != 1 {
			t.Errorf("%d credits left of 1 after refusals only", got)
		}
		s.upload(t, request{path: "/api/process-image?preserveColor=TRUE", header: u.bearer()}, "image",
			page, "preserveColor", "False",
			"isBulkProcessing", "true", "isPdfProcessing", "true", "pageSlug", "tools/a-1", "unknown",
			"x").cleaned(t, true)
		s.upload(t, request{header: u.bearer()}, "image", page).is(t, 402, "INSUFFICIENT_CREDITS")
		s.audit(t)
		if l := s.ledger(t, u.id); l.count("settle") != 1 || l.sum() != 0 {
			t.Errorf("the ledger: %+v", l.Entries)
		}
	})
}

func TestSignUp(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		email := ident.Secret() + "@example.com"
		s.post(t, "/api/sign-up", map[string]string{"email": email, "password": password}).is(
			t, 400, "VERIFICATION_FAILED",
		)
		in := map[string]string{"email": email, "password": password, "cfTurnstileToken": s.botToken(t)}
		if a := s.post(t, "/api/sign-up", in); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.body)
		}
		login := func() answer {
			return s.post(t, "/api/log-in", map[string]string{"email": email, "password": password})
		}
		login().is(t, 400, "VERIFICATION_FAILED") // not confirmed yet
		mail := s.mail(t, "verify")
		_, token, found := strings.Cut(mail, "http://localhost:"+s.port+"/verify?token=")
		if !found {
			t.Fatalf("the mail has no link: %s", mail)
		}
		token = strings.Fields(token)[0]
		if a := s.post(t, "/api/verify",
			map[string]string{"token": token}); a.status != http.StatusNoContent {
			t.Fatalf("%d %s", a.status, a.body)
		}
		s.post(t, "/api/verify", map[string]string{"token": token}).is(t, 400, "VERIFICATION_FAILED")
		a := login()
		a.is(t, 200, "")
		u := user{email: email}
		u.session, _ = a.object(t)["session"].(string)
		u.id, _ = a.object(t)["userId"].(string)
		if got := s.credits(t, u); got != 5 {
			t.Errorf("a new account has %d credits", got)
		}
		cookie := a.header.Get("Set-Cookie")
		for _, part := range []string{"unink=" + u.session, "HttpOnly", "SameSite=Lax", "Path=/"} {
			if !strings.Contains(cookie, part) {
				t.Errorf("the cookie %q lacks %q", strings.ReplaceAll(cookie, u.session, "…"), part)
			}
		}
		s.upload(t, request{header: u.bearer()}, "image", page).cleaned(t, true)
		if log := s.log.text(); strings.Contains(log, u.session) || strings.Contains(log, token) ||
			strings.Contains(log, email) || strings.Contains(log, password) {
			t.Error("the log tells a secret")
		}
	})
}

// Resetting the password confirms the address as well, with the first credits that come of it.
func TestResetInsteadOfConfirming(t *testing.T) {
	each(t, nil, func(t *testing.T, s *service) {
		email := ident.Secret() + "@example.com"
		in := map[string]string{"email": email, "password": password, "cfTurnstileToken": s.botToken(t)}
		if a := s.post(t, "/api/sign-up", in); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.body)
		}
		ask := map[string]string{"email": email}
		if a := s.post(t, "/api/password-reset", ask); a.status != http.StatusBadRequest {
			t.Errorf("without a bot check: %d %s", a.status, a.body)
		}
		ask["cfTurnstileToken"] = s.botToken(t)
		if a := s.post(t, "/api/password-reset", ask); a.status != http.StatusAccepted {
			t.Fatalf("%d %s", a.status, a.body)
		}
		_, token, found := strings.Cut(s.mail(t, "reset"), "http://localhost:"+s.port+"/reset?token=")
		if !found {
			t.Fatal("the mail has no link")
		}
		if a := s.post(t, "/api/password-reset/done",
			map[string]string{"token": strings.Fields(token)[0],
				"password": password}); a.status != http.StatusNoContent {
			t.Fatalf("%d %s", a.status, a.body)
		}
		a := s.post(t, "/api/log-in", map[string]string{"email": email, "password": password})
		a.is(t, 200, "")
		u := user{email: email}
		u.session, _ = a.object(t)["session"].(string)
		if got := s.credits(t, u); got != 5 {
			t.Errorf("the account has %d credits, want 5", got)
		}
	})
}
