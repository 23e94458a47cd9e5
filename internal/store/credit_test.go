package store_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"unink/internal/credit"
	"unink/internal/store"
	"unink/internal/store/storetest"
)

var _ credit.Store = store.Credits{}

// TestCredits tests what a [credit.Store] promises. The rules as callers see them, concurrency too,
// are tested with this store in package credit.
func TestCredits(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		ctx := context.Background()
		credits := store.NewCredits(storetest.Open(t, address))
		now := time.Date(2026, 11, 21, 12, 0, 0, 123456000, time.UTC)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}

		p, granted, err := credits.Grant(
			ctx, credit.Grant{Owner: "user:1", Plan: "p", Credits: 3, Expires: now.Add(time.Hour),
				Source: "s", Note: "n"}, now,
		)
		if err != nil || !granted || !p.Created.Equal(now) || !p.Expires.Equal(now.Add(time.Hour)) {
			t.Fatalf("granted %+v, %v, %v", p, granted, err)
		}
		if _, granted, err := credits.Grant(
			ctx, credit.Grant{Owner: "user:1", Credits: 3, Expires: now, Source: "s"}, now,
		); granted || err != nil {
			t.Fatalf("granted again: %v, %v", granted, err)
		}
		var holds []string
		for i := range 3 {
			h, err := credits.Reserve(ctx, credit.Reservation{
				Owners: []string{"user:1"}, Lease: time.Duration(i+1) * time.Minute,
			}, now)
			must(err)
			holds = append(holds, h.ID)
		}
		_, err = credits.Reserve(ctx, credit.Reservation{Owners: []string{"user:1"}, Lease: time.Minute},
			now)
		if short := (*credit.InsufficientError)(nil); !errors.As(err, &short) {
			t.Errorf("reserving a fourth of three: %v", err)
		}
		for _, c := range []struct {
			after time.Duration
			limit int
			want  []string
		}{{time.Minute - 1000, 9, nil}, {time.Minute, 9, holds[:1]}, {3 * time.Minute, 9, holds},
			{3 * time.Minute, 2, holds[:2]}} {
			if got, err := credits.Overdue(ctx, now.Add(c.after), c.limit); err != nil ||
				!slices.Equal(got, c.want) {
				t.Errorf("after %v overdue are %v, %v, want %v", c.after, got, err, c.want)
			}
		}
		must(credits.Settle(ctx, holds[0], now))
		must(credits.Release(ctx, holds[1], now))
		if err := credits.Settle(ctx, holds[1], now); !errors.Is(err, credit.ErrNotHeld) {
			t.Errorf("settled what was released: %v", err)
		}
		must(credits.Forget(ctx, now, now))
		if o, err := credits.Outstanding(ctx, now); err != nil ||
			o != (credit.Outstanding{Held: 1, Packages: 1}) {
			t.Errorf("outstanding is %+v, %v", o, err)
		}
		if n, err := credits.Balance(ctx, "user:1", now); err != nil || n != 1 {
			t.Errorf("balance is %d, %v", n, err)
		}
		if problems, err := credits.Audit(ctx, 10); err != nil || len(problems) != 0 {
			t.Errorf("audit says %+v, %v", problems, err)
		}
		if n, err := credits.RevokeOwner(ctx, "user:1", "", now); err != nil || n != 1 {
			t.Errorf("revoked %d, %v", n, err)
		}
	})
}

// TestAuditFindsTampering changes one row behind the store's back, and asks what the audit says.
func TestAuditFindsTampering(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		ctx := context.Background()
		credits := store.NewCredits(storetest.Open(t, address))
		raw := openRaw(t, address)
		now := time.Now()
		if _, _, err := credits.Grant(
			ctx, credit.Grant{Owner: "user:1", Credits: 5, Expires: now.Add(time.Hour), Source: "s"}, now,
		); err != nil {
			t.Fatal(err)
		}
		var ends [3]string
		for i := range ends {
			h, err := credits.Reserve(ctx, credit.Reservation{
				Owners: []string{"user:1"}, Lease: time.Minute,
			}, now)
			if err != nil {
				t.Fatal(err)
			}
			ends[i] = h.ID
		}
		if err := errors.Join(credits.Settle(ctx, ends[0], now),
			credits.Release(ctx, ends[1], now)); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ change, undo, want string }{
			{"UPDATE packages SET remaining = remaining + 1", "UPDATE packages SET remaining = remaining - 1", "remaining"},
			{"UPDATE packages SET credits = 6", "UPDATE packages SET credits = 5", "granted"},
			{"UPDATE holds SET state = 'released' WHERE state = 'settled'", "UPDATE holds SET state = 'settled' WHERE id = '" + ends[0] + "'", "that is released"},
			{"UPDATE holds SET state = 'settled' WHERE state = 'released'", "UPDATE holds SET state = 'released' WHERE id = '" + ends[1] + "'", "that is settled"},
			{"UPDATE holds SET state = 'settled', ended = 1 WHERE state = 'held'", "UPDATE holds SET state = 'held', ended = 0 WHERE id = '" + ends[2] + "'", "that is settled"},
			{"UPDATE holds SET state = 'held', ended = 0 WHERE state = 'settled'", "UPDATE holds SET state = 'settled', ended = 1 WHERE id = '" + ends[0] + "'", "that is held"},
			{"UPDATE holds SET id = 'lost' WHERE state = 'held'", "UPDATE holds SET id = '" + ends[2] + "' WHERE id = 'lost'", "forgotten"},
			{"INSERT INTO holds (id, state, lease, ended) VALUES ('x', 'held', 1, 0)", "DELETE FROM holds WHERE id = 'x'", "nothing reserved"},
		} {
			if _, err := raw.Exec(c.change); err != nil {
				t.Fatalf("%s: %v", c.change, err)
			}
			problems, err := credits.Audit(ctx, 10)
			if err != nil || !slices.ContainsFunc(problems, func(d credit.Discrepancy) bool {
				return strings.Contains(d.Problem, c.want)
			}) {
				t.Errorf("%s: audit says %+v, %v, want something with %q", c.change, problems, err, c.want)
			}
			if _, err := raw.Exec(c.undo); err != nil {
				t.Fatal(err)
			}
		}
		if problems, err := credits.Audit(ctx, 10); err != nil || len(problems) != 0 {
			t.Errorf("audit says %+v, %v", problems, err)
		}
		for _, forbidden := range []string{
			"UPDATE packages SET remaining = -1",
			"UPDATE ledger SET amount = 7 WHERE kind = 'reserve'",
		} {
			if _, err := raw.Exec(forbidden); err == nil {
				t.Errorf("%s: the database allows it", forbidden)
			}
		}
	})
}

// openRaw opens a database without the package that is tested.
func openRaw(t *testing.T, address string) *sql.DB {
	t.Helper()
	driver, name := "pgx", address
	if path, ok := strings.CutPrefix(address, "sqlite:"); ok {
		driver, name = "sqlite", path
	}
	raw, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}
