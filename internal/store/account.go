package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"unink/internal/account"
)

// Accounts implements [account.Store].
type Accounts struct{ db *DB }

var _ account.Store = (*Accounts)(nil)

// NewAccounts returns the accounts of a database.
func NewAccounts(db *DB) *Accounts { return &Accounts{db} }

// row is a row of a table, or of several.
type row interface{ Scan(into ...any) error }

// found says not found where there is no row.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return account.ErrNotFound
	}
	return err
}

// exec runs a statement in a transaction of its own.
func (a *Accounts) exec(ctx context.Context, statement string,
	args ...any) (res sql.Result, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		res, err = tx.ExecContext(ctx, statement, args...)
		return err
	})
	return res, err
}

// changed says not found where a statement changed nothing.
func changed(res sql.Result, err error) error {
	if ok, err := affected(res, err); err != nil || ok {
		return err
	}
	return account.ErrNotFound
}

// execute runs statements that all have the same parameters.
func execute(ctx context.Context, tx *sql.Tx, statements []string, args ...any) error {
	for _, statement := range statements {
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return err
		}
	}
	return nil
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

const (
	userColumns = `users.id, users.kind, COALESCE(users.email, ''), users.role, users.verified, users.created, users.bought`
	insertUser  = `INSERT INTO users (id, kind, email, role, verified, created, last_seen, bought, password, device)
		VALUES ($1, $2, NULLIF($3, ''), $4, $5, $6, $6, 0, $7, NULLIF($8, ''))`
)

func userValues(u account.User, password, device string) []any {
	return []any{u.ID, string(u.Kind), u.Email, u.Role, flag(u.Verified), micros(u.Created),
		password, device}
}

// scanUser reads userColumns, and what follows them into more.
func scanUser(r row, more ...any) (account.User, error) {
	var u account.User
	var created int64
	err := r.Scan(append([]any{&u.ID, &u.Kind, &u.Email, &u.Role, &u.Verified, &created, &u.Bought},
		more...)...)
	u.Created = instant(created)
	return u, found(err)
}

// SignUp implements [account.UserStore].
func (a *Accounts) SignUp(ctx context.Context, u account.User,
	t account.OneTime) (verified bool, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The update locks the user, whether it changes anything or not.
		var id string
		err := tx.QueryRowContext(ctx, insertUser+` ON CONFLICT (email) DO UPDATE
			SET last_seen = CASE users.verified WHEN 0 THEN excluded.last_seen ELSE users.last_seen END RETURNING id, verified`,
			userValues(u, "", "")...).Scan(&id, &verified)
		if err != nil || verified {
			return err
		}
		_, err = tx.ExecContext(
			ctx, `INSERT INTO one_time_tokens (hash, purpose, user_id, password, expires) VALUES ($1, $2, $3, $4, $5)`,
			t.Hash, t.Purpose, id, t.Password, micros(t.Expires))
		return err
	})
	return verified, err
}

// CreateUser implements [account.UserStore].
func (a *Accounts) CreateUser(ctx context.Context, u account.User,
	password string) (made account.User, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		made, err = scanUser(tx.QueryRowContext(ctx, insertUser+` ON CONFLICT (email) DO UPDATE
			SET password = excluded.password, role = excluded.role, verified = 1 WHERE users.verified = 0
			RETURNING `+userColumns, userValues(u, password, "")...))
		if errors.Is(err, account.ErrNotFound) {
			return account.ErrExists
		}
		if err != nil {
			return err
		}
		return execute(ctx, tx, []string{`DELETE FROM one_time_tokens WHERE user_id = $1`}, made.ID)
	})
	return made, err
}

// FindUser implements [account.UserStore].
func (a *Accounts) FindUser(ctx context.Context, idOrEmail string) (account.User, string, error) {
	var password string
	u, err := scanUser(a.db.read.QueryRowContext(
		ctx, `SELECT `+userColumns+`, password FROM users WHERE id = $1 OR email = $1`, idOrEmail,
	), &password)
	return u, password, err
}

