package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"unink/internal/credit"
	"unink/internal/ident"
)

// Credits keeps packages, holds and the ledger. It implements [credit.Store].
type Credits struct {
	db *DB
}

// NewCredits makes the store of credits in a database.
func NewCredits(db *DB) Credits { return Credits{db: db} }

// ledger is a transaction that may change packages: every change goes with an entry. Its entries
// sort in the order of their writing.
type ledger struct {
	*sql.Tx
	now     time.Time
	id      string
	entries int
}

// write runs do in a transaction on the ledger.
func (c Credits) write(ctx context.Context, now time.Time,
	do func(context.Context, *ledger) error) error {
	return c.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		return do(ctx, &ledger{Tx: tx, now: now, id: ident.New("ent")})
	})
}

func (l *ledger) add(ctx context.Context, e credit.Entry) error {
	l.entries++
	_, err := l.ExecContext(ctx, `
		INSERT INTO ledger (id, at, package_id, owner, kind, amount, hold_id, note)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		fmt.Sprintf(
			"%s_%04d", l.id, l.entries,
		), micros(l.now), e.Package, e.Owner, string(e.Kind), e.Amount, e.Hold, e.Note)
	return err
}

// Grant implements [credit.Store].
func (c Credits) Grant(ctx context.Context, g credit.Grant,
	now time.Time) (p credit.Package, granted bool, err error) {
	err = c.write(ctx, now, func(ctx context.Context, l *ledger) error {
		if granted, err = l.grant(ctx, g); err != nil {
			return err
		}
		p, err = scanPackage(l.QueryRowContext(ctx, selectPackage+"WHERE source = $1", g.Source))
		return err
	})
	return p, granted, err
}

func (l *ledger) grant(ctx context.Context, g credit.Grant) (bool, error) {
	id := ident.New("pkg")
	made, err := affected(l.ExecContext(ctx, insertPackage,
		id, g.Owner, g.Plan, g.Source, g.Credits, micros(l.now), micros(g.Expires), 0))
	if err != nil || !made {
		return false, err
	}
	return true, l.add(ctx, credit.Entry{Package: id, Owner: g.Owner, Kind: credit.Granted,
		Amount: g.Credits, Note: g.Note})
}

const insertPackage = `
	INSERT INTO packages (id, owner, plan, source, credits, remaining, created, expires, revoked)
	VALUES ($1, $2, $3, $4, $5, $5, $6, $7, $8)
	ON CONFLICT (source) DO NOTHING`

// Reserve implements [credit.Store].
func (c Credits) Reserve(ctx context.Context, r credit.Reservation,
	now time.Time) (h credit.Hold, err error) {
	err = c.write(ctx, now, func(ctx context.Context, l *ledger) error {
		h = credit.Hold{ID: ident.New("hold"), Charged: true}
		if r.Idempotency != nil {
			if h.Charged, err = l.claim(ctx, *r.Idempotency, h.ID); err != nil {
				return err
			}
		}
		if h.Charged {
			err = l.hold(ctx, h.ID, r)
		} else {
			h.ID = ""
		}
		if err != nil {
			return err
		}
		h.Remaining, err = scanBalance(l.QueryRowContext(ctx, selectBalance, r.Owners[0], micros(now)))
		return err
	})
	if err != nil {
		return credit.Hold{}, err
	}
	return h, nil
}

// claim makes an idempotency key stand for a hold. It returns false when the key was charged
// before.
func (l *ledger) claim(ctx context.Context, k credit.Key, hold string) (bool, error) {
	for {
		// Whoever else has the key is waited for here, and none gets it before this transaction ends.
		ours, err := affected(l.ExecContext(ctx, `
			INSERT INTO hold_keys (owner, name, body, hold_id, created) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (owner, name) DO UPDATE SET body = excluded.body, hold_id = excluded.hold_id, created = excluded.created
			WHERE hold_keys.created <= $6 OR (hold_keys.body = excluded.body AND EXISTS (
				SELECT 1 FROM holds WHERE holds.id = hold_keys.hold_id AND holds.state = 'released'))`,
			k.Owner, k.Key, k.BodyHash, hold, micros(l.now), micros(l.now.Add(-credit.KeyLife))))
		if err != nil || ours {
			return ours, err
		}
		other, charged, err := scanKey(l.QueryRowContext(ctx, selectKey, k.Owner, k.Key), k, l.now)
		if err != nil || charged {
			return false, err
		}
		// Its lease has ended, or it was released since the claim.
		if err := l.release(ctx, other); err != nil && !errors.Is(err, credit.ErrNotHeld) {
			return false, err
		}
	}
}

const selectKey = `
	SELECT hold_keys.body, hold_keys.created, holds.id, holds.state, holds.lease
	FROM hold_keys JOIN holds ON holds.id = hold_keys.hold_id
	WHERE hold_keys.owner = $1 AND hold_keys.name = $2`

// scanKey reads what a key stands for: whether it was charged before, or why it cannot be used.
// Neither, it may be claimed, and the hold, if there is one, has ended or should have.
func scanKey(r row, k credit.Key, now time.Time) (hold string, charged bool, err error) {
	var body, state string
	var created, lease int64
	err = r.Scan(&body, &created, &hold, &state, &lease)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", false, nil
	case err != nil, created <= micros(now.Add(-credit.KeyLife)):
		return hold, false, err
	case body != k.BodyHash:
		return "", false, credit.ErrKeyReused
	case state == "held" && lease > micros(now):
		return "", false, credit.ErrKeyBusy
	}
	return hold, state == "settled", nil
}

// Check implements [credit.Store].
func (c Credits) Check(ctx context.Context, r credit.Reservation, now time.Time) error {
	if k := r.Idempotency; k != nil {
		_, charged, err := scanKey(c.db.read.QueryRowContext(ctx, selectKey, k.Owner, k.Key), *k, now)
		if err != nil || charged {
			return err
		}
	}
	for _, owner := range r.Owners {
		usable, err := c.Balance(ctx, owner, now)
		for _, g := range r.Allowances {
			if err == nil && usable == 0 && g.Owner == owner && g.Expires.After(now) {
				err = c.db.read.QueryRowContext(ctx, "SELECT 1 - COUNT(*) FROM packages WHERE source = $1",
					g.Source).Scan(&usable)
			}
		}
		switch {
		case err != nil:
			return err
		case usable == 0:
			return &credit.InsufficientError{Owner: owner}
		}
	}
	return nil
}

// hold takes one credit of each owner.
func (l *ledger) hold(ctx context.Context, id string, r credit.Reservation) error {
	for _, g := range r.Allowances {
		if _, err := l.grant(ctx, g); err != nil {
			return err
		}
	}
	if _, err := l.ExecContext(
		ctx, "INSERT INTO holds (id, state, lease, ended) VALUES ($1, 'held', $2, 0)",
		id, micros(l.now.Add(r.Lease))); err != nil {
		return err
	}
	for _, owner := range r.Owners {
		taken, err := l.take(ctx, owner)
		if err != nil {
			return err
		}
		if err := l.add(ctx, credit.Entry{Package: taken, Owner: owner, Kind: credit.Reserved, Amount: -1,
			Hold: id}); err != nil {
			return err
		}
	}
	return nil
}

// take takes one credit from an owner's package that ends soonest, and returns the package.
func (l *ledger) take(ctx context.Context, owner string) (string, error) {
	for {
		var id string
		err := l.QueryRowContext(ctx, `
			SELECT id FROM packages WHERE owner = $1 AND expires > $2 AND revoked = 0 AND remaining > 0
			ORDER BY expires, created, id LIMIT 1`, owner, micros(l.now)).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return "", &credit.InsufficientError{Owner: owner}
		}
		if err != nil {
			return "", err
		}
		taken, err := affected(l.ExecContext(ctx,
			"UPDATE packages SET remaining = remaining - 1 WHERE id = $1 AND remaining >= 1 AND revoked = 0",
			id))
		if err != nil || taken {
			return id, err
		}
		// Another transaction emptied or revoked it first and has ended: the next look sees that.
	}
}

// Settle implements [credit.Store].
func (c Credits) Settle(ctx context.Context, hold string, now time.Time) error {
	return c.write(ctx, now, func(ctx context.Context, l *ledger) error {
		parts, err := l.end(ctx, hold, "settled")
		if err != nil {
			return err
		}
		for _, part := range parts {
			part.Kind = credit.Settled
			if err := l.add(ctx, part); err != nil {
				return err
			}
		}
		return nil
	})
}

// Release implements [credit.Store].
func (c Credits) Release(ctx context.Context, hold string, now time.Time) error {
	return c.write(ctx, now, func(ctx context.Context, l *ledger) error {
		return l.release(ctx, hold)
	})
}

// release gives an open hold's credits back.
func (l *ledger) release(ctx context.Context, hold string) error {
	parts, err := l.end(ctx, hold, "released")
	if err != nil {
		return err
	}
	for _, part := range parts {
		part.Kind, part.Amount = credit.Released, 1
		if _, err := l.ExecContext(ctx, "UPDATE packages SET remaining = remaining + 1 WHERE id = $1",
			part.Package); err != nil {
			return err
		}
		if err := l.add(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// end ends an open hold and returns what it held, in the order in which it was taken.
func (l *ledger) end(ctx context.Context, hold, state string) (parts []credit.Entry, err error) {
	ended, err := affected(l.ExecContext(ctx,
		"UPDATE holds SET state = $1, ended = $2 WHERE id = $3 AND state = 'held'", state,
		micros(l.now), hold))
	if err != nil {
		return nil, err
	}
	if !ended {
		return nil, credit.ErrNotHeld
	}
	rows, err := l.QueryContext(ctx,
		"SELECT package_id, owner FROM ledger WHERE hold_id = $1 AND kind = 'reserve' ORDER BY id", hold)
	return collect(rows, err, func(part *credit.Entry) error {
		part.Hold = hold
		return rows.Scan(&part.Package, &part.Owner)
	})
}

// Overdue implements [credit.Store].
func (c Credits) Overdue(ctx context.Context, now time.Time, limit int) ([]string, error) {
	rows, err := c.db.read.QueryContext(ctx,
		"SELECT id FROM holds WHERE ended = 0 AND lease <= $1 ORDER BY lease LIMIT $2",
		micros(now), limit)
	return collect(rows, err, func(id *string) error { return rows.Scan(id) })
}

// Forget implements [credit.Store].
func (c Credits) Forget(ctx context.Context, keys, holds time.Time) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	if _, err := c.db.write.ExecContext(ctx, "DELETE FROM hold_keys WHERE created <= $1",
		micros(keys)); err != nil {
		return err
	}
	_, err := c.db.write.ExecContext(ctx, "DELETE FROM holds WHERE ended > 0 AND ended <= $1",
		micros(holds))
	return err
}

// Prune implements [credit.Store].
func (c Credits) Prune(ctx context.Context, before time.Time, limit int) (pruned int, err error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	err = c.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT id FROM packages WHERE expires <= $1 AND source LIKE $2 AND NOT EXISTS (
				SELECT 1 FROM ledger JOIN holds ON holds.id = ledger.hold_id WHERE ledger.package_id = packages.id)
			ORDER BY expires, id LIMIT $3`, micros(before), credit.AllowancePrefix+"%", limit)
		ids, err := collect(rows, err, func(id *string) error { return rows.Scan(id) })
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := execute(ctx, tx, []string{"DELETE FROM ledger WHERE package_id = $1",
				"DELETE FROM packages WHERE id = $1"}, id); err != nil {
				return err
			}
		}
		pruned = len(ids)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return pruned, nil
}

