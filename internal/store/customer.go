package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"unink/internal/account"
)

const customerColumns = `customers.id, customers.slug, customers.app_code, customers.email,
	customers.name, customers.created, customers.revoked`

// scanCustomer reads customerColumns, and what follows them into more.
func scanCustomer(r row, more ...any) (account.Customer, error) {
	var c account.Customer
	var created, revoked int64
	err := r.Scan(append([]any{&c.ID, &c.Slug, &c.AppCode, &c.Email, &c.Name, &created, &revoked},
		more...)...)
	c.Created, c.Revoked = instant(created), instant(revoked)
	return c, found(err)
}

// CreateCustomer implements [account.CustomerStore].
func (a *Accounts) CreateCustomer(ctx context.Context, c account.Customer, reference string,
	also func(context.Context, account.Customer) error) (who account.Customer, err error) {
	create := func(ctx context.Context, tx *sql.Tx) error {
		who, err = scanCustomer(tx.QueryRowContext(ctx, `SELECT `+customerColumns+`
			FROM customer_purchases JOIN customers ON customers.id = customer_id
			WHERE reference = $1`, reference))
		if !errors.Is(err, account.ErrNotFound) {
			return err
		}
		who, err = scanCustomer(tx.QueryRowContext(ctx, `
			INSERT INTO customers (id, slug, app_code, email, name, created)
			VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (email) WHERE revoked = 0 DO UPDATE SET email = excluded.email
			RETURNING `+customerColumns,
			c.ID, c.Slug, c.AppCode, c.Email, c.Name, micros(c.Created)))
		if err == nil && who.ID == c.ID && also != nil {
			err = also(a.db.within(ctx, tx), who)
		}
		if err != nil || reference == "" {
			return err
		}
		added, err := affected(tx.ExecContext(ctx, `
			INSERT INTO customer_purchases (reference, customer_id) VALUES ($1, $2)
			ON CONFLICT (reference) DO NOTHING`, reference, who.ID))
		if err == nil && !added {
			return errRaced
		}
		return err
	}
	if err = a.db.tx(ctx, create); errors.Is(err, errRaced) {
		err = a.db.tx(ctx, create)
	}
	if isDuplicate(err) {
		err = account.ErrExists
	}
	return who, err
}

// FindCustomer implements [account.CustomerStore].
func (a *Accounts) FindCustomer(ctx context.Context,
	idOrSlugOrAppCode string) (account.Customer, error) {
	return scanCustomer(a.db.read.QueryRowContext(
		ctx, `SELECT `+customerColumns+` FROM customers WHERE id = $1 OR slug = $1 OR app_code = $1`,
		idOrSlugOrAppCode,
	))
}

// Customers implements [account.CustomerStore].
func (a *Accounts) Customers(ctx context.Context, limit int,
	after string) ([]account.Customer, error) {
	return list(ctx, a.db, func(r row) (account.Customer, error) { return scanCustomer(r) },
		`SELECT `+customerColumns+` FROM customers WHERE id > $1 ORDER BY id LIMIT $2`, after, limit)
}

// SearchCustomers implements [account.CustomerStore].
func (a *Accounts) SearchCustomers(ctx context.Context, prefix, id string,
	limit int) ([]account.Customer, error) {
	return list(ctx, a.db, func(r row) (account.Customer, error) { return scanCustomer(r) },
		`SELECT `+customerColumns+` FROM customers
		WHERE `+beginsWith("email")+` OR `+beginsWith("slug")+` OR id = $2 OR app_code = $2
		ORDER BY email, created, id LIMIT $3`, prefix, id, limit)
}

// CustomerOf implements [account.CustomerStore].
func (a *Accounts) CustomerOf(ctx context.Context, email string) (account.Customer, error) {
	return scanCustomer(a.db.read.QueryRowContext(
		ctx, `SELECT `+customerColumns+` FROM customers WHERE email = $1 AND revoked = 0`, email,
	))
}

// RevokeCustomer implements [account.CustomerStore].
func (a *Accounts) RevokeCustomer(ctx context.Context, id string, now time.Time) error {
	return changed(
		a.exec(
			ctx, `UPDATE customers SET revoked = CASE WHEN revoked = 0 THEN $2 ELSE revoked END WHERE id = $1`, id, micros(now),
		),
	)
}

// AddToken implements [account.CustomerStore].
func (a *Accounts) AddToken(ctx context.Context, t account.Token, othersEnd time.Time) error {
	return a.db.tx(ctx, func(ctx context.Context, tx *sql.Tx) error {
		// The lock makes rotations of the same customer follow each other, and each end the last.
		if err := changed(
			tx.ExecContext(ctx, `UPDATE customers SET revoked = revoked WHERE id = $1 AND revoked = 0`,
				t.CustomerID),
		); err != nil {
			return err
		}
		if _, err := tx.ExecContext(
			ctx, `UPDATE customer_tokens SET ends = $2 WHERE customer_id = $1 AND (ends = 0 OR ends > $2)`,
			t.CustomerID, micros(othersEnd)); err != nil {
			return err
		}
		_, err := tx.ExecContext(
			ctx, `INSERT INTO customer_tokens (id, hash, customer_id, created, ends) VALUES ($1, $2, $3, $4, $5)`,
			t.ID, t.Hash, t.CustomerID, micros(t.Created), micros(t.Ends))
		return err
	})
}

// Tokens implements [account.CustomerStore].
func (a *Accounts) Tokens(ctx context.Context, customerID string, now time.Time,
	limit int) ([]account.Token, error) {
	return list(ctx, a.db, func(r row) (account.Token, error) {
		t := account.Token{CustomerID: customerID}
		var created, ends int64
		err := r.Scan(&t.ID, &t.Hash, &created, &ends)
		t.Created, t.Ends = instant(created), instant(ends)
		return t, err
	}, `SELECT id, hash, created, ends FROM customer_tokens WHERE customer_id = $1 AND (ends = 0 OR ends > $2)
		ORDER BY created DESC, id DESC LIMIT $3`, customerID, micros(now), limit)
}

// FindToken implements [account.CustomerStore].
func (a *Accounts) FindToken(ctx context.Context,
	hash string) (t account.Token, c account.Customer, err error) {
	var created, ends int64
	c, err = scanCustomer(a.db.read.QueryRowContext(ctx, `SELECT `+customerColumns+`, t.id, t.hash, t.created, t.ends FROM customer_tokens t
		JOIN customers ON customers.id = t.customer_id WHERE t.hash = $1`, hash), &t.ID, &t.Hash, &created, &ends)
	t.CustomerID, t.Created, t.Ends = c.ID, instant(created), instant(ends)
	return t, c, err
}

// RevokeToken implements [account.CustomerStore].
func (a *Accounts) RevokeToken(ctx context.Context, id string, now time.Time) error {
	return changed(
		a.exec(
			ctx, `UPDATE customer_tokens SET ends = CASE WHEN ends = 0 OR ends > $2 THEN $2 ELSE ends END WHERE id = $1`, id, micros(now),
		),
	)
}

// PruneTokens implements [account.CustomerStore].
func (a *Accounts) PruneTokens(ctx context.Context, before time.Time, limit int) (int, error) {
	ctx, cancel := atLength(ctx)
	defer cancel()
	res, err := a.exec(ctx, `DELETE FROM customer_tokens WHERE id IN (
		SELECT id FROM customer_tokens WHERE ends > 0 AND ends <= $1 ORDER BY ends, id LIMIT $2)`, micros(before), limit)
	if err != nil {
		return 0, err
	}
	n, err := res.RowsAffected()
	return int(n), err
}
