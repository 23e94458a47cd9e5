package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"unink/internal/store"
	"unink/internal/store/storetest"
	"unink/internal/usage"
)

var _ usage.Store = store.Usage{}

func TestUsage(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		uses := store.NewUsage(db)
		midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		want := []usage.Use{
			{At: midnight.Add(-time.Microsecond), Entry: "web", Caller: "user", Owner: "user:1", PageSlug: "home", Bulk: true, Outcome: "ok", Charged: 1, Millis: 100},
			{At: midnight, Entry: "web", Caller: "user", Owner: "user:1", PageSlug: "'; DROP TABLE usage; --", PDF: true, Outcome: "INTERNAL_ERROR", Millis: 301},
			{At: midnight.Add(time.Hour), Entry: "developer", Caller: "customer", Owner: "customer:1", Outcome: "0", Charged: 1, Millis: 50},
		}
		if err := uses.Add(ctx, want); err != nil {
			t.Fatal(err)
		}
		if err := uses.Add(ctx, nil); err != nil {
			t.Fatal(err)
		}

		stats := func(from, to time.Time, by ...string) []usage.Row {
			t.Helper()
			rows, err := usage.New(uses).Stats(ctx, from, to, by)
			if err != nil {
				t.Fatal(err)
			}
			return rows
		}
		later := midnight.Add(2 * time.Hour)
		for _, c := range []struct {
			got, want []usage.Row
		}{
			{stats(midnight.Add(-time.Hour), later), []usage.Row{{Values: []string{}, Uses: 3, Charged: 2, MeanMillis: 451. / 3}}},
			{stats(midnight, later, "day"), []usage.Row{{Values: []string{"2026-11-22"}, Uses: 2, Charged: 1, MeanMillis: 175.5}}},
			{stats(midnight.Add(-time.Hour), midnight, "day"), []usage.Row{{Values: []string{"2026-11-21"}, Uses: 1, Charged: 1, MeanMillis: 100}}},
			{stats(midnight.Add(-time.Hour), later, "entry", "pdf"), []usage.Row{
				{Values: []string{"developer", "false"}, Uses: 1, Charged: 1, MeanMillis: 50},
				{Values: []string{"web", "false"}, Uses: 1, Charged: 1, MeanMillis: 100},
				{Values: []string{"web", "true"}, Uses: 1, MeanMillis: 301},
			}},
			{stats(midnight, later, "outcome", "bulk", "day", "caller", "page_slug", "entry", "pdf"),
				[]usage.Row{
					{Values: []string{"0", "false", "2026-11-22", "customer", "", "developer", "false"}, Uses: 1, Charged: 1, MeanMillis: 50},
					{Values: []string{"INTERNAL_ERROR", "false", "2026-11-22", "user", "'; DROP TABLE usage; --", "web", "true"}, Uses: 1, MeanMillis: 301},
				}},
			{stats(later, later.Add(time.Hour)), nil},
		} {
			if !reflect.DeepEqual(c.got, c.want) {
				t.Errorf("statistics are %+v, want %+v", c.got, c.want)
			}
		}
		for _, column := range []string{"owner", "id FROM usage; --", ""} {
			if rows, err := uses.Stats(ctx, midnight, later, []string{column}, 9); err == nil {
				t.Errorf("counted by %q: %v", column, rows)
			}
		}

		for _, c := range []struct {
			owner string
			limit int
			want  []usage.Use
		}{
			{"user:1", 9, []usage.Use{want[1], want[0]}},
			{"user:1", 1, []usage.Use{want[1]}},
			{"customer:1", 9, []usage.Use{want[2]}},
			{"user:2", 9, nil},
		} {
			if got, _, err := uses.History(ctx, c.owner, usage.Place{}, c.limit); err != nil ||
				!slices.Equal(got, c.want) {
				t.Errorf("history of %s is %+v, %v, want %+v", c.owner, got, err, c.want)
			}
		}
		if err := uses.Forget(ctx, "user:1"); err != nil {
			t.Fatal(err)
		}
		if got, _, err := uses.History(ctx, "user:1", usage.Place{}, 9); err != nil || len(got) != 0 {
			t.Errorf("history after forgetting is %+v, %v", got, err)
		}
		if got, _, err := uses.History(ctx, "customer:1", usage.Place{}, 9); err != nil || len(got) != 1 {
			t.Errorf("another's history after forgetting is %+v, %v", got, err)
		}
		if rows := stats(midnight.Add(-time.Hour), later); rows[0].Uses != 3 {
			t.Errorf("statistics after forgetting are %+v", rows)
		}

		// What belongs to nobody is pruned, a bounded number at a time, and nothing else.
		for _, c := range []struct {
			before      time.Time
			limit, want int
		}{{midnight.Add(-time.Microsecond), 9, 0}, {later, 1, 1}, {midnight, 9, 0}, {later, 9, 1},
			{later, 9, 0}} {
			if n, err := uses.Prune(ctx, c.before, c.limit); err != nil || n != c.want {
				t.Errorf("pruned %d before %v, %v, want %d", n, c.before, err, c.want)
			}
		}
		if rows := stats(midnight.Add(-time.Hour), later, "caller"); len(rows) != 1 ||
			rows[0].Values[0] != "customer" {
			t.Errorf("statistics after pruning are %+v", rows)
		}
	})
}