// Balance implements [credit.Store].
func (c Credits) Balance(ctx context.Context, owner string, now time.Time) (int, error) {
	return scanBalance(c.db.read.QueryRowContext(ctx, selectBalance, owner, micros(now)))
}

const selectBalance = `
	SELECT CAST(COALESCE(SUM(remaining), 0) AS BIGINT) FROM packages
	WHERE owner = $1 AND expires > $2 AND revoked = 0`

func scanBalance(r row) (n int, err error) {
	err = r.Scan(&n)
	return n, err
}

const selectPackage = "SELECT id, owner, plan, source, credits, remaining, created, expires, " +
	"revoked FROM packages "

func scanPackage(row row) (p credit.Package, err error) {
	var created, expires, revoked int64
	err = row.Scan(&p.ID, &p.Owner, &p.Plan, &p.Source, &p.Credits, &p.Remaining, &created,
		&expires, &revoked)
	p.Created, p.Expires, p.Revoked = instant(created), instant(expires), instant(revoked)
	return p, err
}

// Packages implements [credit.Store].
func (c Credits) Packages(ctx context.Context, owner string) ([]credit.Package, error) {
	rows, err := c.db.read.QueryContext(
		ctx, selectPackage+"WHERE owner = $1 ORDER BY expires, created, id", owner,
	)
	return collect(rows, err, func(p *credit.Package) (err error) {
		*p, err = scanPackage(rows)
		return err
	})
}

