package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"unink/internal/billing"
)

// Purchases keeps what was bought. It is a [billing.Store].
type Purchases struct{ db *DB }

// NewPurchases returns the purchases of a database.
func NewPurchases(db *DB) Purchases { return Purchases{db} }

// Begin remembers a purchase and starts an attempt at delivering it. The purchase is one statement
// and the attempt another: whoever is between the two has done nothing yet.
func (s Purchases) Begin(ctx context.Context, p billing.Purchase, now,
	lease time.Time) (billing.Record, error) {
	if _, err := s.db.write.ExecContext(ctx, `
		INSERT INTO purchases (reference, plan, email, name, slug, user_id, cents, currency, created,
			attempt, lease, customer, token, delivered, revoked, why)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, '', '', 0, 0, '')
		ON CONFLICT (reference) DO UPDATE
		SET plan = excluded.plan, email = excluded.email, name = excluded.name, slug = excluded.slug, user_id = excluded.user_id,
			cents = excluded.cents, currency = excluded.currency
		WHERE purchases.plan = ''`,
		p.Reference, p.Plan, p.Email, p.Name, p.Slug, p.UserID, p.Cents, p.Currency, micros(
			now,
		)); err != nil {
		return billing.Record{}, err
	}
	var attempt int
	err := s.db.write.QueryRowContext(ctx, `
		UPDATE purchases SET attempt = attempt + 1, lease = $3
		WHERE reference = $1 AND delivered = 0 AND revoked = 0 AND lease <= $2
		RETURNING attempt`, p.Reference, micros(now), micros(lease)).Scan(&attempt)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return billing.Record{}, err
	}
	r, err := s.Find(ctx, p.Reference)
	r.Attempt = attempt
	return r, err
}

// Find returns what is remembered of a purchase.
func (s Purchases) Find(ctx context.Context, reference string) (billing.Record, error) {
	r := billing.Record{Purchase: billing.Purchase{Reference: reference}}
	var delivered, revoked int64
	err := s.db.read.QueryRowContext(ctx, `
		SELECT plan, email, name, slug, user_id, cents, currency, token, delivered, revoked FROM purchases WHERE reference = $1`, reference).
		Scan(&r.Plan, &r.Email, &r.Name, &r.Slug, &r.UserID, &r.Cents, &r.Currency, &r.Token,
			&delivered, &revoked)
	if errors.Is(err, sql.ErrNoRows) {
		return billing.Record{}, nil
	}
	r.Delivered, r.Revoked = delivered != 0, revoked != 0
	return r, err
}

// Note remembers the customer and the token of a purchase.
func (s Purchases) Note(ctx context.Context, reference string, attempt int, customerID,
	token string) (bool, error) {
	return affected(s.db.write.ExecContext(ctx, `
		UPDATE purchases SET customer = $3, token = $4
		WHERE reference = $1 AND attempt = $2 AND delivered = 0 AND revoked = 0`, reference, attempt, customerID, token))
}

// Sole reports whether a customer has no other purchase that came as far as its token.
func (s Purchases) Sole(ctx context.Context, reference, customerID string) (bool, error) {
	var others int
	err := s.db.read.QueryRowContext(ctx, `
		SELECT COUNT(*) FROM purchases WHERE customer = $2 AND reference <> $1 AND token <> ''`, reference, customerID).Scan(&others)
	return others == 0, err
}