// A history is read in parts, each use once, also where many are of the same moment.
func TestHistoryInParts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, uses := t.Context(), store.NewUsage(db)
		at := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		var list []usage.Use
		for i := range 25 {
			list = append(list, usage.Use{At: at.Add(time.Duration(i/10) * time.Second), Owner: "user:1",
				Outcome: usage.OK, Millis: int64(i)})
		}
		if err := uses.Add(ctx, append(list, usage.Use{At: at, Owner: "user:2"})); err != nil {
			t.Fatal(err)
		}
		seen := map[int64]bool{}
		var from usage.Place
		last := at.AddDate(1, 0, 0)
		for _, want := range []int{7, 7, 7, 4} {
			part, next, err := uses.History(ctx, "user:1", from, 7)
			if err != nil || len(part) != want || (next == usage.Place{}) != (want == 4) {
				t.Fatalf("%d uses, next %v, %v", len(part), next, err)
			}
			for _, u := range part {
				if seen[u.Millis] || u.At.After(last) || u.Owner != "user:1" {
					t.Errorf("%+v came after %v", u, last)
				}
				seen[u.Millis], last = true, u.At
			}
			from = next
		}
		if len(seen) != 25 {
			t.Errorf("%d of 25 uses", len(seen))
		}
	})
}

