package store_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

// proxied opens a PostgreSQL database through a proxy.
func proxied(t *testing.T) (*store.DB, *toxiproxy.Proxy) {
	t.Helper()
	u, err := url.Parse(storetest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	proxy := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop()),
		"postgres", "127.0.0.1:0", u.Host)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	u.Host = proxy.Listen
	return storetest.Open(t, u.String()), proxy
}

// TestAway has a database that is not there, one that accepts connections and says nothing, and its
// return.
func TestAway(t *testing.T) {
	t.Parallel()
	db, proxy := proxied(t)
	credits := store.NewCredits(db)
	ctx := context.Background()
	if err := db.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	use := map[string]func() error{
		"a row":  func() error { _, err := credits.Balance(ctx, "user:1", time.Now()); return err },
		"rows":   func() error { _, err := credits.Packages(ctx, "user:1"); return err },
		"change": func() error { _, err := store.NewMails(db).Discard(ctx, "none"); return err },
		"transaction": func() error {
			_, err := credits.Reserve(ctx, credit.Reservation{
				Owners: []string{"user:1"}, Lease: time.Minute,
			}, time.Now())
			return err
		},
	}
	for _, absence := range []struct {
		name       string
		begin, end func() error
	}{
		{"stopped", func() error { proxy.Stop(); return nil }, proxy.Start},
		{"silent", func() error { return silence(proxy) }, func() error { return proxy.Toxics.RemoveToxic(ctx, "silence") }},
	} {
		if err := absence.begin(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{}, len(use))
		for name, do := range use {
			go func() {
				var away *store.UnavailableError
				err := do()
				if !errors.As(err, &away) || !away.Unavailable() {
					t.Errorf("%s with the database %s: %v", name, absence.name, err)
				}
				ended <- struct{}{}
			}()
		}
		late := time.After(time.Minute)
		for range use {
			select {
			case <-ended:
			case <-late:
				t.Fatalf("with the database %s something waits for ever", absence.name)
			}
		}
		if err := absence.end(); err != nil {
			t.Fatal(err)
		}
		for name, do := range use {
			var away *store.UnavailableError
			if err := do(); errors.As(err, &away) {
				t.Errorf("%s after the database was %s: %v", name, absence.name, err)
			}
		}
	}

	gone, leave := context.WithCancel(ctx)
	leave()
	if _, err := credits.Balance(gone, "user:1", time.Now()); !errors.Is(err, context.Canceled) ||
		errors.As(err, new(*store.UnavailableError)) {
		t.Errorf("a caller that went away: %v", err)
	}
}

// silence lets nothing through, and closes nothing.
func silence(proxy *toxiproxy.Proxy) error {
	_, err := proxy.Toxics.AddToxicJson(
		strings.NewReader(`{"name": "silence", "type": "timeout", "attributes": {"timeout": 0}}`),
	)
	return err
}