// Revoke implements [credit.Store].
func (c Credits) Revoke(ctx context.Context, source, note string,
	now time.Time) (revoked int, err error) {
	err = c.write(ctx, now, func(ctx context.Context, l *ledger) error {
		id := ident.New("pkg")
		marked, err := affected(l.ExecContext(ctx, insertPackage,
			id, "", "", source, 0, micros(now), micros(now), micros(now)))
		if err != nil {
			return err
		}
		if marked {
			revoked = 0
			return l.add(ctx, credit.Entry{Package: id, Kind: credit.Revoked, Note: note})
		}
		revoked, err = l.revoke(ctx, "source = $2", source, note)
		return err
	})
	return revoked, err
}

// RevokeOwner implements [credit.Store].
func (c Credits) RevokeOwner(ctx context.Context, owner, note string,
	now time.Time) (revoked int, err error) {
	err = c.write(ctx, now, func(ctx context.Context, l *ledger) (err error) {
		revoked, err = l.revoke(ctx, "owner = $2", owner, note)
		return err
	})
	return revoked, err
}

// revoke takes what is left of the packages for which where, an expression of $2, is true.
func (l *ledger) revoke(ctx context.Context, where, arg, note string) (revoked int, err error) {
	// The first statement locks the packages, so what is left of them stays that until the second.
	rows, err := l.QueryContext(ctx, `
		UPDATE packages SET revoked = CASE WHEN revoked = 0 THEN $1 ELSE revoked END
		WHERE (revoked = 0 OR remaining > 0) AND `+where+` RETURNING id, owner, remaining`, micros(l.now), arg)
	left, err := collect(rows, err, func(e *credit.Entry) error {
		e.Kind, e.Note = credit.Revoked, note
		return rows.Scan(&e.Package, &e.Owner, &e.Amount)
	})
	if err != nil {
		return 0, err
	}
	for _, e := range left {
		if _, err := l.ExecContext(ctx, "UPDATE packages SET remaining = remaining - $1 WHERE id = $2",
			e.Amount, e.Package); err != nil {
			return 0, err
		}
		revoked += e.Amount
		e.Amount = -e.Amount
		if err := l.add(ctx, e); err != nil {
			return 0, err
		}
	}
	return revoked, nil
}