func TestUsageSums(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, uses := t.Context(), usage.New(store.NewUsage(db))
		midnight := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		from, to := midnight.AddDate(0, 0, -1), midnight.AddDate(0, 0, 1)
		if all, err := uses.Latencies(ctx, from, to); err != nil || len(all) != 0 {
			t.Errorf("latencies of nothing are %+v, %v", all, err)
		}
		var list []usage.Use
		for i := range 100 { // took 19, 29, … 1009 ms, which are 10 to 1000 in steps
			list = append(list, usage.Use{At: midnight, Entry: "web", Caller: "guest", Outcome: usage.OK,
				Millis: int64(10*i + 19)})
		}
		list = append(list,
			usage.Use{At: midnight.Add(-time.Microsecond), Entry: "developer", Caller: "customer",
				Owner: "customer:1", Outcome: usage.OK, Charged: 1, Millis: 900_000},
			usage.Use{At: midnight, Entry: "developer", Caller: "customer", Owner: "customer:1",
				Outcome: usage.OK, Millis: 5},
			usage.Use{At: midnight, Entry: "developer", Caller: "customer", Owner: "customer:1",
				Outcome: "1005", Millis: 5},
			usage.Use{At: midnight, Entry: "developer", Caller: "customer", Owner: "customer:2",
				Outcome: usage.OK, Charged: 1, Millis: 5},
			usage.Use{At: from.Add(-1 * time.Microsecond), Entry: "early", Caller: "early",
				Owner: "customer:1", Outcome: usage.OK},
			usage.Use{At: to, Entry: "late", Caller: "late", Owner: "customer:1", Outcome: usage.OK})
		if err := store.NewUsage(db).Add(ctx, list); err != nil {
			t.Fatal(err)
		}
		days, err := uses.Days(ctx, "customer:1", from, to)
		if want := []usage.Day{{Day: "2026-11-21", Uses: 1, Cleaned: 1, Charged: 1},
			{Day: "2026-11-22", Uses: 2, Cleaned: 1}}; err != nil || !reflect.DeepEqual(days, want) {
			t.Errorf("days are %+v, %v, want %+v", days, err, want)
		}
		if _, err := uses.Days(ctx, "", from, to); err == nil {
			t.Error("nobody has days")
		}
		active, err := uses.Active(ctx, from, to)
		if want := []usage.Active{{Caller: "customer", Uses: 4, Owners: 2},
			{Caller: "guest", Uses: 100}}; err != nil || !reflect.DeepEqual(active, want) {
			t.Errorf("active are %+v, %v, want %+v", active, err, want)
		}
		latencies, err := uses.Latencies(ctx, from, to)
		if want := []usage.Latency{
			{Entry: "developer", Pages: 3, P90: usage.TookMost, P99: usage.TookMost},
			{Entry: "web", Pages: 100, P50: 500, P90: 900, P99: 990},
		}; err != nil || !reflect.DeepEqual(latencies, want) {
			t.Errorf("latencies are %+v, %v, want %+v", latencies, err, want)
		}
	})
}

// Refusals are sums by minute. The statistics count each of them; an owner's are listed apart from
// its uses.
func TestRefusals(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx, s := t.Context(), store.NewUsage(db)
		uses := usage.New(s)
		minute := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
		refusals := func(owner string, at time.Time, outcome string, requests int) usage.Refusals {
			refusal := usage.Refusal{Minute: at, Entry: "web", Caller: "user", Owner: owner, PDF: true,
				Outcome: outcome}
			return usage.Refusals{Refusal: refusal, Requests: requests, Millis: int64(10 * requests)}
		}
		early := refusals("user:1", minute, "A", 3)
		late := refusals("user:1", minute.Add(time.Minute), "A", 5)
		other := refusals("user:2", minute, "A", 7)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(s.Count(ctx, []usage.Refusals{early, late, other}))
		once := refusals("user:1", minute, "B", 1)
		must(s.Count(ctx, []usage.Refusals{refusals("user:1", minute, "A", 100), once}))
		must(s.Count(ctx, nil))
		must(s.Add(ctx, []usage.Use{{At: minute, Entry: "web", Caller: "user", Owner: "user:1",
			Outcome: usage.OK, Charged: 1, Millis: 40}}))

		want := []usage.Refusals{late, refusals("user:1", minute, "A", 103), once}
		if got, err := uses.Refusals(ctx, "user:1", 9); err != nil || !slices.Equal(got, want) {
			t.Errorf("refusals are %+v, %v, want %+v", got, err, want)
		}
		if got, err := uses.Refusals(ctx, "user:1", 1); err != nil || !slices.Equal(got, want[:1]) {
			t.Errorf("the last refusal is %+v, %v", got, err)
		}
		if got, _, err := uses.History(ctx, "user:1", usage.Place{}, 9); err != nil || len(got) != 1 {
			t.Errorf("the history is %+v, %v, want the one use", got, err)
		}
		day := minute.AddDate(0, 0, 1)
		rows, err := uses.Stats(ctx, minute, day, []string{"outcome", "pdf"})
		if want := []usage.Row{{Values: []string{"A", "true"}, Uses: 115, MeanMillis: 10},
			{Values: []string{"B", "true"}, Uses: 1, MeanMillis: 10},
			{Values: []string{"ok", "false"}, Uses: 1, Charged: 1, MeanMillis: 40}}; err != nil ||
			!reflect.DeepEqual(rows, want) {
			t.Errorf("statistics are %+v, %v, want %+v", rows, err, want)
		}
		days, err := uses.Days(ctx, "user:1", minute, day)
		if want := []usage.Day{{Day: "2026-11-22", Uses: 110, Cleaned: 1, Charged: 1}}; err != nil ||
			!slices.Equal(days, want) {
			t.Errorf("days are %+v, %v, want %+v", days, err, want)
		}
		active, err := uses.Active(ctx, minute, day)
		if want := []usage.Active{{Caller: "user", Uses: 117, Owners: 2}}; err != nil ||
			!slices.Equal(active, want) {
			t.Errorf("active are %+v, %v, want %+v", active, err, want)
		}

		// Those of deleted accounts are one sum, and all of them are pruned in time.
		must(uses.Forget(ctx, "user:1"))
		must(uses.Forget(ctx, "user:2"))
		if got, err := s.Refusals(ctx, "", 9); err != nil || len(got) != 3 || got[1].Requests != 110 {
			t.Errorf("of nobody there are %+v, %v", got, err)
		}
		must(s.Count(ctx, []usage.Refusals{late}))
		if _, err := uses.Prune(ctx, minute.Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if rows, err := uses.Stats(ctx, minute, day, nil); err != nil || rows[0].Uses != 10 {
			t.Errorf("after pruning there are %+v, %v", rows, err)
		}
	})
}

