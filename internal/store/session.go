package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"unink/internal/account"
)

// OpenSession implements [account.SessionStore].
func (a *Accounts) OpenSession(ctx context.Context, hash, userID, password, place, agent string,
	now time.Time) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The lock makes this wait for a change of the password, and that end this session.
		if err := changed(
			tx.ExecContext(ctx, `UPDATE users SET password = password WHERE id = $1 AND password = $2`,
				userID, password),
		); err != nil {
			return err
		}
		if err := remember(ctx, tx, userID, place, now); err != nil {
			return err
		}
		_, err := tx.ExecContext(
			ctx, `INSERT INTO sessions (hash, user_id, created, seen, agent) VALUES ($1, $2, $3, $3, $4)`,
			hash, userID, micros(now), agent,
		)
		return err
	})
}

// remember writes that a user was at a place.
func remember(ctx context.Context, tx *sql.Tx, userID, place string, now time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO places (user_id, place, seen) VALUES ($1, $2, $3)
		ON CONFLICT (user_id, place) DO UPDATE SET seen = excluded.seen`, userID, place, micros(now))
	return err
}

// Familiar implements [account.SessionStore].
func (a *Accounts) Familiar(ctx context.Context, email, place string) (bool, error) {
	var n int
	err := a.db.read.QueryRowContext(
		ctx, `SELECT COUNT(*) FROM places JOIN users ON users.id = user_id WHERE email = $1 AND place = $2`, email, place,
	).Scan(&n)
	return n > 0, err
}

// sessionID is [account.SessionID] of a session's token.
var sessionID = fmt.Sprintf("SUBSTR(sessions.hash, 1, %d)", account.SessionIDLength)

var sessionColumns = sessionID + ", sessions.agent, sessions.created, sessions.seen"

// Session implements [account.SessionStore].
func (a *Accounts) Session(ctx context.Context,
	hash string) (account.User, account.Session, error) {
	var created, seen int64
	var s account.Session
	u, err := scanUser(a.db.read.QueryRowContext(ctx, `SELECT `+userColumns+`, `+sessionColumns+` FROM sessions
		JOIN users ON users.id = user_id WHERE hash = $1`, hash), &s.ID, &s.Agent, &created, &seen)
	s.Created, s.Seen = instant(created), instant(seen)
	return u, s, err
}

// Touch implements [account.SessionStore].
func (a *Accounts) Touch(ctx context.Context, hash string, now, before time.Time) error {
	_, err := a.exec(ctx, `UPDATE sessions SET seen = $2 WHERE hash = $1 AND seen <= $3`, hash,
		micros(now), micros(before))
	return err
}

// Sessions implements [account.SessionStore].
func (a *Accounts) Sessions(ctx context.Context, userID string) ([]account.Session, error) {
	return list(ctx, a.db, func(r row) (account.Session, error) {
		var created, seen int64
		var s account.Session
		err := r.Scan(&s.ID, &s.Agent, &created, &seen)
		s.Created, s.Seen = instant(created), instant(seen)
		return s, err
	}, `SELECT `+sessionColumns+` FROM sessions WHERE user_id = $1 ORDER BY sessions.created`, userID)
}

// EndSession implements [account.SessionStore].
func (a *Accounts) EndSession(ctx context.Context, hash string) error {
	_, err := a.exec(ctx, `DELETE FROM sessions WHERE hash = $1`, hash)
	return err
}

// EndSessions implements [account.SessionStore].
func (a *Accounts) EndSessions(ctx context.Context, userID string) error {
	_, err := a.exec(ctx, `DELETE FROM sessions WHERE user_id = $1`, userID)
	return err
}

// EndSessionOf implements [account.SessionStore].
func (a *Accounts) EndSessionOf(ctx context.Context, userID, id string) error {
	return changed(a.exec(ctx, `DELETE FROM sessions WHERE user_id = $1 AND `+sessionID+` = $2`,
		userID, id))
}