// Entries implements [credit.Store].
func (c Credits) Entries(ctx context.Context, f credit.Filter) ([]credit.Entry, error) {
	where, args := "at >= $1", []any{micros(f.Since), f.Limit}
	if f.Owner != "" {
		where, args = where+" AND owner = $3", append(args, f.Owner)
	}
	rows, err := c.db.read.QueryContext(ctx, `
		SELECT id, at, package_id, owner, kind, amount, hold_id, note FROM ledger
		WHERE `+where+` ORDER BY at DESC, id DESC LIMIT $2`, args...)
	return collect(rows, err, func(e *credit.Entry) error {
		var at int64
		err := rows.Scan(&e.ID, &at, &e.Package, &e.Owner, &e.Kind, &e.Amount, &e.Hold, &e.Note)
		e.At = instant(at)
		return err
	})
}

// audits each return package, hold and problem of what does not add up. Each is one statement, so
// that it sees one moment while others write.
var audits = []string{
	`SELECT packages.id, '', 'remaining is not the sum of the ledger''s entries'
	FROM packages LEFT JOIN ledger ON ledger.package_id = packages.id
	GROUP BY packages.id, packages.remaining
	HAVING packages.remaining <> COALESCE(SUM(ledger.amount), 0)
	LIMIT $1`,

	`SELECT packages.id, '', 'credits are not what the ledger says was granted'
	FROM packages LEFT JOIN ledger ON ledger.package_id = packages.id AND ledger.kind = 'grant'
	GROUP BY packages.id, packages.credits
	HAVING packages.credits <> COALESCE(SUM(ledger.amount), 0)
	LIMIT $1`,

	// A hold that was forgotten has ended one way or the other.
	`SELECT package_id, hold_id, 'the ledger''s entries do not fit a hold that is ' || state FROM (
		SELECT ledger.package_id, ledger.hold_id, COALESCE(holds.state, 'forgotten') AS state,
			SUM(CASE ledger.kind WHEN 'reserve' THEN 1 ELSE 0 END) AS reserved,
			SUM(CASE ledger.kind WHEN 'settle' THEN 1 ELSE 0 END) AS settled,
			SUM(CASE ledger.kind WHEN 'release' THEN 1 ELSE 0 END) AS released
		FROM ledger LEFT JOIN holds ON holds.id = ledger.hold_id
		WHERE ledger.hold_id <> ''
		GROUP BY ledger.package_id, ledger.hold_id, holds.state) AS parts
	WHERE reserved <> 1
		OR settled + released <> CASE state WHEN 'held' THEN 0 ELSE 1 END
		OR (state = 'settled' AND settled = 0)
		OR (state = 'released' AND released = 0)
	LIMIT $1`,

	`SELECT '', holds.id, 'the ledger has nothing reserved for this hold'
	FROM holds LEFT JOIN ledger ON ledger.hold_id = holds.id
	WHERE ledger.id IS NULL
	LIMIT $1`,
}

// Audit implements [credit.Store].
func (c Credits) Audit(ctx context.Context, limit int) ([]credit.Discrepancy, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	var all []credit.Discrepancy
	for _, query := range audits {
		rows, err := c.db.read.QueryContext(ctx, query, limit-len(all))
		found, err := collect(rows, err, func(d *credit.Discrepancy) error {
			return rows.Scan(&d.Package, &d.Hold, &d.Problem)
		})
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// Outstanding implements [credit.Store].
func (c Credits) Outstanding(ctx context.Context, now time.Time) (o credit.Outstanding, err error) {
	err = c.db.read.QueryRowContext(ctx, `
		SELECT
			(SELECT COUNT(*) FROM holds JOIN ledger ON ledger.hold_id = holds.id AND ledger.kind = 'reserve' WHERE holds.ended = 0),
			(SELECT COUNT(*) FROM packages WHERE expires > $1 AND revoked = 0 AND remaining > 0)`,
		micros(now)).Scan(&o.Held, &o.Packages)
	return o, err
}

// collect reads all rows of a query and closes them; scan reads the current one.
func collect[T any](rows rows, err error, scan func(*T) error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []T
	for rows.Next() {
		var one T
		if err := scan(&one); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
