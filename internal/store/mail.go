package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"unink/internal/mail"
)

// Mails keeps the outbox. It is a [mail.Store].
type Mails struct{ db *DB }

// NewMails returns the outbox of a database.
func NewMails(db *DB) Mails { return Mails{db} }

// Add keeps a mail unless there is one with its key.
func (s Mails) Add(ctx context.Context, m mail.Mail) (bool, error) {
	return affected(s.db.write.ExecContext(ctx, `
		INSERT INTO mails (id, mail_key, kind, recipient, subject, body_text, body_html,
			state, attempts, created, due, deadline, finished, error)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0, $9, $10, $11, 0, '')
		ON CONFLICT (mail_key) DO NOTHING`,
		m.ID, m.Key, m.Kind, m.To, m.Subject, m.Text, m.HTML,
		string(m.State), micros(m.Created), micros(m.Due), micros(m.Deadline)))
}

// Has reports whether there is a mail with a key.
func (s Mails) Has(ctx context.Context, key string) (bool, error) {
	var n int
	err := s.db.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM mails WHERE mail_key = $1`,
		key).Scan(&n)
	return n > 0, err
}

// Claim takes the mail that is due longest. The outer conditions are what makes it safe: of two
// processes that chose the same mail, the later one finds it due no more.
func (s Mails) Claim(ctx context.Context, now, lease time.Time) (mail.Mail, bool, error) {
	row := s.db.write.QueryRowContext(ctx, `
		UPDATE mails SET due = $2, attempts = attempts + 1
		WHERE state = 'waiting' AND due <= $1 AND id = (
			SELECT id FROM mails WHERE state = 'waiting' AND due <= $1 ORDER BY due, id LIMIT 1)
		RETURNING id, mail_key, kind, recipient, subject, body_text, body_html, attempts, created, deadline`,
		micros(now), micros(lease))
	m := mail.Mail{State: mail.Waiting, Due: lease}
	var created, deadline int64
	err := row.Scan(&m.ID, &m.Key, &m.Kind, &m.To, &m.Subject, &m.Text, &m.HTML, &m.Attempts,
		&created, &deadline)
	if errors.Is(err, sql.ErrNoRows) {
		return mail.Mail{}, false, nil
	}
	m.Created, m.Deadline = instant(created), instant(deadline)
	return m, err == nil, err
}

// NextDue is when the next waiting mail is due.
func (s Mails) NextDue(ctx context.Context) (time.Time, error) {
	var due int64
	err := s.db.read.QueryRowContext(ctx,
		`SELECT COALESCE(MIN(due), 0) FROM mails WHERE state = 'waiting'`).Scan(&due)
	return instant(due), err
}

// Sent marks a mail as sent, whatever was thought of it meanwhile, and blanks what it said.
func (s Mails) Sent(ctx context.Context, id string, now time.Time) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE mails SET state = 'sent', subject = '', body_text = '', body_html = '', finished = $2, error = ''
		WHERE id = $1 AND state <> 'sent'`, id, micros(now))
	return err
}

// Later makes a mail due again.
func (s Mails) Later(ctx context.Context, id string, attempt int, due time.Time, why string) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE mails SET due = $3, error = $4
		WHERE id = $1 AND attempts = $2 AND state = 'waiting'`, id, attempt, micros(due), why)
	return err
}

// Bury makes a mail a dead one.
func (s Mails) Bury(ctx context.Context, id string, attempt int, now time.Time, why string) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE mails SET state = 'dead', finished = $3, error = $4
		WHERE id = $1 AND attempts = $2 AND state = 'waiting'`, id, attempt, micros(now), why)
	return err
}

// Revive makes a dead mail wait again.
func (s Mails) Revive(ctx context.Context, id string, due, deadline time.Time) (bool, error) {
	return affected(s.db.write.ExecContext(ctx, `
		UPDATE mails SET state = 'waiting', due = $2, deadline = $3, finished = 0
		WHERE id = $1 AND state = 'dead'`, id, micros(due), micros(deadline)))
}

// Discard removes a dead mail.
func (s Mails) Discard(ctx context.Context, id string) (bool, error) {
	return affected(s.db.write.ExecContext(
		ctx, `DELETE FROM mails WHERE id = $1 AND state = 'dead'`, id,
	))
}

// Count counts what is unsent.
func (s Mails) Count(ctx context.Context) (waiting, dead int, oldest time.Time, err error) {
	var first int64
	err = s.db.read.QueryRowContext(ctx, `
		SELECT COALESCE(SUM(CASE state WHEN 'waiting' THEN 1 ELSE 0 END), 0),
		       COALESCE(SUM(CASE state WHEN 'dead' THEN 1 ELSE 0 END), 0),
		       COALESCE(MIN(CASE state WHEN 'waiting' THEN created END), 0)
		FROM mails WHERE state IN ('waiting', 'dead')`).Scan(&waiting, &dead, &first)
	return waiting, dead, instant(first), err
}

// List returns the newest mails, without what they say.
func (s Mails) List(ctx context.Context, state mail.State, limit int) ([]mail.Mail, error) {
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT id, mail_key, kind, recipient, state, attempts, created, due, deadline, finished, error
		FROM mails WHERE $1 = '' OR state = $1 ORDER BY created DESC, id DESC LIMIT $2`, string(state), limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var mails []mail.Mail
	for rows.Next() {
		var m mail.Mail
		var created, due, deadline, finished int64
		if err := rows.Scan(&m.ID, &m.Key, &m.Kind, &m.To, &m.State, &m.Attempts,
			&created, &due, &deadline, &finished, &m.Error); err != nil {
			return nil, err
		}
		m.Created, m.Due, m.Deadline, m.Finished = instant(created), instant(due), instant(deadline),
			instant(finished)
		mails = append(mails, m)
	}
	return mails, rows.Err()
}

// Prune removes mails that were finished before a time.
func (s Mails) Prune(ctx context.Context, state mail.State, before time.Time) (int64, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	res, err := s.db.write.ExecContext(ctx,
		`DELETE FROM mails WHERE state = $1 AND finished > 0 AND finished < $2`, string(state),
		micros(before))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
