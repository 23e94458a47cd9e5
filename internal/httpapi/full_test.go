package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/gate"
	"unink/internal/httpapi/call"
	"unink/internal/httpapi/setup"
	"unink/internal/pdfjob"
)

// While there is no place for a page, its caller hears the same as ever, credits first, but nothing
// is written down: neither credits held and given back, nor a guest's allowance, nor an idempotency
// key.
func TestRefusedPagesAreNotWrittenDown(t *testing.T) {
	s := withAccounts(t)
	ledger := func() []credit.Entry {
		t.Helper()
		entries, err := s.Services.Credits.Entries(t.Context(), credit.Filter{Limit: 10_000})
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	poor, poorToken := s.bought("poor@example.com", "poor-shop")
	rich, richToken := s.bought("rich@example.com", "rich-shop")
	if _, _, err := s.Services.Credits.Grant(
		t.Context(), credit.Grant{Owner: call.CustomerOwner(rich.ID), Credits: 2, Expires: credit.Never,
			Source: "test"},
	); err != nil {
		t.Fatal(err)
	}
	page := picture(t, 32, 32)
	cleanup := func(slug, token, key string, page []byte) answer {
		r := httptest.NewRequest(http.MethodPost, "/cleanup", strings.NewReader(mediaJSON(page, "")))
		r.Host = slug + "." + s.Config.Domain
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Idempotency-Key", key)
		return s.send(r)
	}
	upload := func(fields ...field) answer {
		body, contentType := formOf(t, append(fields, field{name: "image", data: page})...)
		r := httptest.NewRequest(http.MethodPost, "/api/process-image", body)
		r.Header.Set("Content-Type", contentType)
		return s.send(r)
	}
	want := func(a answer, status int, remaining string) {
		t.Helper()
		if a.status != status || a.header.Get("X-Credits-Remaining") != remaining {
			t.Errorf("got %d with %q credits, want %d with %q: %s", a.status,
				a.header.Get("X-Credits-Remaining"), status, remaining, a.body)
		}
	}
	want(cleanup(rich.Slug, richToken, "charged", page), http.StatusOK, "1")

	var err error
	if s.engine.Gate, err = gate.New(gate.Config{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	working, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- s.engine.Gate.Do(t.Context(), func() error { close(working); <-release; return nil })
	}()
	<-working
	before := ledger()
	want(cleanup(rich.Slug, richToken, "new", page), http.StatusServiceUnavailable, "1")
	want(cleanup(rich.Slug, richToken, "charged", page), http.StatusServiceUnavailable, "1")
	want(cleanup(rich.Slug, richToken, "charged", picture(t, 33, 33)), http.StatusBadRequest, "1")
	want(cleanup(poor.Slug, poorToken, "new", page), http.StatusPaymentRequired, "0")
	want(upload(field{name: "isPdfProcessing", value: "true"},
		field{name: "deviceId", value: "device-of-the-tests"}), http.StatusServiceUnavailable, "")
	want(upload(field{name: "cfTurnstileToken", value: s.human()}), http.StatusServiceUnavailable, "")
	if after := ledger(); !reflect.DeepEqual(after, before) {
		t.Errorf("the ledger was %+v\nand is %+v", before, after)
	}
	close(release)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	// the key is still free for any page
	want(cleanup(rich.Slug, richToken, "new", picture(t, 33, 33)), http.StatusOK, "0")
}

// noRoom is a store of PDFs without room for another.
type noRoom struct{ pdfjob.Store }

func (noRoom) Add(context.Context, pdfjob.Job, []byte, pdfjob.Bounds) error {
	return pdfjob.ErrFull
}

// A PDF that there is no room for is to come again later, and costs nothing.
func TestPDFsFindNoRoom(t *testing.T) {
	s := withAccounts(t, func(services *setup.Services) {
		var err error
		services.PDFs, err = pdfjob.New(noRoom{}, services.Credits,
			pdfjob.Config{Bounds: pdfjob.DefaultBounds, Pages: 1}, time.Now, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
	})
	c, token := s.bought("full@example.com", "full-shop")
	if _, _, err := s.Services.Credits.Grant(t.Context(), credit.Grant{Owner: call.CustomerOwner(c.ID),
		Credits: 1, Expires: credit.Never, Source: "test"}); err != nil {
		t.Fatal(err)
	}
	body, content := formOf(t, field{name: "pdf", data: []byte("%PDF-1.7\n")})
	r := httptest.NewRequest(http.MethodPost, "/pdf", body)
	r.Host = c.Slug + "." + s.Config.Domain
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", content)
	a := s.send(r)
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") != "60" {
		t.Errorf("status %d, to come again in %q s: %s", a.status, a.header.Get("Retry-After"), a.body)
	}
	left, err := s.Services.Credits.Balance(t.Context(), call.CustomerOwner(c.ID))
	if err != nil || left != 1 {
		t.Errorf("%d credits are left, %v", left, err)
	}
}
