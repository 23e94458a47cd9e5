package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"unink/internal/ident"
	"unink/internal/usage"
)

// Usage keeps uses and refusals. It implements [usage.Store].
type Usage struct {
	db *DB
}

// NewUsage makes the store of uses in a database.
func NewUsage(db *DB) Usage { return Usage{db: db} }

const usageColumns = "at, entry, caller, owner, page_slug, bulk, pdf, outcome, charged, millis"

// Add implements [usage.Store].
func (s Usage) Add(ctx context.Context, uses []usage.Use) error {
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		insert, err := tx.PrepareContext(ctx, "INSERT INTO usage (id, "+usageColumns+`)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`)
		if err != nil {
			return err
		}
		defer func() { _ = insert.Close() }()
		for _, u := range uses {
			if _, err := insert.ExecContext(ctx, ident.New("use"), micros(u.At), u.Entry, u.Caller, u.Owner,
				u.PageSlug,
				flag(u.Bulk), flag(u.PDF), u.Outcome, u.Charged, u.Millis); err != nil {
				return err
			}
		}
		return nil
	})
}

// Count implements [usage.Store]. The rows are taken in one order, so that no two processes wait
// for each other.
func (s Usage) Count(ctx context.Context, refusals []usage.Refusals) error {
	refusals = slices.SortedFunc(slices.Values(refusals), func(a, b usage.Refusals) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), a.Minute.Compare(b.Minute),
			cmp.Compare(a.Entry, b.Entry), cmp.Compare(a.Caller, b.Caller),
			cmp.Compare(a.Outcome, b.Outcome), flag(a.Bulk)-flag(b.Bulk), flag(a.PDF)-flag(b.PDF))
	})
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		for _, r := range refusals {
			if _, err := tx.ExecContext(ctx, `INSERT INTO refusals (`+refusalColumns+`)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) `+addRefusals, micros(r.Minute), r.Entry, r.Caller, r.Owner,
				flag(r.Bulk), flag(r.PDF), r.Outcome, r.Requests, r.Millis); err != nil {
				return err
			}
		}
		return nil
	})
}

const (
	refusalColumns = "at, entry, caller, owner, bulk, pdf, outcome, requests, millis"
	addRefusals    = `ON CONFLICT (owner, at, entry, caller, bulk, pdf, outcome) DO UPDATE
		SET requests = refusals.requests + excluded.requests, millis = refusals.millis + excluded.millis`
)

// Refusals implements [usage.Store].
func (s Usage) Refusals(ctx context.Context, owner string, limit int) ([]usage.Refusals, error) {
	rows, err := s.db.read.QueryContext(ctx, "SELECT "+refusalColumns+` FROM refusals WHERE owner = $1
		ORDER BY at DESC, entry, caller, bulk, pdf, outcome LIMIT $2`, owner, limit)
	return collect(rows, err, func(r *usage.Refusals) error {
		var at int64
		err := rows.Scan(&at, &r.Entry, &r.Caller, &r.Owner, &r.Bulk, &r.PDF, &r.Outcome, &r.Requests,
			&r.Millis)
		r.Minute = instant(at)
		return err
	})
}

const day = 24 * time.Hour

// dayMicros makes the number of a day since 1970 of a time in the database.
var dayMicros = strconv.FormatInt(day.Microseconds(), 10)

// counted is the expression for each column of [usage.By]: names in statements come from here.
var counted = map[string]string{
	"day":       "at / " + dayMicros,
	"entry":     "entry",
	"caller":    "caller",
	"page_slug": "page_slug",
	"bulk":      "bulk",
	"pdf":       "pdf",
	"outcome":   "outcome",
}

