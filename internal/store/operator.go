package store

import (
	"context"
	"database/sql"

	"unink/internal/operator"
)

// Acts keeps what operators did. It implements [operator.Store].
type Acts struct {
	db *DB
}

var _ operator.Store = Acts{}

// NewActs makes the store of operators' acts in a database.
func NewActs(db *DB) Acts { return Acts{db: db} }

// Do implements [operator.Store].
func (a Acts) Do(ctx context.Context, act func(context.Context) (operator.Entry, error)) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		e, err := act(a.db.within(ctx, tx))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `
			INSERT INTO acts (id, at, actor, kind, target, object, credits, reason)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
			e.ID, micros(e.At), e.Actor, string(e.Kind), e.Target, e.Object, e.Credits, e.Reason)
		return err
	})
}

// Entries implements [operator.Store].
func (a Acts) Entries(ctx context.Context, before string, limit int) ([]operator.Entry, error) {
	return list(ctx, a.db, func(r row) (e operator.Entry, err error) {
		var at int64
		err = r.Scan(&e.ID, &at, &e.Actor, &e.Kind, &e.Target, &e.Object, &e.Credits, &e.Reason,
			&e.ActorName, &e.TargetName)
		e.At = instant(at)
		return e, err
	}, `SELECT acts.id, at, actor, acts.kind, target, object, credits, reason,
			COALESCE(actors.email, ''), COALESCE(users.email, customers.slug, '')
		FROM acts
			LEFT JOIN users AS actors ON actors.id = SUBSTR(actor, LENGTH('user:') + 1)
			LEFT JOIN users ON users.id = SUBSTR(target, LENGTH('user:') + 1)
			LEFT JOIN customers ON customers.id = SUBSTR(target, LENGTH('customer:') + 1)
		WHERE $1 = '' OR acts.id < $1 ORDER BY acts.id DESC LIMIT $2`, before, limit)
}