// Users implements [account.UserStore].
func (a *Accounts) Users(ctx context.Context, limit int, after string) ([]account.User, error) {
	return list(ctx, a.db, func(r row) (account.User, error) { return scanUser(r) },
		`SELECT `+userColumns+` FROM users WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

// beginsWith is an expression: whether a column begins with $1, in any collation.
func beginsWith(column string) string {
	return `SUBSTR(` + column + `, 1, LENGTH(CAST($1 AS TEXT))) = $1`
}

// SearchUsers implements [account.UserStore].
func (a *Accounts) SearchUsers(ctx context.Context, prefix, id string,
	limit int) ([]account.User, error) {
	return list(ctx, a.db, func(r row) (account.User, error) { return scanUser(r) },
		`SELECT `+userColumns+` FROM users WHERE `+beginsWith("email")+` OR id = $2
		ORDER BY email, id LIMIT $3`, prefix, id, limit)
}

// list reads all rows of a query.
func list[T any](ctx context.Context, db *DB, scan func(row) (T, error), query string,
	args ...any) ([]T, error) {
	rows, err := db.read.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	all := []T{}
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// SetBought implements [account.UserStore].
func (a *Accounts) SetBought(ctx context.Context, userID string) error {
	return changed(a.exec(ctx, `UPDATE users SET bought = 1 WHERE id = $1`, userID))
}

// SetRole implements [account.UserStore].
func (a *Accounts) SetRole(ctx context.Context, userID, role string) error {
	return changed(a.exec(ctx, `UPDATE users SET role = $2 WHERE id = $1 AND kind = $3`, userID, role,
		string(account.Registered)))
}

// DeleteUser implements [account.UserStore]. Foreign keys delete what belongs to the user.
func (a *Accounts) DeleteUser(ctx context.Context, userID, person string) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := changed(
			tx.ExecContext(ctx, `DELETE FROM users WHERE id = $1`, userID),
		); err != nil || person == "" {
			return err
		}
		_, err := welcome(ctx, tx, person, userID)
		return err
	})
}

// Welcome implements [account.UserStore].
func (a *Accounts) Welcome(ctx context.Context, person, userID string) (first bool, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		welcomed, err := welcome(ctx, tx, person, userID)
		first = welcomed == userID
		return err
	})
	return first, err
}

// welcome returns the user that a person was welcomed as: this one, where that was none yet.
func welcome(ctx context.Context, tx *sql.Tx, person, userID string) (welcomed string, err error) {
	err = tx.QueryRowContext(ctx, `INSERT INTO welcomed (person, user_id) VALUES ($1, $2)
		ON CONFLICT (person) DO UPDATE SET user_id = welcomed.user_id RETURNING user_id`, person, userID).Scan(&welcomed)
	return welcomed, err
}

// Establish implements [account.UserStore]. The condition of the sum keeps the limit: whoever comes
// at the same time waits for its row.
func (a *Accounts) Establish(ctx context.Context, u account.User, device, network string,
	most int) (who account.User, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		who, err = scanUser(tx.QueryRowContext(
			ctx, insertUser+` ON CONFLICT (device) DO UPDATE SET last_seen = excluded.last_seen RETURNING `+userColumns,
			userValues(u, "", device)...))
		if err != nil || who.ID != u.ID {
			return err
		}
		if most < 1 {
			return account.ErrTooMany
		}
		counted, err := affected(tx.ExecContext(ctx, `INSERT INTO arrivals (network, day, accounts) VALUES ($1, $2, 1)
			ON CONFLICT (network, day) DO UPDATE SET accounts = arrivals.accounts + 1 WHERE arrivals.accounts < $3`,
			network, micros(u.Created.Truncate(day)), most))
		if err == nil && !counted {
			return account.ErrTooMany
		}
		return err
	})
	return who, err
}

// UserOn implements [account.UserStore].
func (a *Accounts) UserOn(ctx context.Context, device string) (account.User, time.Time, error) {
	var seen int64
	u, err := scanUser(a.db.read.QueryRowContext(
		ctx, `SELECT `+userColumns+`, last_seen FROM users WHERE device = $1`, device,
	), &seen)
	return u, instant(seen), err
}

// SetSeen implements [account.UserStore].
func (a *Accounts) SetSeen(ctx context.Context, userID string, now time.Time) error {
	return changed(a.exec(ctx, `UPDATE users SET last_seen = $2 WHERE id = $1`, userID, micros(now)))
}

// Without its user, what was used stays in the statistics; the first credits and their movements
// go.
const (
	deleteEntries = `DELETE FROM ledger WHERE package_id IN (SELECT id FROM packages WHERE source = $1)`
	deletePackage = `DELETE FROM packages WHERE source = $1`
)

// PruneUsers implements [account.UserStore]. The outer conditions are what makes it safe: whoever
// is seen, confirmed or said to have bought meanwhile waits for the row or changes it first.
func (a *Accounts) PruneUsers(ctx context.Context, kind account.Kind, before time.Time,
	limit int) (pruned int, err error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			DELETE FROM users WHERE last_seen <= $2 AND verified = 0 AND bought = 0 AND id IN (
				SELECT id FROM users WHERE kind = $1 AND last_seen <= $2 AND created <= $2 AND verified = 0 AND bought = 0
					AND (email IS NOT NULL OR device IS NOT NULL)
					AND NOT EXISTS (SELECT 1 FROM packages WHERE packages.owner = $4 || users.id AND packages.source <> $5 || users.id)
					AND NOT EXISTS (SELECT 1 FROM ledger JOIN holds ON holds.id = ledger.hold_id WHERE ledger.owner = $4 || users.id)
				ORDER BY last_seen, id LIMIT $3)
			RETURNING id`, string(kind), micros(before), limit, account.OwnerPrefix, account.WelcomePrefix)
		ids, err := collect(rows, err, func(id *string) error { return rows.Scan(id) })
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := execute(ctx, tx, unnameUses, account.OwnerPrefix+id); err != nil {
				return err
			}
			if err := execute(ctx, tx, []string{deleteEntries, deletePackage},
				account.WelcomePrefix+id); err != nil {
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

// errRaced rolls a transaction back whose work another did at the same time; a second look finds
// it.
var errRaced = errors.New("store: done by another at the same time")

// Identify implements [account.UserStore].
func (a *Accounts) Identify(ctx context.Context, i account.Identity,
	u account.User) (who account.User, password string, err error) {
	identify := func(ctx context.Context, tx *sql.Tx) error {
		who, err = scanUser(tx.QueryRowContext(ctx, `SELECT `+userColumns+`, password FROM identities
			JOIN users ON users.id = user_id WHERE issuer = $1 AND subject = $2`, i.Issuer, i.Subject), &password)
		if !errors.Is(err, account.ErrNotFound) {
			return err
		}
		who, err = scanUser(tx.QueryRowContext(
			ctx, insertUser+` ON CONFLICT (email) DO UPDATE SET verified = 1 RETURNING `+userColumns+`, password`,
			userValues(u, "", "")...), &password)
		if err != nil {
			return err
		}
		// Who signed up with the address before it was verified may be anybody.
		if err := execute(ctx, tx,
			[]string{`DELETE FROM one_time_tokens WHERE user_id = $1 AND purpose = 'verify'`},
			who.ID); err != nil {
			return err
		}
		added, err := affected(tx.ExecContext(ctx, `INSERT INTO identities (issuer, subject, user_id, linked) VALUES ($1, $2, $3, $4)
			ON CONFLICT (issuer, subject) DO NOTHING`, i.Issuer, i.Subject, who.ID, micros(i.Linked)))
		if err == nil && !added {
			return errRaced
		}
		return err
	}
	if err = a.db.tx(ctx, identify); errors.Is(err, errRaced) {
		err = a.db.tx(ctx, identify)
	}
	return who, password, err
}

// Identities implements [account.UserStore].
func (a *Accounts) Identities(ctx context.Context, userID string) ([]account.Identity, error) {
	return list(ctx, a.db, func(r row) (i account.Identity, err error) {
		var linked int64
		err = r.Scan(&i.Issuer, &i.Subject, &linked)
		i.Linked = instant(linked)
		return i, err
	}, `SELECT issuer, subject, linked FROM identities WHERE user_id = $1 ORDER BY linked`, userID)
}

// AddReset implements [account.UserStore].
func (a *Accounts) AddReset(ctx context.Context, email string, t account.OneTime,
	now time.Time) (known bool, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var id string
		err := tx.QueryRowContext(ctx, `UPDATE users SET last_seen = CASE verified WHEN 0 THEN $2 ELSE last_seen END
			WHERE email = $1 RETURNING id`, email, micros(now)).Scan(&id)
		if known = err == nil; errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(
			ctx, `INSERT INTO one_time_tokens (hash, purpose, user_id, password, expires) VALUES ($1, $2, $3, '', $4)`,
			t.Hash, t.Purpose, id, micros(t.Expires))
		return err
	})
	return known, err
}