// Stats implements [usage.Store].
func (s Usage) Stats(ctx context.Context, from, to time.Time, by []string,
	limit int) ([]usage.Row, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	columns, group := "", ""
	for i, name := range by {
		expression, ok := counted[name]
		if !ok {
			return nil, fmt.Errorf("usage has no column %q", name)
		}
		columns += "CAST(" + expression + " AS TEXT), "
		group += ", " + strconv.Itoa(i+1)
	}
	if group != "" {
		group = "GROUP BY " + strings.TrimPrefix(group, ", ")
	}
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT `+columns+`CAST(COALESCE(SUM(requests), 0) AS BIGINT), CAST(COALESCE(SUM(charged), 0) AS BIGINT), CAST(COALESCE(SUM(millis), 0) AS BIGINT)
		FROM requests WHERE at >= $1 AND at < $2 `+group+` HAVING COUNT(*) > 0 LIMIT $3`, micros(from), micros(to), limit)
	return collect(rows, err, func(r *usage.Row) error {
		var millis int64
		r.Values = make([]string, len(by))
		into := make([]any, 0, len(by)+3)
		for i := range r.Values {
			into = append(into, &r.Values[i])
		}
		if err := rows.Scan(append(into, &r.Uses, &r.Charged, &millis)...); err != nil {
			return err
		}
		r.MeanMillis = float64(millis) / float64(r.Uses)
		for i, name := range by {
			if r.Values[i], err = readable(name, r.Values[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// date writes the number of a day since 1970.
func date(number int64) string {
	return time.UnixMicro(number * day.Microseconds()).UTC().Format(time.DateOnly)
}

// readable writes a stored value as people read it.
func readable(column, value string) (string, error) {
	switch column {
	case "day":
		n, err := strconv.ParseInt(value, 10, 64)
		return date(n), err
	case "bulk", "pdf":
		return strconv.FormatBool(value == "1"), nil
	}
	return value, nil
}

// History implements [usage.Store].
func (s Usage) History(ctx context.Context, owner string, from usage.Place,
	limit int) ([]usage.Use, usage.Place, error) {
	before := int64(math.MaxInt64)
	if !from.At.IsZero() {
		before = micros(from.At)
	}
	rows, err := s.db.read.QueryContext(ctx, "SELECT id, "+usageColumns+` FROM usage
		WHERE owner = $1 AND (at < $2 OR at = $2 AND id < $3) ORDER BY at DESC, id DESC LIMIT $4`, owner, before, from.ID, limit+1)
	var ids []string
	uses, err := collect(rows, err, func(u *usage.Use) error {
		var at int64
		var id string
		err := rows.Scan(&id, &at, &u.Entry, &u.Caller, &u.Owner, &u.PageSlug, &u.Bulk, &u.PDF,
			&u.Outcome, &u.Charged, &u.Millis)
		u.At, ids = instant(at), append(ids, id)
		return err
	})
	if err != nil || len(uses) <= limit {
		return uses, usage.Place{}, err
	}
	return uses[:limit], usage.Place{At: uses[limit-1].At, ID: ids[limit-1]}, nil
}

// Days implements [usage.Store].
func (s Usage) Days(ctx context.Context, owner string, from, to time.Time) ([]usage.Day, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT `+counted["day"]+`, CAST(SUM(requests) AS BIGINT), CAST(SUM(CASE outcome WHEN $4 THEN requests ELSE 0 END) AS BIGINT), CAST(SUM(charged) AS BIGINT)
		FROM requests WHERE owner = $1 AND at >= $2 AND at < $3 GROUP BY 1 ORDER BY 1`, owner, micros(from), micros(to), usage.OK)
	return collect(rows, err, func(d *usage.Day) error {
		var number int64
		err := rows.Scan(&number, &d.Uses, &d.Cleaned, &d.Charged)
		d.Day = date(number)
		return err
	})
}

// Active implements [usage.Store].
func (s Usage) Active(ctx context.Context, from, to time.Time) ([]usage.Active, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT caller, CAST(SUM(requests) AS BIGINT), COUNT(DISTINCT NULLIF(owner, ''))
		FROM requests WHERE at >= $1 AND at < $2 GROUP BY caller ORDER BY caller`, micros(from), micros(to))
	return collect(rows, err, func(a *usage.Active) error {
		return rows.Scan(&a.Caller, &a.Uses, &a.Owners)
	})
}

// Took implements [usage.Store].
func (s Usage) Took(ctx context.Context, from, to time.Time) ([]usage.Took, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	rows, err := s.db.read.QueryContext(ctx, fmt.Sprintf(`
		SELECT entry, (CASE WHEN millis > %d THEN %[1]d ELSE millis END) / %d * %[2]d, COUNT(*)
		FROM usage WHERE at >= $1 AND at < $2 AND outcome = $3 GROUP BY 1, 2 ORDER BY 1, 2`, usage.TookMost, usage.TookStep),
		micros(from), micros(to), usage.OK)
	return collect(rows, err, func(t *usage.Took) error {
		return rows.Scan(&t.Entry, &t.Millis, &t.Uses)
	})
}

// Forget implements [usage.Store].
func (s Usage) Forget(ctx context.Context, owner string) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	return s.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return execute(ctx, tx, unnameUses, owner)
	})
}

// unnameUses leave what an owner used and was refused to nobody. Refusals join those of others that
// belong to nobody.
var unnameUses = []string{
	`UPDATE usage SET owner = '' WHERE owner = $1`,
	`INSERT INTO refusals (` + refusalColumns + `) SELECT at, entry, caller, '', bulk, pdf, outcome, requests, millis
		FROM refusals WHERE owner = $1 ` + addRefusals,
	`DELETE FROM refusals WHERE owner = $1`,
}

// Prune implements [usage.Store].
func (s Usage) Prune(ctx context.Context, before time.Time, limit int) (int, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	if _, err := s.db.write.ExecContext(ctx, `DELETE FROM refusals WHERE at < $1`,
		micros(before)); err != nil {
		return 0, err
	}
	res, err := s.db.write.ExecContext(ctx, `
		DELETE FROM usage WHERE id IN (SELECT id FROM usage WHERE owner = '' AND at < $1 ORDER BY at LIMIT $2)`, micros(before), limit)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
