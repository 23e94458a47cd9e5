package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// UnavailableError says that the database did not answer in time, cannot be reached or has no room.
// A transaction that was about to be committed may have been.
type UnavailableError struct {
	cause error
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the database is away: %v", e.cause)
}

func (e *UnavailableError) Unwrap() error { return e.cause }

// Unavailable tells this error from others without naming its type.
func (e *UnavailableError) Unavailable() bool { return true }

// patience is how long a statement or a transaction may take whose caller has no deadline of its
// own: somebody waits for it.
const patience = 5 * time.Second

// housekeeping is the same for what goes through whole tables, and nobody waits for.
const housekeeping = 5 * time.Minute

func atLength(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, housekeeping)
}

// pool is connections to a database whose every use ends, and whose errors are [*UnavailableError]
// where it was not the statement's fault.
type pool struct{ *sql.DB }

// bounded gives a use of the database its deadline. finish ends it, and judges its error.
func bounded(ctx context.Context) (_ context.Context, finish func(error) error) {
	if _, has := ctx.Deadline(); has {
		return ctx, func(err error) error { return judge(ctx, err) }
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	return limited, func(err error) error {
		cancel()
		return judge(ctx, err)
	}
}

// judge tells errors of the database's absence from others. The context is the caller's: when that
// has ended, so it says.
func judge(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || !away(err) {
		return err
	}
	return &UnavailableError{err}
}

func away(err error) bool {
	var pg *pgconn.PgError
	var lite *sqlite.Error
	var connect *pgconn.ConnectError
	var network net.Error
	switch {
	case errors.As(err, &pg):
		switch pg.Code[:min(2, len(pg.Code))] {
		// connection, resources, intervention (but for a cancelled query, an end of ours), system
		case "08", "53", "57", "58":
			return true
		}
		return false
	case errors.As(err, &lite):
		switch lite.Code() & 0xff {
		case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
			sqlite3.SQLITE_READONLY, sqlite3.SQLITE_INTERRUPT:
			return true
		}
		return false
	case errors.As(err, &connect), errors.As(err, &network):
		return true
	}
	for _, gone := range []error{context.DeadlineExceeded, pgconn.ErrConnClosed, io.EOF,
		io.ErrUnexpectedEOF, driver.ErrBadConn, sql.ErrConnDone} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// ExecContext runs a statement.
func (p pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx, finish := bounded(ctx)
	res, err := p.DB.ExecContext(ctx, query, args...)
	return res, finish(err)
}

// one is the row that a query finds.
type one struct {
	*sql.Row
	finish func(error) error
}

// QueryRowContext asks for one row, whose Scan has to follow.
func (p pool) QueryRowContext(ctx context.Context, query string, args ...any) one {
	ctx, finish := bounded(ctx)
	return one{p.DB.QueryRowContext(ctx, query, args...), finish}
}

// Scan reads the row.
func (o one) Scan(into ...any) error { return o.finish(o.Row.Scan(into...)) }

// rows is what a query of many finds, open or read.
type rows interface {
	row
	Next() bool
	Err() error
	Close() error
}

// many is rows of a pool.
type many struct {
	*sql.Rows
	finish func(error) error
}

// QueryContext asks for rows, whose Close has to follow unless there is an error.
func (p pool) QueryContext(ctx context.Context, query string, args ...any) (rows, error) {
	ctx, finish := bounded(ctx)
	found, err := p.DB.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, finish(err)
	}
	return many{found, finish}, nil
}

// Err tells why there are no more rows.
func (m many) Err() error { return m.finish(m.Rows.Err()) }

// Close ends the query.
func (m many) Close() error { return m.finish(m.Rows.Close()) }