// OneTimeUser implements [account.UserStore].
func (a *Accounts) OneTimeUser(ctx context.Context, hash, purpose string,
	now time.Time) (account.User, error) {
	return scanUser(a.db.read.QueryRowContext(ctx, `SELECT `+userColumns+` FROM one_time_tokens
		JOIN users ON users.id = user_id WHERE hash = $1 AND purpose = $2 AND expires > $3`, hash, purpose, micros(now)))
}

// use deletes a one-time token and returns whose it was, and its password. Of several that use the
// same, one finds it. All that changes a user's tokens locks the user first, and so waits in turn.
func use(ctx context.Context, tx *sql.Tx, hash, purpose string,
	now time.Time) (userID, password string, err error) {
	if err := execute(ctx, tx,
		[]string{
			`UPDATE users SET password = password WHERE id = (SELECT user_id FROM one_time_tokens WHERE hash = $1)`,
		}, hash); err != nil {
		return "", "", err
	}
	err = tx.QueryRowContext(
		ctx, `DELETE FROM one_time_tokens WHERE hash = $1 AND purpose = $2 AND expires > $3 RETURNING user_id, password`,
		hash, purpose, micros(now)).Scan(&userID, &password)
	return userID, password, found(err)
}

// Verify implements [account.UserStore].
func (a *Accounts) Verify(ctx context.Context, hash string,
	now time.Time) (u account.User, err error) {
	err = a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, password, err := use(ctx, tx, hash, account.NoticeVerify, now)
		if err != nil {
			return err
		}
		u, err = scanUser(tx.QueryRowContext(
			ctx, `UPDATE users SET verified = 1, password = $2 WHERE id = $1 AND verified = 0 RETURNING `+userColumns, id, password,
		))
		if err != nil {
			return err
		}
		return execute(ctx, tx, []string{`DELETE FROM one_time_tokens WHERE user_id = $1`}, id)
	})
	return u, err
}