// Finish marks a purchase as delivered.
func (s Purchases) Finish(ctx context.Context, reference string, attempt int, now time.Time) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE purchases SET delivered = $3 WHERE reference = $1 AND attempt = $2 AND delivered = 0`,
		reference, attempt, micros(now))
	return err
}

// Abandon ends an attempt.
func (s Purchases) Abandon(ctx context.Context, reference string, attempt int) error {
	_, err := s.db.write.ExecContext(ctx, `
		UPDATE purchases SET lease = 0 WHERE reference = $1 AND attempt = $2`, reference, attempt)
	return err
}

// Revoke marks a purchase as never to be delivered. The first reason stays.
func (s Purchases) Revoke(ctx context.Context, reference, why string, now time.Time) error {
	_, err := s.db.write.ExecContext(ctx, `
		INSERT INTO purchases (reference, plan, email, name, slug, user_id, created,
			attempt, lease, customer, token, delivered, revoked, why)
		VALUES ($1, '', '', '', '', '', $2, 0, 0, '', '', 0, $2, $3)
		ON CONFLICT (reference) DO UPDATE SET revoked = excluded.revoked, why = excluded.why
		WHERE purchases.revoked = 0`, reference, micros(now), why)
	return err
}

// Park remembers a payment that cannot be delivered.
func (s Purchases) Park(ctx context.Context, p billing.Parked) (bool, error) {
	return affected(s.db.write.ExecContext(ctx, `
		INSERT INTO parked (reference, plan, email, user_id, cents, currency, why, since) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (reference) DO NOTHING`, p.Reference, p.Plan, p.Email, p.UserID, p.Cents, p.Currency, p.Why, micros(p.Since)))
}

// Parked returns at most limit of the payments that could not be delivered, the newest first.
func (s Purchases) Parked(ctx context.Context, limit int) ([]billing.Parked, error) {
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT reference, plan, email, user_id, cents, currency, why, since FROM parked ORDER BY since DESC, reference LIMIT $1`, limit)
	return collect(rows, err, func(p *billing.Parked) error {
		var since int64
		err := rows.Scan(&p.Reference, &p.Plan, &p.Email, &p.UserID, &p.Cents, &p.Currency,
			&p.Why, &since)
		p.Since = instant(since)
		return err
	})
}

// Unfinished returns purchases that are to be delivered yet.
func (s Purchases) Unfinished(ctx context.Context, now, since time.Time,
	limit int) ([]billing.Purchase, error) {
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT reference, plan, email, name, slug, user_id, cents, currency FROM purchases
		WHERE delivered = 0 AND revoked = 0 AND lease <= $1 AND created >= $2 AND reference NOT IN (SELECT reference FROM parked)
		ORDER BY created, reference LIMIT $3`, micros(now), micros(since), limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var purchases []billing.Purchase
	for rows.Next() {
		var p billing.Purchase
		if err := rows.Scan(&p.Reference, &p.Plan, &p.Email, &p.Name, &p.Slug, &p.UserID, &p.Cents,
			&p.Currency); err != nil {
			return nil, err
		}
		purchases = append(purchases, p)
	}
	return purchases, rows.Err()
}

// Revenue sums what was paid for purchases first heard of from a moment until just before another,
// by day and currency, the oldest day first. Operators' grants are no revenue.
func (s Purchases) Revenue(ctx context.Context, from, to time.Time) ([]billing.Revenue, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	rows, err := s.db.read.QueryContext(ctx, `
		SELECT created / `+dayMicros+`, currency, COUNT(*), CAST(SUM(cents) AS BIGINT),
			CAST(SUM(CASE revoked WHEN 0 THEN 0 ELSE cents END) AS BIGINT)
		FROM purchases WHERE created >= $1 AND created < $2 AND currency <> ''
		GROUP BY 1, 2 ORDER BY 1, 2`, micros(from), micros(to))
	return collect(rows, err, func(r *billing.Revenue) error {
		var number int64
		err := rows.Scan(&number, &r.Currency, &r.Purchases, &r.Cents, &r.Returned)
		r.Day = date(number)
		return err
	})
}

// Heard reports whether an event was remembered.
func (s Purchases) Heard(ctx context.Context, event string) (bool, error) {
	var n int
	err := s.db.read.QueryRowContext(ctx, `SELECT COUNT(*) FROM billing_events WHERE id = $1`,
		event).Scan(&n)
	return n > 0, err
}

// Hear remembers an event.
func (s Purchases) Hear(ctx context.Context, event string, now time.Time) error {
	_, err := s.db.write.ExecContext(ctx, `
		INSERT INTO billing_events (id, heard) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING`, event, micros(now))
	return err
}

// Forget removes old events.
func (s Purchases) Forget(ctx context.Context, before time.Time) (int64, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	res, err := s.db.write.ExecContext(ctx, `DELETE FROM billing_events WHERE heard < $1`,
		micros(before))
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}