// What earlier versions wrote of refused requests, a row each, becomes sums.
func TestRefusalsOfEarlierVersions(t *testing.T) {
	storetest.EachURL(t, func(t *testing.T, address string) {
		ctx := t.Context()
		driver, dialect, name := "pgx", goose.DialectPostgres, address
		if file, lite := strings.CutPrefix(address, "sqlite:"); lite {
			driver, dialect, name = "sqlite", goose.DialectSQLite3, file
		}
		old, err := sql.Open(driver, name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = old.Close() }()
		migrations, err := goose.NewProvider(dialect, old, os.DirFS("migrations"))
		if err == nil {
			_, err = migrations.UpTo(ctx, 11)
		}
		if err != nil {
			t.Fatal(err)
		}
		const minute = 60_000_000 // microseconds
		for i, outcome := range []string{"ok", "1005", "1005", "1005", "gone", "2001"} {
			charged := 0
			if outcome == "ok" || outcome == "gone" {
				charged = 1
			}
			if _, err := old.Exec(`INSERT INTO usage (id, at, entry, caller, owner, page_slug, bulk, pdf, outcome, charged, millis)
				VALUES ($1, $2, 'developer', 'customer', 'customer:1', '', 0, 0, $3, $4, 5)`,
				fmt.Sprint(i), 1000*minute+i*minute/3, outcome, charged); err != nil {
				t.Fatal(err)
			}
		}
		uses := store.NewUsage(storetest.Open(t, address))
		var left []string
		history, _, err := uses.History(ctx, "customer:1", usage.Place{}, 9)
		for _, u := range history {
			left = append(left, u.Outcome)
		}
		if err != nil || !slices.Equal(left, []string{"gone", "ok"}) {
			t.Errorf("the uses are %q, %v", left, err)
		}
		var sums []string
		refusals, err := uses.Refusals(ctx, "customer:1", 9)
		for _, r := range refusals {
			sums = append(sums, fmt.Sprintf("%d: %d × %s, %d ms", r.Minute.UnixMicro()/minute, r.Requests,
				r.Outcome, r.Millis))
		}
		if err != nil || !slices.Equal(sums, []string{"1001: 1 × 1005, 5 ms", "1001: 1 × 2001, 5 ms",
			"1000: 2 × 1005, 10 ms"}) {
			t.Errorf("the refusals are %q, %v", sums, err)
		}
	})
}