var endAll = []string{`DELETE FROM one_time_tokens WHERE user_id = $1`,
	`DELETE FROM sessions WHERE user_id = $1`}

// Reset implements [account.UserStore].
func (a *Accounts) Reset(ctx context.Context, hash, password, place string, now time.Time) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		id, _, err := use(ctx, tx, hash, account.NoticeReset, now)
		if err != nil {
			return err
		}
		if err := changed(
			tx.ExecContext(ctx, `UPDATE users SET verified = 1, password = $2 WHERE id = $1`, id, password),
		); err != nil {
			return err
		}
		if err := remember(ctx, tx, id, place, now); err != nil {
			return err
		}
		return execute(ctx, tx, endAll, id)
	})
}

// ChangePassword implements [account.UserStore].
func (a *Accounts) ChangePassword(ctx context.Context, userID, old, password string) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if err := changed(
			tx.ExecContext(ctx, `UPDATE users SET password = $3 WHERE id = $1 AND password = $2`, userID,
				old, password),
		); err != nil {
			return err
		}
		return execute(ctx, tx, endAll, userID)
	})
}

// Prune implements [account.SessionStore].
func (a *Accounts) Prune(ctx context.Context, created, seen, now time.Time) error {
	ctx, cancel := atLength(ctx)
	defer cancel()
	if _, err := a.exec(ctx, `DELETE FROM sessions WHERE created <= $1 OR seen <= $2`, micros(created),
		micros(seen)); err != nil {
		return err
	}
	if _, err := a.exec(ctx, `DELETE FROM places WHERE seen <= $1`, micros(created)); err != nil {
		return err
	}
	if _, err := a.exec(ctx, `DELETE FROM arrivals WHERE day < $1`, micros(now.Truncate(day))); err != nil {
		return err
	}
	_, err := a.exec(ctx, `DELETE FROM one_time_tokens WHERE expires <= $1`, micros(now))
	return err
}
